package pack

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// size is what a text costs of both ceilings.
type size struct {
	chars  int
	weight tokens.Weight
}

func (s size) plus(t size) size { return size{s.chars + t.chars, s.weight + t.weight} }

// within reports that the size fits ceilings.
func (s size) within(chars, toks int) bool { return s.chars <= chars && s.weight.Tokens() <= toks }

func measure(text []byte) size {
	var s size
	for i := 0; i < len(text); s.chars++ {
		if text[i] < utf8.RuneSelf {
			s.weight += tokens.ASCII
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		s.weight += tokens.Rune(r)
		i += n
	}
	return s
}

// space is white space, the separators of old among it.
func space(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F }

func blank(text string) bool { return strings.TrimFunc(text, space) == "" }

// Quoted appends a JSON string in which the characters that end a line in some
// programs are escaped too.
func Quoted(dst []byte, text string) []byte {
	at := len(dst)
	dst = jsonspan.Quote(dst, text)
	for _, end := range [...]struct{ char, escape string }{{"\u2028", `\u2028`}, {"\u2029", `\u2029`}, {"\u0085", `\u0085`}} {
		if bytes.Contains(dst[at:], []byte(end.char)) {
			dst = append(dst[:at], bytes.ReplaceAll(dst[at:], []byte(end.char), []byte(end.escape))...)
		}
	}
	return dst
}

// Of an optional text all is shown, or the beginning with a mark of what is
// missing.
const (
	maxShown = 900
	cutShown = 868
)

// squeezed is a text on one line: white space as single spaces, its ends
// trimmed.
type squeezed struct {
	text  []byte // up to maxShown characters
	total int    // characters of all of it
	cut   int    // bytes of the first cutShown characters
	gap   bool
}

// read takes in a text; without count it stops where no more is shown.
func (s *squeezed) read(text []byte, count bool) {
	s.text, s.total, s.cut, s.gap = s.text[:0], 0, 0, false
	for i := 0; i < len(text) && (count || s.total <= maxShown); {
		n := visible(text[i:])
		if n > 0 {
			s.put(text[i:i+n], n)
			i += n
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if space(r) || unicode.IsControl(r) {
			s.gap = s.total > 0
		} else {
			s.put(utf8.AppendRune(nil, r), 1)
		}
		i += n
	}
}

// visible is the length of the ASCII word that the text begins with.
func visible(text []byte) int {
	for i, c := range text {
		if c <= ' ' || c >= 0x7F {
			return i
		}
	}
	return len(text)
}

// put adds a word of n characters.
func (s *squeezed) put(word []byte, n int) {
	if s.gap {
		s.gap = false
		s.put([]byte{' '}, 1)
	}
	before := s.total
	s.total += n
	if before < maxShown && s.total > maxShown {
		word = word[:maxShown-before] // more than one character, so ASCII
	}
	if before < cutShown && s.total >= cutShown {
		s.cut = len(s.text) + len(word) - (min(s.total, maxShown) - cutShown)
	}
	if before < maxShown {
		s.text = append(s.text, word...)
	}
}

// shown is what a line has room for, without the mark.
func (s *squeezed) shown() []byte {
	if s.total <= maxShown {
		return s.text
	}
	return bytes.TrimRight(s.text[:s.cut], " ")
}

// mark says how many characters are missing, "" if none are.
func (s *squeezed) mark() string {
	if s.total <= maxShown {
		return ""
	}
	return fmt.Sprintf(" [+%d characters]", s.total-utf8.RuneCount(s.shown()))
}

// mojibake are traces of text that was read in a wrong encoding.
var mojibake = [...]string{"\u951F", `\223`, `\211`, `\226`, `\255`}

const manyTraces = 3

// noisy reports text that lost characters on its way into the file.
func noisy(text string) bool {
	if strings.Contains(text, "\uFFFD") {
		return true
	}
	n := 0
	for _, trace := range mojibake {
		n += strings.Count(text, trace)
	}
	return n >= manyTraces
}

// namesPath reports a path or an address: a word with a slash that begins like
// one or ends in a name with a dot.
func namesPath(text string) bool {
	for {
		i := strings.IndexAny(text, `/\`)
		if i < 0 {
			return false
		}
		from := strings.LastIndexFunc(text[:i], betweenPaths) + 1
		to := len(text)
		if n := strings.IndexFunc(text[i:], betweenPaths); n >= 0 {
			to = i + n
		}
		if looksLikePath(text[from:to]) {
			return true
		}
		text = text[to:]
	}
}

func betweenPaths(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()[]{}<>,;=|", r) }

// minPath is the length of the shortest path that counts.
const minPath = 4

func looksLikePath(word string) bool {
	if len(word) < minPath || strings.Contains(word, `\n`) {
		return false
	}
	last := strings.LastIndexAny(word, `/\`)
	dot := strings.IndexByte(word[last:], '.')
	rooted := strings.ContainsRune("/~.", rune(word[0])) && last > 0 && word[:2] != "//"
	return rooted || dot > 1 && last+dot < len(word)-1
}
