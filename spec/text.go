package spec

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/spec/secret"
)

const (
	// maxBytes is far above any job a person writes, and low enough for a
	// reader that keeps every value in memory.
	maxBytes = 1 << 20
	// maxShown is the longest line worth printing, in bytes.
	maxShown = 400
)

// readFile reads one byte beyond the limit at most; that is enough to refuse.
func readFile(fs afero.Fs, file string) ([]byte, error) {
	f, err := fs.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes+1))
}

// text is the text of a job file by lines, for showing parts of it.
type text struct {
	data   []byte
	starts []int  // offset of each line
	hidden []bool // bytes of data never to be shown
}

func newText(data []byte) *text {
	t := &text{data: data, starts: []int{0}, hidden: make([]bool, len(data))}
	for i, c := range data {
		if c == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// line is the text of a line from 1, without its end.
func (t *text) line(n int) []byte {
	end := len(t.data)
	if n < len(t.starts) {
		end = t.starts[n] - 1
	}
	return bytes.TrimSuffix(t.data[t.starts[n-1]:end], []byte("\r"))
}

// offset is where a place stands in the data; the zero place is the end. In a
// line that is too long to be shown it is the beginning of the line.
func (t *text) offset(line, col int) int {
	if line == 0 || line > len(t.starts) {
		return len(t.data)
	}
	i := t.starts[line-1]
	if len(t.line(line)) > maxShown {
		return i
	}
	for ; col > 1 && i < len(t.data); col-- {
		_, n := utf8.DecodeRune(t.data[i:])
		i += n
	}
	return i
}

// place is the inverse of offset.
func (t *text) place(offset int) (line, col int) {
	line, found := slices.BinarySearch(t.starts, offset)
	if found {
		line++
	}
	return line, 1 + utf8.RuneCount(t.data[t.starts[line-1]:offset])
}

// hide keeps a span of the text from being shown.
func (t *text) hide(from, to int) {
	for i := from; i < to; i++ {
		t.hidden[i] = true
	}
}

// secrets finds the credentials that are not hidden yet, and hides them.
func (t *text) secrets() []secret.Match {
	rest := bytes.Clone(t.data)
	for i, hidden := range t.hidden {
		if hidden {
			rest[i] = 0
		}
	}
	found := secret.Find(rest)
	for _, m := range found {
		t.hide(m.Start, m.End)
	}
	return found
}

// shown is a line as it can be printed: hidden text starred out, characters
// that would confuse a terminal replaced, one for one. Long lines are empty.
func (t *text) shown(n int) string {
	if n < 1 || n > len(t.starts) || len(t.line(n)) > maxShown {
		return ""
	}
	start := t.starts[n-1]
	var b strings.Builder
	for i, r := range string(t.line(n)) {
		switch {
		case t.hidden[start+i]:
			r = '*'
		case unprintable(r):
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fault finds the first thing that keeps the text from being read as lines of
// characters at all.
func (t *text) fault() (offset int, what, hint string) {
	for i := 0; i < len(t.data); {
		r, n := utf8.DecodeRune(t.data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return i, "is not UTF-8", "save the file as UTF-8"
		case r == '\r' && !bytes.HasPrefix(t.data[i:], []byte("\r\n")):
			return i, "has a carriage return inside a line", "end lines with LF or CR LF"
		case r != '\r' && unprintable(r):
			return i, fmt.Sprintf("has the invisible character U+%04X", r), "remove it"
		}
		i += n
	}
	return -1, "", ""
}

// unprintable tells characters that have no place in a job: control characters
// except tab and line feed, separators that some readers take for line ends,
// and marks that change the direction of text.
func unprintable(r rune) bool {
	switch {
	case r == '\t' || r == '\n':
		return false
	case r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff':
		return true
	case r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
		return true
	}
	return unicode.IsControl(r)
}

// width is the number of terminal cells of a character (Unicode Standard Annex
// 11, by script and block; exact enough to put a caret under a word).
func width(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		r >= 0x3000 && r <= 0x303e, r >= 0xff01 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1faff:
		return 2
	}
	return 1
}
