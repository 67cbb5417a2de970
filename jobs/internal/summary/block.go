package summary

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type blockKind uint8

const (
	paragraph blockKind = iota
	listItem
	heading
	code
	row // of a table
)

// block is a piece of Markdown that is quoted or left out on its own terms.
type block struct {
	kind  blockKind
	text  string // without its marker
	mark  string // "- ", "2. ", "## ": what stood before the text
	depth int    // of a list item: columns of indent
}

// blocks splits a text the way a reader sees it. Lines of a paragraph stay
// separated by newlines; whether one ends a sentence is decided later.
func blocks(text string) []block {
	r := blockReader{}
	for line := range strings.SplitSeq(text, "\n") {
		r.line(trimEnd(line))
	}
	r.flush()
	return r.out
}

type blockReader struct {
	out   []block
	cur   block    // but for its text
	lines []string // text of cur
	open  bool     // cur takes more lines
	fence string   // what closes the code block cur
}

func (r *blockReader) line(line string) {
	trimmed := trimStart(line)
	indent := runes(line[:len(line)-len(trimmed)])
	switch {
	case r.fence != "":
		r.codeLine(line, trimmed)
	case trimmed != "" && traits[trimmed[0]]&letter != 0:
		r.prose(trimmed, indent) // nothing else begins with a letter
	default:
		r.marked(trimmed, indent)
	}
}

// marked takes in a line that may be more than prose.
func (r *blockReader) marked(trimmed string, indent int) {
	if f := fenceOf(trimmed); f != "" {
		r.flush()
		r.fence = f
		r.begin(block{kind: code})
		return
	}
	mark, kind := marker(trimmed)
	switch {
	case trimmed == "" || isRule(trimmed):
		r.flush()
	case kind == paragraph:
		r.prose(trimmed, indent)
	default:
		r.flush()
		r.begin(block{kind: kind, mark: mark, depth: indent}, strings.TrimSpace(trimmed[len(mark):]))
		if kind == heading || kind == row {
			r.flush()
		}
	}
}

// prose starts a paragraph or continues what is open. A line at the margin
// after an indented or listed one continues the item only if it reads on.
func (r *blockReader) prose(trimmed string, indent int) {
	if r.open && (r.cur.kind == paragraph || indent > r.cur.depth || readsOn(trimmed)) {
		r.lines = append(r.lines, trimmed)
		return
	}
	r.flush()
	r.begin(block{}, trimmed)
}

func (r *blockReader) begin(b block, lines ...string) {
	r.cur, r.open = b, true
	r.lines = append(r.lines[:0], lines...)
}

func (r *blockReader) codeLine(line, trimmed string) {
	if strings.HasPrefix(trimmed, r.fence) && strings.Trim(trimmed, r.fence[:1]) == "" {
		r.fence = ""
		r.flush()
		return
	}
	if len(r.lines) > 0 || line != "" {
		r.lines = append(r.lines, line)
	}
}

func (r *blockReader) flush() {
	if !r.open {
		return
	}
	if r.cur.text = strings.Join(r.lines, "\n"); r.cur.text != "" {
		if r.cur.kind == paragraph && bold(r.cur.text) {
			r.cur.kind = heading
		}
		r.out = append(r.out, r.cur)
	}
	r.open = false
}

// trimStart and trimEnd cut the white space that stands around lines.
func trimStart(line string) string { return strings.TrimLeft(line, " \t\u00a0") }
func trimEnd(line string) string   { return strings.TrimRight(line, " \t\r\u00a0") }

func fenceOf(s string) string {
	for _, f := range []string{"```", "~~~"} {
		if strings.HasPrefix(s, f) && !strings.Contains(s[len(f):], f) {
			return f
		}
	}
	return ""
}

// marker returns what makes a line a heading, a list item or a table row.
func marker(s string) (string, blockKind) {
	if s == "" {
		return "", paragraph
	}
	if n := len(s) - len(strings.TrimLeft(s, "#")); n > 0 && n <= 6 && len(s) > n && s[n] == ' ' {
		return s[:n+1], heading
	}
	if s[0] == '|' {
		return "", row
	}
	for _, m := range []string{"- ", "* ", "+ ", "• ", "– ", "・"} {
		if strings.HasPrefix(s, m) {
			return m, listItem
		}
	}
	digits := 0
	for digits < len(s) && digits < 3 && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits > 0 && len(s) > digits+1 && (s[digits] == '.' || s[digits] == ')') && s[digits+1] == ' ' {
		return s[:digits+2], listItem
	}
	return "", paragraph
}

// bold reports a line that is bold from end to end, which is how models write
// headings inside of answers.
func bold(s string) bool {
	if s[0] != '*' {
		return false
	}
	s = strings.TrimRight(s, ":")
	return len(s) > 4 && strings.HasPrefix(s, "**") && strings.HasSuffix(s, "**") &&
		!strings.ContainsAny(s, "\n") && !strings.Contains(s[2:len(s)-2], "**")
}

// isRule reports a line of nothing but rule characters, or the line between
// the head and the body of a table.
func isRule(s string) bool {
	return len(s) >= 3 && strings.Trim(s, "-=_*─━═╌ \t") == "" ||
		s[0] == '|' && strings.Trim(s, "|-: \t") == ""
}

// readsOn reports that a line begins in the middle of a sentence.
func readsOn(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(r)
}

// body returns the text of a block in one line, code as its size.
func (k block) body() string {
	switch k.kind {
	case code:
		lines := strings.Count(k.text, "\n") + 1
		if lines <= 3 && runes(k.text) <= 160 {
			return ticked(flat(k.text))
		}
		return "[code, " + strconv.Itoa(lines) + " lines]"
	case row:
		cells := strings.Split(strings.Trim(k.text, "| "), "|")
		for i := range cells {
			cells[i] = flat(cells[i])
		}
		return strings.Join(cells, " | ")
	}
	return flat(k.text)
}

// flat joins the words of a text with single spaces. A text that is flat
// already is returned as it is, so the answer may share its memory.
func flat(s string) string {
	if s = strings.TrimSpace(s); isFlat(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for word := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// isFlat reports that all white space of a trimmed text is single spaces.
func isFlat(s string) bool {
	for i, r := range s {
		switch {
		case r > ' ' && r < utf8.RuneSelf:
		case r >= utf8.RuneSelf && unicode.IsSpace(r), r < ' ', r == ' ' && s[i-1] == ' ':
			return false
		}
	}
	return true
}
