package jsonspan

import (
	"bytes"
	"unicode/utf8"
)

// Unquote decodes the content of a scanned string (without its quotes). A lone
// surrogate and a bad byte become U+FFFD: for reading only, never for copying.
func Unquote(content []byte) string {
	if !utf8.Valid(content) {
		return unquoteSlowly(content)
	}
	i := bytes.IndexByte(content, '\\')
	if i < 0 {
		return string(content)
	}
	out := make([]byte, 0, len(content))
	for i >= 0 {
		r, n := unescape(content, i)
		out = utf8.AppendRune(append(out, content[:i]...), r)
		content = content[i+n:]
		i = bytes.IndexByte(content, '\\')
	}
	return string(append(out, content...))
}

// unquoteSlowly is Unquote for text with bad bytes.
func unquoteSlowly(content []byte) string {
	var out []byte
	for i := 0; i < len(content); {
		r, n := next(content, i)
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out)
}

// next decodes the character at i and how many bytes its spelling takes.
func next(b []byte, i int) (rune, int) {
	switch c := b[i]; {
	case c == '\\':
		return unescape(b, i)
	case c < 0x80:
		return rune(c), 1
	}
	return utf8.DecodeRune(b[i:])
}

// TextLen is the number of bytes that a scanned string's text has.
func TextLen(content []byte) int {
	n := 0
	for i := 0; i < len(content); {
		j := bytes.IndexByte(content[i:], '\\')
		if j < 0 {
			return n + len(content) - i
		}
		r, size := unescape(content, i+j)
		n += j + utf8.RuneLen(r)
		i += j + size
	}
	return n
}

func unescape(b []byte, i int) (rune, int) {
	if i+1 >= len(b) {
		return utf8.RuneError, 1
	}
	switch b[i+1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unescapeUnicode(b, i)
	}
	return rune(b[i+1]), 2
}

func unescapeUnicode(b []byte, i int) (rune, int) {
	r, ok := hex4(b, i+2)
	if !ok {
		return utf8.RuneError, 2
	}
	if r < 0xD800 || r >= 0xE000 {
		return r, 6
	}
	if low, ok := lowSurrogate(b, i+6); ok && r < 0xDC00 {
		return (r-0xD800)<<10 | (low - 0xDC00) + 0x10000, 12
	}
	return utf8.RuneError, 6
}

// Quote writes s as a JSON string: only the quote, the backslash and control
// characters are escaped; everything else stays as it is.
func Quote(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, '"')
}
