package jsonspan_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// compact writes a value in the form the estimator is defined on: no white
// space, non-ASCII characters kept, numbers in their shortest spelling. (The
// order of keys does not change the estimate and is left alone.)
func compact(v jsonspan.Value) string {
	switch v.Kind {
	case jsonspan.Object:
		var parts []string
		for m := range v.Members() {
			parts = append(parts, quote(m.Key)+":"+compact(m.Value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case jsonspan.Array:
		var parts []string
		for e := range v.Elements() {
			parts = append(parts, compact(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case jsonspan.String:
		return quote(v.Text())
	case jsonspan.Number:
		return number(string(v.Raw))
	}
	return string(v.Raw)
}

var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func quote(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch esc, short := shortEscapes[r]; {
		case short:
			b.WriteString(esc)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// number spells a number as the estimator's definition does: integers exactly,
// floats as the shortest text that reads back, at least one digit behind the
// point, and in scientific form from a decimal exponent of 16 on or below -4.
func number(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		if text == "-0" {
			return "0"
		}
		return text
	}
	f, _ := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		return strings.TrimPrefix(strings.Replace(fmt.Sprint(f), "Inf", "Infinity", 1), "+")
	}
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if n, _ := strconv.Atoi(exp); f != 0 && (n < -4 || n >= 16) {
		return mantissa + "e" + exp
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func TestNumberSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "7": "7", "-10": "-10", "12345678901234567890": "12345678901234567890",
		"1E5": "100000.0", "1.0": "1.0", "0.1000": "0.1", "-0.0": "-0.0", "0e7": "0.0",
		"1e400": "Infinity", "-1e400": "-Infinity", "1e-400": "0.0",
		"1e15": "1000000000000000.0", "1e16": "1e+16", "123456789012345678.0": "1.2345678901234568e+17",
		"0.0001": "0.0001", "1e-5": "1e-05", "1.5e-7": "1.5e-07", "1e100": "1e+100", "5e-324": "5e-324",
	} {
		if got := number(text); got != want {
			t.Errorf("the reference spells %s as %s, want %s", text, got, want)
		}
		checkWeight(t, text)
	}
}

func checkWeight(t interface {
	Helper()
	Errorf(string, ...any)
}, text string) {
	t.Helper()
	v, err := jsonspan.Parse([]byte(text))
	if err != nil {
		t.Errorf("Parse(%q): %v", text, err)
		return
	}
	s := jsonspan.Scanner{Data: []byte(text)}
	s.Value()
	var want tokens.Weight
	for _, r := range compact(v) {
		want += tokens.Rune(r)
	}
	if s.Weight != want {
		t.Errorf("%q weighs %d, its compact form %q weighs %d", text, s.Weight, compact(v), want)
	}
	if got := tokens.Text(compact(v)); s.Weight.Tokens() != got {
		t.Errorf("%q: %d tokens, want %d", text, s.Weight.Tokens(), got)
	}
}

func TestWeight(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `{}`, `[]`, ` { "a" : [ 1 , 2.50 ] , "b" : { } } `,
		`"\/"`, `"\u0041"`, `"\u00e9"`, `"é"`, `"\ud83d\ude00"`, `"😀"`, `"\u0000"`, `"\u001f"`, `"\u0022\u005c\u002f"`,
		`"\u0008\u0009\u000a\u000b\u000c\u000d"`, `"\b\f\n\r\t\"\\"`, `"\u007f"`, `"中文\u4e2d"`, `"→\u2192"`,
		`{"k\u0065y\n":"v"}`, `{"中":"é"}`, `[[[],[]],{"a":{"b":[null]}}]`,
		"\"\u0301\u2028\U00020000\U0002fa1f\"",
	} {
		checkWeight(t, text)
	}
}

func TestWeightOfAnyJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(anyJSON(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		checkWeight(t, string(text))
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(),
		rapid.Float64().AsAny(),
	}
	if depth > 0 {
		leaves = append(leaves,
			rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) }), 0, 4).AsAny(),
			rapid.MapOfN(rapid.String(), rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) }), 0, 4).AsAny())
	}
	return rapid.OneOf(slices.Clip(leaves)...)
}
