package modelsummary

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// opened is a code fence that is not closed yet; none has no mark.
type opened struct {
	at   int
	mark string
	in   bool // in a quotation, with which it ends
}

// body tells the lines of the body apart: code, comments, headings, the rest.
func (c *checker) body() {
	var open opened
	block := false // in the coverage subsection, where nothing is code
	for i := range c.lines {
		l := &c.lines[i]
		if l.kind == metadata || l.kind == comment {
			continue
		}
		place, isRequired := required[l.text]
		if open.mark != "" && c.inCode(&open, i, isRequired) {
			continue
		}
		if block = block && headingLevel(l.text) == 0 || isRequired && place == coverageHead; block && !isRequired {
			continue
		}
		if mark := c.line(i); mark != "" {
			open = opened{i, mark, quoted(l.text)}
		}
	}
	if open.mark != "" && !open.in {
		c.add(FenceOpen, open.at, "this code fence is not closed", "close it with a line of the same signs")
	}
}

// inCode reports whether a line belongs to an open fence, which a required heading
// ends in any case.
func (c *checker) inCode(open *opened, i int, isRequired bool) bool {
	l := &c.lines[i]
	if open.in && !quoted(l.text) {
		open.mark = ""
		return false
	}
	if isRequired {
		c.add(FenceOpen, open.at, "this code fence is still open at a required heading", "close it before the section's end")
		open.mark = ""
		return false
	}
	if l.kind = code; closes(l.text, open.mark) {
		l.kind, open.mark = fence, ""
	}
	return true
}

func quoted(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " \t"), ">") }

// line settles one line outside of code. It returns the mark of a fence that opens.
func (c *checker) line(i int) string {
	l := &c.lines[i]
	mark, _ := fenceMark(bare(l.text))
	switch {
	case l.kind == blank:
	case mark != "":
		if isFence(l.text) {
			l.kind = fence
		}
		return mark
	case looksCovered(l.text):
		l.kind = coverage
	case c.isComment(i):
	case c.underlines(i):
		l.kind = underline
		c.lines[i-1].kind = heading
		h, _ := readHead(i-1, c.lines[i-1].text, true)
		c.heads = append(c.heads, h)
	default:
		if h, ok := readHead(i, l.text, false); ok {
			l.kind = heading
			c.heads = append(c.heads, h)
		}
	}
	return ""
}

func closes(text, mark string) bool {
	m, info := fenceMark(strings.TrimLeft(text, " \t>"))
	return info == "" && len(m) >= len(mark) && m[0] == mark[0]
}

// isComment reports an HTML comment that begins in a line outside of code spans, and
// takes what it covers out of the checks. It ends before the next heading at the
// latest.
func (c *checker) isComment(i int) bool {
	at := commentStart(c.lines[i].text)
	if at < 0 {
		return false
	}
	end := i
	if !strings.Contains(c.lines[i].text[at:], "-->") {
		end = c.commentEnd(i)
	}
	if end < 0 {
		c.add(Comment, i, "an HTML comment that is not closed", "remove it; to show <!-- put it in backticks")
		end = i
	} else {
		c.add(Comment, i, "an HTML comment", "remove it, or say it as cited text; to show <!-- put it in backticks")
	}
	c.mark(i, end+1, comment)
	return true
}

func commentStart(s string) int {
	const mark = "<!--"
	if !strings.Contains(s, mark) {
		return -1
	}
	code := spans(s)
	for from := 0; ; {
		i := strings.Index(s[from:], mark)
		if i < 0 {
			return -1
		}
		if i += from; !within(code, i) {
			return i
		}
		from = i + len(mark)
	}
}

// commentEnd is the line that closes a comment, -1 without one. How far nothing does
// is kept, so that many open comments are not searched many times.
func (c *checker) commentEnd(i int) int {
	for i = max(i+1, c.searched); i < len(c.lines) && headingLevel(c.lines[i].text) == 0; i++ {
		if strings.Contains(c.lines[i].text, "-->") {
			return i
		}
	}
	c.searched = i
	return -1
}

// underlines reports whether a line makes the paragraph's line before it a heading.
// Under an item of a list or a table's row it is a divider.
func (c *checker) underlines(i int) bool {
	text := strings.TrimSpace(c.lines[i].text)
	if i == 0 || strings.Trim(text, "=") != "" && strings.Trim(text, "-") != "" || c.lines[i-1].kind != prose {
		return false
	}
	start := i - 1
	for start > 0 && c.lines[start-1].kind == prose && substantive(c.lines[start-1].text) {
		start--
	}
	begin := c.lines[start].text
	return substantive(begin) && len(bare(begin)) == len(strings.TrimLeft(begin, " \t")) && !strings.Contains(c.lines[i-1].text, "|")
}

var tableRule = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$`)

// isHeader reports whether a line is the header of a table that has rows, and names
// columns only.
func (c *checker) isHeader(i int) bool {
	if i+2 >= len(c.lines) || c.lines[i+2].kind != prose || !strings.Contains(c.lines[i+2].text, "|") {
		return false
	}
	rule := c.lines[i+1].text
	names := cells(c.lines[i].text)
	if !strings.Contains(rule, "|") || !tableRule.MatchString(rule) || len(cells(rule)) != len(names) {
		return false
	}
	for _, n := range names {
		if utf8.RuneCountInString(n) > 40 || strings.ContainsAny(n, ".!?;。！？；") {
			return false
		}
	}
	return true
}

// cells are the cells of a table's row.
func cells(row string) []string {
	row = strings.ReplaceAll(strings.TrimSpace(row), `\|`, " ")
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
}
