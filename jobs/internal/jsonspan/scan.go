// Package jsonspan reads JSON text in place: it validates the full grammar of
// RFC 8259 and UTF-8, and hands out byte spans instead of decoded values, so
// that a record can be indexed, copied or edited without being re-encoded.
//
// A general decoder will not do for transcripts: it matches keys case-blindly,
// merges duplicate keys, turns lone surrogates and bad bytes into U+FFFD without
// a word, and loses the spelling of numbers. The scanner reports those facts and
// leaves the bytes alone.
package jsonspan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// MaxDepth bounds nesting. The client itself reads 2,000 levels.
const MaxDepth = 10_000

// Kind is the type of a JSON value, by its first byte.
type Kind uint8

// The kinds of JSON values. Invalid is the zero value.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// KindOf tells a valid value's type from its first byte.
func KindOf(c byte) Kind {
	switch c {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Error says why and where a scan stopped.
type Error struct {
	Pos    int  // offset in the scanned bytes
	EOF    bool // the text ended too early
	InText bool // within a string
	Deep   bool // the text is valid so far and nested beyond MaxDepth
	Reason string
}

func (e *Error) Error() string { return e.Reason }

// Scanner walks one JSON text. The zero value with Data set is ready.
type Scanner struct {
	Data []byte
	Pos  int
	// Weight adds up the token weight of what was passed, as if it were written
	// compactly with non-ASCII characters kept.
	Weight tokens.Weight
	// LoneSurrogate and BadUTF8 are the offset+1 of the first such fault, 0 = none.
	LoneSurrogate int
	BadUTF8       int
	// RawNewlines accepts unescaped line feeds in strings, to recognise a record
	// whose writer forgot to escape them.
	RawNewlines bool
}

// Span is a piece of the scanned bytes.
type Span struct {
	Start, End int
	// Escaped tells that a string holds a backslash.
	Escaped bool
}

// Empty reports whether nothing was seen.
func (s Span) Empty() bool { return s.End == 0 }

// Of returns the bytes of the span.
func (s Span) Of(b []byte) []byte { return b[s.Start:s.End] }

func (s *Scanner) fail(pos int, reason string) *Error {
	return &Error{Pos: pos, Reason: reason, EOF: pos >= len(s.Data)}
}

// Space skips insignificant white space.
func (s *Scanner) Space() {
	for s.Pos < len(s.Data) {
		switch s.Data[s.Pos] {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return
		}
	}
}

// Peek skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Data) && s.Data[s.Pos] > ' ' {
		return s.Data[s.Pos]
	}
	s.Space()
	if s.Pos < len(s.Data) {
		return s.Data[s.Pos]
	}
	return 0
}

// Value passes one value of any type and returns its span and kind.
func (s *Scanner) Value() (Span, Kind, *Error) { return s.value(0) }

func (s *Scanner) value(depth int) (Span, Kind, *Error) {
	c := s.Peek()
	start := s.Pos
	var err *Error
	kind := KindOf(c)
	switch kind {
	case String:
		sp, err := s.String()
		return Span{Start: start, End: s.Pos, Escaped: sp.Escaped}, String, err
	case Object, Array:
		if depth >= MaxDepth {
			return Span{}, Invalid, &Error{Pos: start, Deep: true, Reason: "nested too deeply"}
		}
		if kind == Object {
			err = s.object(depth)
		} else {
			err = s.array(depth)
		}
	case Bool, Null:
		err = s.literal(c)
	default:
		err = s.number()
	}
	return Span{Start: start, End: s.Pos}, kind, err
}

func (s *Scanner) object(depth int) *Error {
	m := s.Members()
	for {
		_, ok, err := m.Next()
		if err != nil || !ok {
			return err
		}
		if _, _, err := s.value(depth + 1); err != nil {
			return err
		}
	}
}

func (s *Scanner) array(depth int) *Error {
	e := s.Elements()
	for {
		ok, err := e.Next()
		if err != nil || !ok {
			return err
		}
		if _, _, err := s.value(depth + 1); err != nil {
			return err
		}
	}
}

// Members iterates over an object: after each Next that says ok, the scanner
// stands before the member's value, which the caller must pass.
type Members struct {
	s     *Scanner
	begun bool
}

// Members starts at the opening brace.
func (s *Scanner) Members() Members { return Members{s: s} }

// Next returns the key's span without its quotes; ok is false after the closing
// brace, which it passes.
func (m *Members) Next() (key Span, ok bool, err *Error) {
	s := m.s
	if ok, err = s.item('{', '}', &m.begun, "object"); err != nil || !ok {
		return Span{}, false, err
	}
	if s.Peek() != '"' {
		return Span{}, false, s.fail(s.Pos, "expected a key")
	}
	key, err = s.String()
	if err != nil {
		return Span{}, false, err
	}
	if s.Peek() != ':' {
		return Span{}, false, s.fail(s.Pos, "expected a colon")
	}
	s.Pos++
	s.Weight += tokens.ASCII
	return key, true, nil
}

// Elements iterates over an array in the same way.
type Elements struct {
	s     *Scanner
	begun bool
}

// Elements starts at the opening bracket.
func (s *Scanner) Elements() Elements { return Elements{s: s} }

// Next stands before the next element, or has passed the closing bracket.
func (e *Elements) Next() (bool, *Error) { return e.s.item('[', ']', &e.begun, "array") }

// item passes the opening mark, a comma or the closing mark.
func (s *Scanner) item(open, end byte, begun *bool, what string) (bool, *Error) {
	c := s.Peek()
	switch {
	case !*begun && c == open:
		*begun = true
		s.Pos++
		s.Weight += tokens.ASCII
		if s.Peek() != end {
			return true, nil
		}
		c = end
	case c == ',' && *begun:
		s.Pos++
		s.Weight += tokens.ASCII
		if s.Peek() == end {
			return false, s.fail(s.Pos, "comma before the end of the "+what)
		}
		return true, nil
	}
	if c != end || !*begun {
		return false, s.fail(s.Pos, "expected a comma or the end of the "+what)
	}
	s.Pos++
	s.Weight += tokens.ASCII
	return false, nil
}

func (s *Scanner) literal(c byte) *Error {
	word := "null"
	switch c {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	}
	for i := range len(word) {
		if s.Pos+i >= len(s.Data) || s.Data[s.Pos+i] != word[i] {
			return s.fail(s.Pos+i, "unknown literal")
		}
	}
	s.Pos += len(word)
	s.Weight += tokens.ASCII * tokens.Weight(len(word))
	return nil
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of x that end the fast path of a string: control
// characters, quote, backslash, non-ASCII. Only the lowest mark is exact, which
// is the only one used.
func special(x uint64) uint64 {
	quote := x ^ ('"' * ones)
	slash := x ^ ('\\' * ones)
	return ((x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash | x) & highs
}

// String passes a string and returns its span without the quotes.
func (s *Scanner) String() (Span, *Error) {
	b, i := s.Data, s.Pos+1
	start, plain := i, i // plain: where the counted ASCII run began
	escaped := false
	s.Weight += 2 * tokens.ASCII
	for {
		if i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		} else if i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' && b[i] < 0x80 {
			i++
			continue
		}
		if i+1 < len(b) && b[i] == '\\' && short[b[i+1]] {
			escaped = true
			i += 2 // weighs what its two bytes do, as part of the run
			continue
		}
		s.Weight += tokens.ASCII * tokens.Weight(i-plain)
		if i >= len(b) {
			return Span{}, &Error{Pos: i, EOF: true, InText: true, Reason: "text ends within a string"}
		}
		var err *Error
		switch c := b[i]; {
		case c == '"':
			s.Pos = i + 1
			return Span{Start: start, End: i, Escaped: escaped}, nil
		case c == '\\':
			escaped = true
			i, err = s.escape(i)
		case c >= 0x80:
			i = s.nonASCII(i)
		case c == '\n' && s.RawNewlines:
			i++
		default:
			err = &Error{Pos: i, InText: true, Reason: "control character within a string"}
		}
		if err != nil {
			return Span{}, err
		}
		plain = i
	}
}

// nonASCII passes a run of non-ASCII characters.
func (s *Scanner) nonASCII(i int) int {
	for i < len(s.Data) && s.Data[i] >= 0x80 {
		r, n := utf8.DecodeRune(s.Data[i:])
		if r == utf8.RuneError && n == 1 && s.BadUTF8 == 0 {
			s.BadUTF8 = i + 1
		}
		s.Weight += tokens.Rune(r)
		i += n
	}
	return i
}

// short are the escapes that are written with two bytes in every spelling.
var short = [256]bool{'"': true, '\\': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape passes one of the other escapes, a surrogate pair as one.
func (s *Scanner) escape(i int) (int, *Error) {
	if i+1 >= len(s.Data) {
		return i, &Error{Pos: i + 1, EOF: true, InText: true, Reason: "text ends within an escape"}
	}
	switch s.Data[i+1] {
	case '/':
		s.Weight += tokens.ASCII
		return i + 2, nil
	case 'u':
		return s.unicodeEscape(i)
	}
	return i, &Error{Pos: i, InText: true, Reason: "unknown escape"}
}

func (s *Scanner) unicodeEscape(i int) (int, *Error) {
	r, ok := hex4(s.Data, i+2)
	if !ok {
		return i, &Error{Pos: i, EOF: i+6 > len(s.Data), InText: true, Reason: "incomplete \\u escape"}
	}
	n := 6
	if r >= 0xD800 && r < 0xE000 {
		low, ok := lowSurrogate(s.Data, i+6)
		if r < 0xDC00 && ok {
			r, n = (r-0xD800)<<10|(low-0xDC00)+0x10000, 12
		} else if s.LoneSurrogate == 0 {
			s.LoneSurrogate = i + 1
		}
	}
	s.Weight += escapedWeight(r)
	return i + n, nil
}

// escapedWeight is the weight of a character that was written as \uXXXX and
// would be written compactly.
func escapedWeight(r rune) tokens.Weight {
	switch {
	case r == '"' || r == '\\' || r == '\b' || r == '\f' || r == '\n' || r == '\r' || r == '\t':
		return 2 * tokens.ASCII
	case r < ' ':
		return 6 * tokens.ASCII
	}
	return tokens.Rune(r)
}

func lowSurrogate(b []byte, i int) (rune, bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	r, ok := hex4(b, i+2)
	return r, ok && r >= 0xDC00 && r < 0xE000
}

func hex4(b []byte, i int) (rune, bool) {
	if i+4 > len(b) {
		return 0, false
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
