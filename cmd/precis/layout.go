package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// page lays out text for people. Every text that is given to it is shown with
// its control characters escaped; the first error of the writer is kept.
type page struct {
	w     io.Writer
	width int
	loose bool // no terminal: columns are as wide as what is in them
	color bool
	dir   string // the working directory
	some  bool   // something was printed
	err   error
}

func (c *cli) page() *page {
	return &page{w: c.out, width: max(c.width, 60), loose: c.loose, color: c.color, dir: c.dir}
}

// labelWidth is the column of the labels, its gap included.
const labelWidth = 11

// maxText keeps lines readable on wide terminals.
const maxText = 100

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		p.some = true
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// first tells that the page is still empty.
func (p *page) first() bool { return !p.some }

func (p *page) blank() { p.printf("\n") }

// title is a line with a status word behind it; "" for none.
func (p *page) title(text, status string) {
	text = visible(text)
	if status != "" {
		text += "  " + p.paint(status)
	}
	p.printf("%s\n", text)
}

// row is a label and its text, wrapped beside it. An empty label goes on with the
// one above.
func (p *page) row(label, text string) {
	room := min(p.width, maxText+labelWidth) - labelWidth - 2
	for _, line := range wrap(visible(text), room) {
		p.printf("  %s%s\n", p.paint(label)+pad(label, labelWidth), line)
		label = ""
	}
}

// rows is a label and several texts, each of which begins a line.
func (p *page) rows(label string, texts []string) {
	for _, text := range texts {
		p.row(label, text)
		label = ""
	}
}

// path is a label and a path with what is said about it. A path is never wrapped,
// whatever its length and its spaces, so that it can be copied.
func (p *page) path(label, path, remark string) {
	p.printf("  %s%s%s\n", p.paint(label)+pad(label, labelWidth), visible(p.near(path)), remark)
}

// near is a path as it is written from the working directory, where that is
// shorter.
func (p *page) near(path string) string {
	rel, err := filepath.Rel(p.dir, path)
	if p.dir == "" || err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}

// text is wrapped from the left edge.
func (p *page) text(text string) {
	for _, line := range wrap(visible(text), min(p.width, maxText)) {
		p.printf("%s\n", line)
	}
}

// statusColor is the colour of the words that have one, as an SGR parameter.
var statusColor = map[string]string{
	"done": "32", "ok": "32", "valid": "32", "up-to-date": "32", "finished": "32", "same": "32",
	"warning": "33", "waiting": "33", "interrupted": "33", "would-run": "33", "running": "33", "skipped": "33", "open": "33",
	"refused": "31", "failed": "31", "error": "31", "broken": "31", "unreadable": "31", "differs": "31",
}

func (p *page) paint(word string) string {
	if code := statusColor[word]; code != "" && p.color {
		return "\x1b[" + code + "m" + word + "\x1b[0m"
	}
	return word
}

// column of a table. One that stretches gives way when the table is too wide.
type column struct {
	head           string
	right, stretch bool
}

// table prints rows in aligned columns, indented. Without heads there is no line
// for them.
func (p *page) table(indent int, columns []column, rows [][]string) {
	widths := p.widths(indent, columns, rows)
	if columns[0].head != "" {
		heads := make([]string, len(columns))
		for i, c := range columns {
			heads[i] = c.head
		}
		p.cells(indent, columns, widths, heads)
	}
	for _, r := range rows {
		p.cells(indent, columns, widths, r)
	}
}

const gap = "  "

// leastColumn is how far a column stretches the other way.
const leastColumn = 8

func (p *page) widths(indent int, columns []column, rows [][]string) []int {
	widths := make([]int, len(columns))
	total := indent + len(gap)*(len(columns)-1)
	for i, c := range columns {
		widths[i] = textWidth(c.head)
		for _, r := range rows {
			widths[i] = max(widths[i], textWidth(visible(r[i])))
		}
		total += widths[i]
	}
	for over := total - p.width; over > 0 && !p.loose; over-- {
		widest := -1
		for i, c := range columns {
			if c.stretch && widths[i] > leastColumn && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

func (p *page) cells(indent int, columns []column, widths []int, cells []string) {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", indent))
	for i, cell := range cells {
		cell = shorten(visible(cell), widths[i])
		space := pad(cell, widths[i])
		if i > 0 {
			b.WriteString(gap)
		}
		if columns[i].right {
			b.WriteString(space + p.paint(cell))
		} else {
			b.WriteString(p.paint(cell) + space)
		}
	}
	p.printf("%s\n", strings.TrimRight(b.String(), " "))
}

// eighths are blocks of growing width.
var eighths = []rune("▏▎▍▌▋▊▉█")

// bar draws a share, from 0 to 1, in cells of eight parts; more than nothing is
// always seen.
func bar(share float64, cells int) string {
	parts := int(share*float64(cells*8) + 0.5)
	if parts == 0 && share > 0 {
		parts = 1
	}
	text := strings.Repeat("█", parts/8)
	if rest := parts % 8; rest > 0 {
		text += string(eighths[rest-1])
	}
	return text
}

// wide measures text as terminals show it, the same everywhere: ambiguous
// characters are narrow.
var wide = runewidth.Condition{StrictEmojiNeutral: true}

func textWidth(s string) int { return wide.StringWidth(s) }

func pad(s string, width int) string { return strings.Repeat(" ", max(0, width-textWidth(s))) }

// shorten takes the middle out of a text that is too wide: names differ at their
// ends.
func shorten(s string, width int) string {
	if textWidth(s) <= width {
		return s
	}
	head := wide.Truncate(s, (width-1)/2, "")
	room := width - 1 - textWidth(head)
	tail := wide.TruncateLeft(s, textWidth(s)-room, "")
	return head + "…" + tail
}

// quotedWord is a word as [quoted] gives it, where it has spaces.
var quotedWord = regexp.MustCompile(`(^| )'[^']*'(\\''[^']*')*`)

// wrap breaks at spaces; a word that is too wide stands alone, whole, so that it
// can be copied, and a flag stays with its value. What is quoted for a shell is one
// word.
func wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	s = quotedWord.ReplaceAllStringFunc(strings.ReplaceAll(s, "--set ", "--set\a"), func(word string) string {
		return word[:1] + strings.ReplaceAll(word[1:], " ", "\a")
	})
	for _, word := range strings.Fields(s) {
		word = strings.ReplaceAll(word, "\a", " ")
		w := textWidth(word)
		if used > 0 && used+1+w > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	return append(lines, line)
}

// visible escapes what a terminal would obey rather than show: control and
// format characters, and bytes that are no UTF-8.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == unicode.ReplacementChar, unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r) && r != '\u200d':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
