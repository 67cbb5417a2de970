package transcript

import (
	"hash/maphash"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// symbols interns the identifiers of one file, numbered in the order in which
// they appear. A gigabyte of session has a million of them, so the texts lie in
// blocks and the hash table holds numbers only: a third of what a map of strings
// takes.
type symbols struct {
	seed   maphash.Seed
	table  []Sym // open addressing; 0 is free
	names  []name
	blocks [][]byte
}

// name places a symbol's text.
type name struct{ block, off, len uint32 }

const symbolBlock = 256 << 10

// boundarySubtype is interned first, so that asking for it costs a comparison.
const boundarySubtype Sym = 1

func newSymbols() symbols {
	t := symbols{seed: maphash.MakeSeed(), table: make([]Sym, 1<<10), names: make([]name, 1)}
	t.intern([]byte("compact_boundary"), false)
	return t
}

// text returns a symbol's bytes.
func (t *symbols) text(s Sym) []byte {
	if s == 0 {
		return nil
	}
	n := t.names[s]
	return t.blocks[n.block][n.off : n.off+n.len]
}

// intern returns the symbol of a scanned string's content, 0 for the empty one.
func (t *symbols) intern(content []byte, escaped bool) Sym {
	if escaped {
		content = []byte(jsonspan.Unquote(content))
	}
	if len(content) == 0 {
		return 0
	}
	slot := t.slot(content)
	if *slot == 0 {
		if len(t.names) > len(t.table)/4*3 {
			t.grow()
			slot = t.slot(content)
		}
		*slot = t.add(content)
	}
	return *slot
}

// lookup returns the symbol of a text that was interned, 0 for all others.
func (t *symbols) lookup(content []byte) Sym { return *t.slot(content) }

// slot is where the text's symbol stands or belongs.
func (t *symbols) slot(content []byte) *Sym {
	mask := uint64(len(t.table) - 1)
	for i := maphash.Bytes(t.seed, content) & mask; ; i = (i + 1) & mask {
		if s := t.table[i]; s == 0 || string(t.text(s)) == string(content) {
			return &t.table[i]
		}
	}
}

func (t *symbols) add(content []byte) Sym {
	last := len(t.blocks) - 1
	if last < 0 || cap(t.blocks[last])-len(t.blocks[last]) < len(content) {
		t.blocks = append(t.blocks, make([]byte, 0, max(symbolBlock, len(content))))
		last++
	}
	off := len(t.blocks[last])
	t.blocks[last] = append(t.blocks[last], content...)
	t.names = append(t.names, name{uint32(last), uint32(off), uint32(len(content))})
	return Sym(len(t.names) - 1)
}

func (t *symbols) grow() {
	t.table = make([]Sym, 2*len(t.table))
	for s := range t.names[1:] {
		*t.slot(t.text(Sym(s + 1))) = Sym(s + 1)
	}
}

// cached interns through the last value seen, for fields that repeat from one
// record to the next.
type cached struct {
	text []byte
	sym  Sym
}

func (c *cached) intern(t *symbols, content []byte, escaped bool) Sym {
	if !escaped && string(c.text) == string(content) {
		return c.sym
	}
	c.sym = t.intern(content, escaped)
	if !escaped {
		c.text = append(c.text[:0], content...)
	}
	return c.sym
}
