package spec

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/spec/secret"
)

// document is a job on its way through the checks: its values, where each of
// them stands, and what is wrong so far.
type document struct {
	file    string
	text    *text
	root    map[string]any // nil when there is nothing to check
	spots   spots
	secrets []*spot // values that must not be shown
	found   []found
}

// found is a problem without its source line: which parts of that can be shown
// is known only at the end.
type found struct {
	Problem
	at mark
}

func newDocument(file string, data []byte) *document {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return &document{file: file, text: newText(data), spots: spots{}}
}

// mark is a place: in the file, or (without line and column) in an assignment.
type mark struct {
	line, col int
	set       *assignment
}

// spot is where a value stands, and what the reader knows about it.
type spot struct {
	key mark // zero for the root and for list items
	val mark
	end mark // where the next value or key begins; zero for the last one
	// odd is why an unquoted scalar was not taken for a value; see [plain].
	odd oddity
	raw string
	// bad is set when a problem was reported: checks of the value after that
	// would only repeat it.
	bad bool
}

// spots finds the place of a value by its JSON pointer (RFC 6901).
type spots map[string]*spot

// nearest is the place of the value, or of the key of its nearest parent.
func (s spots) nearest(ptr string) mark {
	if at, ok := s[ptr]; ok {
		return at.val
	}
	for ptr != "" {
		ptr = ptr[:strings.LastIndexByte(ptr, '/')]
		if at, ok := s[ptr]; ok && at.key != (mark{}) {
			return at.key
		}
	}
	if root, ok := s[""]; ok {
		return root.val
	}
	return mark{}
}

// bad tells whether a problem was reported for the value or one around it.
func (s spots) bad(ptr string) bool {
	for {
		if at, ok := s[ptr]; ok && at.bad {
			return true
		}
		if ptr == "" {
			return false
		}
		ptr = ptr[:strings.LastIndexByte(ptr, '/')]
	}
}

// drop forgets a value and everything in it.
func (s spots) drop(ptr string) {
	for p := range s {
		if p == ptr || strings.HasPrefix(p, ptr+"/") {
			delete(s, p)
		}
	}
}

// report adds a problem about a value, unless there is one already.
func (d *document) report(ptr, code, what, hint string) {
	if d.spots.bad(ptr) {
		return
	}
	if at, ok := d.spots[ptr]; ok {
		at.bad = true
	}
	d.reportAt(d.spots.nearest(ptr), ptr, code, what, hint)
}

// reportKey adds a problem about a key, unless there is one already about a
// value around it. What is wrong with the key's own value is another matter.
func (d *document) reportKey(ptr, code, what, hint string) {
	if !d.spots.bad(ptr[:strings.LastIndexByte(ptr, '/')]) {
		d.reportAt(d.spots[ptr].key, ptr, code, what, hint)
	}
}

func (d *document) reportAt(m mark, ptr, code, what, hint string) {
	p := Problem{File: d.file, Line: m.line, Col: m.col, Path: path(ptr), Code: code, What: what, Hint: hint}
	if m.set != nil {
		p.File = "--set"
	}
	d.found = append(d.found, found{p, m})
}

// reportSecret adds a problem about a value that must not be shown.
func (d *document) reportSecret(at *spot, ptr, code, what, hint string) {
	at.bad = true
	d.secrets = append(d.secrets, at)
	d.reportAt(at.val, ptr, code, what, hint)
}

// hideSecrets hides the values that must not be shown, with all that stands
// between them and the next value.
func (d *document) hideSecrets() {
	for _, at := range d.secrets {
		if at.val.set != nil {
			at.val.set.secret = true
			continue
		}
		d.text.hide(d.text.offset(at.val.line, at.val.col), d.text.offset(at.end.line, at.end.col))
	}
}

const secretHint = "name an environment variable that holds it, such as keyEnv: ANTHROPIC_API_KEY"

// problems completes what was found by the source lines.
func (d *document) problems() Problems {
	d.hideSecrets()
	var ps Problems
	for _, f := range d.found {
		p := f.Problem
		p.Path, p.What, p.Hint = starred(p.Path), starred(p.What), starred(p.Hint)
		switch {
		case f.at.set != nil:
			p.Source = f.at.set.shown()
		case p.Line > 0:
			p.Source = d.text.shown(p.Line)
		}
		ps = append(ps, p)
	}
	return ps.sorted()
}

// starred is s with what looks like a credential starred out.
func starred(s string) string {
	b := []byte(s)
	for _, m := range secret.Find(b) {
		copy(b[m.Start:m.End], bytes.Repeat([]byte("*"), m.End-m.Start))
	}
	return string(b)
}

// member is the pointer to a member of the value at ptr.
func member(ptr, key string) string {
	return ptr + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// item is the pointer to an item of the list at ptr.
func item(ptr string, i int) string { return ptr + "/" + strconv.Itoa(i) }

// path writes a pointer as people do: input.sessions[1].
func path(ptr string) string {
	var b strings.Builder
	for i, seg := range segments(ptr) {
		if _, err := strconv.Atoi(seg); err == nil {
			b.WriteString("[" + seg + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(seg)
	}
	return b.String()
}

// pointer is the inverse of path.
func pointer(path string) string {
	ptr := ""
	for seg := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		ptr = member(ptr, seg)
	}
	return ptr
}

func segments(ptr string) []string {
	if ptr == "" {
		return nil
	}
	segs := strings.Split(ptr[1:], "/")
	for i, s := range segs {
		segs[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return segs
}
