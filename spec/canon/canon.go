// Package canon writes the canonical JSON of the evidence pack format and the
// short digests of its headers. That form is not RFC 8785: numbers are written
// as Python writes them (1.0 stays 1.0, integers stay integers). A job's own
// digests use RFC 8785 and live in package spec.
//
// Two programs that make the same value must get the same bytes; therefore
// values that have no single spelling (NaN, infinities, text that is not UTF-8)
// are errors, never approximated.
package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON returns the canonical form of v: nil, booleans, strings, integers,
// floats, slices, maps with string keys, and pointers to those (nil is null).
// Keys are in code-point order; only the quotation mark, the backslash and
// characters below U+0020 are escaped.
func JSON(v any) ([]byte, error) { return appendValue(nil, reflect.ValueOf(v)) }

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, "null"...), nil
	case reflect.Pointer, reflect.Interface:
		return appendValue(b, v.Elem())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case reflect.Float64:
		return appendFloat(b, v.Float())
	case reflect.String:
		return appendString(b, v.String())
	case reflect.Slice, reflect.Array:
		return appendList(b, v)
	case reflect.Map:
		return appendObject(b, v)
	}
	return nil, fmt.Errorf("canon: no canonical form for %s", v.Type())
}

func appendList(b []byte, v reflect.Value) ([]byte, error) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendValue(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendObject(b []byte, v reflect.Value) ([]byte, error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("canon: keys of %s are not strings", v.Type())
	}
	keys := v.MapKeys()
	// The byte order of UTF-8 is the order of code points.
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendString(b, k.String()); err != nil {
			return nil, err
		}
		if b, err = appendValue(append(b, ':'), v.MapIndex(k)); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendFloat follows Python's repr: shortest digits that read back to the same
// value, an exponent below 1e-4 and from 1e16 on, ".0" on whole numbers.
func appendFloat(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("canon: %v has no canonical form", f)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64), nil
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return append(b, s...), nil
}

func appendString(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("canon: text is not UTF-8")
	}
	b = append(b, '"')
	for i := range len(s) {
		b = appendByte(b, s[i])
	}
	return append(b, '"'), nil
}

func appendByte(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	}
	if c < 0x20 {
		return fmt.Appendf(b, `\u%04x`, c)
	}
	return append(b, c)
}

// Full is the SHA-256 of b in lower-case hex.
func Full(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Half is the first 16 hex digits of [Full].
func Half(b []byte) string { return Full(b)[:16] }

// LineSet is the half digest of a set of line numbers: each once, ascending,
// decimal, joined by commas. The empty set has the digest of no bytes.
func LineSet(lines []int) string {
	set := slices.Compact(slices.Sorted(slices.Values(lines)))
	var b []byte
	for i, n := range set {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return Half(b)
}
