package modelsummary

import (
	"slices"
	"strings"
	"unicode"
)

// kind is what a line is to the checks.
type kind uint8

const (
	prose     kind = iota // any line of the body that none of the others is
	blank                 // nothing, or nothing to be checked
	metadata              // of the leading comment
	heading               // required or not
	underline             // of a heading in two lines
	fence                 // begins or ends code
	code                  // within a fence
	comment               // has an HTML comment, or is within one
	coverage              // of the coverage subsection, or looks like it
)

// line is one line of the summary.
type line struct {
	raw     string // as written, without its end
	text    string // raw without white space at its end
	kind    kind
	section int  // position in Sections; -1 before the first
	block   bool // within the coverage subsection
	cites   bool // a valid citation
	wrong   bool // reported for another reason than that it cites nothing
}

// split cuts a text at its line ends.
func split(text string) []line {
	lines := make([]line, 0, 1+strings.Count(text, "\n"))
	for {
		i := strings.IndexAny(text, "\r\n")
		if i < 0 {
			return append(lines, newLine(text))
		}
		lines = append(lines, newLine(text[:i]))
		if strings.HasPrefix(text[i:], "\r\n") {
			i++
		}
		text = text[i+1:]
	}
}

func newLine(raw string) line {
	l := line{raw: raw, text: strings.TrimRight(raw, " \t"), section: -1}
	if isBlank(l.text) {
		l.kind = blank
	}
	return l
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// substantive reports whether a text says anything: a letter or a digit does.
func substantive(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// bare strips what puts a line inside a list or a quotation.
func bare(s string) string {
	for {
		s = strings.TrimLeft(s, " \t")
		rest := s
		if n := listMarker(s); n > 0 {
			rest = s[n:]
		} else if strings.HasPrefix(s, ">") {
			rest = s[1:]
		}
		if len(rest) == len(s) {
			return s
		}
		s = rest
	}
}

// listMarker is the length of the list marker that s begins with, 0 without one.
func listMarker(s string) int {
	n := 0
	if s != "" && strings.IndexByte("-*+", s[0]) >= 0 {
		n = 1
	} else {
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	}
	if n < len(s) && (s[n] == ' ' || s[n] == '\t') {
		return n + 1
	}
	return 0
}

// headingLevel is the number of # of a heading in one line, 0 for other lines. A
// heading may stand in a list or be indented there; "#1" begins none.
func headingLevel(s string) int {
	s = bare(s)
	rest := strings.TrimLeft(s, "#")
	n := len(s) - len(rest)
	if n > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0
	}
	return n
}

// fenceMark is the run of backticks or tildes that opens or closes fenced code, and
// what follows it.
func fenceMark(s string) (mark, info string) {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return "", ""
	}
	info = strings.TrimLeft(s, s[:1])
	if mark = s[:len(s)-len(info)]; len(mark) < 3 || s[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	return mark, strings.TrimSpace(info)
}

// isFence reports whether a line is a fence and no more: a language's name may stand
// behind it, further words are text.
func isFence(s string) bool {
	mark, info := fenceMark(bare(s))
	return mark != "" && !strings.ContainsAny(info, " \t")
}

// spans are the places of a line's code spans, their backticks included.
func spans(s string) [][2]int {
	var out [][2]int
	for i := 0; ; {
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			return out
		}
		i += j
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		end := -1
		if i == 0 || s[i-1] != '\\' {
			end = closing(s, i+n, n)
		}
		if end < 0 {
			i += n
			continue
		}
		out = append(out, [2]int{i, end})
		i = end
	}
}

// closing is the end of the next run of exactly n backticks, -1 without one.
func closing(s string, from, n int) int {
	for {
		j := strings.IndexByte(s[from:], '`')
		if j < 0 {
			return -1
		}
		from += j
		run := len(s[from:]) - len(strings.TrimLeft(s[from:], "`"))
		from += run
		if run == n {
			return from
		}
	}
}

func within(spans [][2]int, at int) bool {
	_, found := slices.BinarySearchFunc(spans, at, func(s [2]int, at int) int {
		switch {
		case s[1] <= at:
			return -1
		case s[0] > at:
			return 1
		}
		return 0
	})
	return found
}

// quote is the beginning of a line, for its author to find it.
func quote(s string) string {
	const limit = 60
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\ufffd")
	n := 0
	for i := range s {
		if n++; n > limit {
			return s[:i] + "…"
		}
	}
	return s
}
