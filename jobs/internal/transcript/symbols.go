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
	table  []slot // open addressing
	names  []name
	blocks [][]byte
}

// slot holds a symbol with half of its text's hash, so that looking for a text
// that is new touches no other text. Symbol 0 is a free slot.
type slot struct {
	hash uint32
	sym  Sym
}

// name places a symbol's text.
type name struct{ block, off, len uint32 }

// Blocks grow with the file: most sessions are small.
const firstBlock, lastBlock = 4 << 10, 256 << 10

// Texts that are interned first, so that asking for them costs a comparison.
const (
	boundarySubtype Sym = 1 + iota
	syntheticModel
)

func newSymbols() symbols {
	t := symbols{seed: maphash.MakeSeed(), table: make([]slot, 1<<10), names: make([]name, 1)}
	t.intern([]byte("compact_boundary"), false)
	t.intern([]byte("<synthetic>"), false)
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
	h := maphash.Bytes(t.seed, content)
	at := t.find(h, content)
	if at.sym == 0 {
		if len(t.names) > len(t.table)/4*3 {
			t.grow()
			at = t.find(h, content)
		}
		*at = slot{uint32(h >> 32), t.add(content)}
	}
	return at.sym
}

// lookup returns the symbol of a text that was interned, 0 for all others.
func (t *symbols) lookup(content []byte) Sym {
	return t.find(maphash.Bytes(t.seed, content), content).sym
}

// find is where the text's symbol stands or belongs.
func (t *symbols) find(h uint64, content []byte) *slot {
	mask := uint64(len(t.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		at := &t.table[i]
		if at.sym == 0 || at.hash == uint32(h>>32) && string(t.text(at.sym)) == string(content) {
			return at
		}
	}
}

func (t *symbols) add(content []byte) Sym {
	last := len(t.blocks) - 1
	if last < 0 || cap(t.blocks[last])-len(t.blocks[last]) < len(content) {
		size := firstBlock
		if last >= 0 {
			size = min(2*cap(t.blocks[last]), lastBlock)
		}
		t.blocks = append(t.blocks, make([]byte, 0, max(size, len(content))))
		last++
	}
	if len(t.names) == cap(t.names) {
		t.names = withRoom(t.names, len(t.names))
	}
	off := len(t.blocks[last])
	t.blocks[last] = append(t.blocks[last], content...)
	t.names = append(t.names, name{uint32(last), uint32(off), uint32(len(content))})
	return Sym(len(t.names) - 1)
}

func (t *symbols) grow() {
	t.table = make([]slot, 2*len(t.table))
	for s := range t.names[1:] {
		text := t.text(Sym(s + 1))
		h := maphash.Bytes(t.seed, text)
		*t.find(h, text) = slot{uint32(h >> 32), Sym(s + 1)}
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
