package summary

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is the smallest piece that is quoted whole: a sentence, a list item, a
// heading, a row of a table, or a code block by its size.
type unit struct {
	kind  blockKind
	text  string
	mark  string
	depth int
	block int  // place of its block in the text
	first bool // first of its block
	last  bool // of the last block
}

// longest bounds a unit in code points; a longer one is left out whole unless
// nothing else can stand for its text.
const longest = 480

// wholeBlock is up to how many code points a block is one unit; larger ones
// are split into sentences.
const wholeBlock = 280

// units splits a text for quotation: into blocks, and long ones into
// sentences. Units of one block follow each other.
func units(text string) []unit { return split(text, wholeBlock) }

// statements splits a text into sentences, whatever the size of its blocks.
func statements(text string) []unit { return split(text, 0) }

func split(text string, whole int) []unit {
	bs := blocks(text)
	out := make([]unit, 0, 2*len(bs))
	for i, k := range bs {
		for j, p := range k.parts(whole) {
			if p != "" {
				out = append(out, unit{
					kind: k.kind, text: p, mark: k.mark, depth: k.depth,
					block: i, first: j == 0, last: i == len(bs)-1,
				})
			}
		}
	}
	return out
}

// lastStatements returns at least the last n statements of a text, if it has
// so many.
func lastStatements(text string, n int) []string {
	var out []string
	bs := blocks(text)
	for i := len(bs) - 1; i >= 0 && len(out) < n; i-- {
		out = append(slices.DeleteFunc(bs[i].parts(0), func(s string) bool { return s == "" }), out...)
	}
	return out
}

// parts splits a block into sentences if it is prose longer than whole.
func (k block) parts(whole int) []string {
	prose := k.kind == paragraph || k.kind == listItem
	if prose && whole == 0 {
		return sentences(k.text)
	}
	body := k.body()
	if prose && runes(body) > whole {
		return sentences(k.text)
	}
	return []string{body}
}

// asks reports a question.
func (u unit) asks() bool {
	t := strings.TrimRight(u.text, closers+" ")
	if t != "" && t[len(t)-1] < utf8.RuneSelf {
		return t[len(t)-1] == '?'
	}
	return strings.HasSuffix(t, "？") || strings.HasSuffix(t, "؟") || strings.HasSuffix(t, "՞")
}

// emphatic reports a unit that begins in bold, as leads of list items do.
func (u unit) emphatic() bool {
	return strings.HasPrefix(u.text, "**") || strings.HasPrefix(u.text, "__")
}

// exact reports a text with a code span, a path or a number: what is hard to
// recall.
func exact(text string) bool {
	for _, r := range text {
		if r == '`' || '0' <= r && r <= '9' || r >= utf8.RuneSelf && unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

// machine reports a line that looks like output of a program rather than
// prose: mostly symbols and digits, or no two words in a row.
func (u unit) machine() bool {
	letters, others, spaces := 0, 0, 0
	for _, r := range u.text {
		switch {
		case r < utf8.RuneSelf && traits[r]&letter != 0:
			letters++
		case r < utf8.RuneSelf && traits[r]&space != 0:
			spaces++
		case r < utf8.RuneSelf:
			others++
		case unicode.IsLetter(r), unicode.IsMark(r):
			letters++
		case unicode.IsSpace(r):
			spaces++
		default:
			others++
		}
	}
	return 3*others > letters || spaces == 0 && letters > 24 && !strings.ContainsFunc(u.text, func(r rune) bool { return wide(r) || southeast(r) })
}

// leadIn reports a sentence that only announces what follows it.
func (u unit) leadIn() bool {
	t := strings.TrimRight(u.text, "*_` ")
	return strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：")
}
