package spec

import (
	"bytes"
	"strings"
)

// syntax reports what the YAML parser could not read.
func (d *document) syntax(err error) {
	what := message(err)
	code := "syntax"
	if strings.HasPrefix(what, "unknown anchor") {
		code = "anchor-or-alias"
	}
	m := mark{line: d.faultyLine()}
	hint := syntaxHint(what)
	if m.line > 0 {
		lead := d.text.line(m.line)
		lead = lead[:len(lead)-len(bytes.TrimLeft(lead, " \t"))]
		if tab := bytes.IndexByte(lead, '\t'); tab >= 0 {
			m.col, hint = tab+1, "indent with spaces, not with tabs"
		}
	}
	d.reportAt(m, "", code, "is not YAML: "+what, hint)
}

// message is the parser's message without its line, which is that of another
// place as often as not.
func message(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(s, "line "); ok {
		if _, after, ok := strings.Cut(rest, ": "); ok {
			return after
		}
	}
	return s
}

// faultyLine is the line that makes the text unreadable: with it no beginning of
// the text can be read, without it one can. It is 0 when finding it would take
// too long.
func (d *document) faultyLine() int {
	budget := 2 * maxBytes
	for n := len(d.text.starts); n > 1; n-- {
		head := d.text.data[:d.text.starts[n-1]]
		if budget -= len(head); budget < 0 {
			return 0
		}
		if _, _, err := documents(head); err == nil {
			return n
		}
	}
	return 1
}

func syntaxHint(what string) string {
	for _, h := range []struct{ part, hint string }{
		{"mapping values are not allowed", "check the indentation, and quote text that holds a colon and a space"},
		{"could not find expected ':'", "a field name is followed by a colon and a space"},
		{"did not find expected key", "check the indentation: fields of one mapping stand below each other"},
		{"'-' indicator", "check the indentation: items of one list stand below each other"},
		{"',' or", "a bracket is not closed, or a comma is missing"},
		{"end of stream", "a quotation mark is not closed"},
		{"cannot start any token", "put the value in quotes"},
		{"unknown escape character", `use single quotes, or write \\ for a backslash`},
		{"unknown anchor", "write the value out where it is meant"},
		{"max depth", "no field of a job lies that deep"},
	} {
		if strings.Contains(what, h.part) {
			return h.hint
		}
	}
	return "check the quotes, brackets and indentation around here"
}
