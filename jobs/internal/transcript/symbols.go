package transcript

import (
	"strings"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// symbols interns the identifiers of one file. Names live in blocks, not in one
// allocation each: a gigabyte of session has a million of them.
type symbols struct {
	ids   map[string]Sym
	names []string
	block strings.Builder
}

const symbolBlock = 64 << 10

func newSymbols() symbols {
	return symbols{ids: make(map[string]Sym), names: []string{""}}
}

// intern returns the symbol of a scanned string's content, 0 for the empty one.
func (t *symbols) intern(content []byte, escaped bool) Sym {
	if escaped {
		content = []byte(jsonspan.Unquote(content))
	}
	if len(content) == 0 {
		return 0
	}
	if id, ok := t.ids[string(content)]; ok {
		return id
	}
	name := t.store(content)
	id := Sym(len(t.names))
	t.ids[name] = id
	t.names = append(t.names, name)
	return id
}

func (t *symbols) store(content []byte) string {
	if len(content) > symbolBlock/16 {
		return string(content)
	}
	if t.block.Cap()-t.block.Len() < len(content) {
		t.block = strings.Builder{}
		t.block.Grow(symbolBlock)
	}
	start := t.block.Len()
	t.block.Write(content)
	return t.block.String()[start:]
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
