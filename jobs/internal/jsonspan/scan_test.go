package jsonspan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// accepted are texts the grammar of RFC 8259 allows, section by section.
var accepted = []string{
	// Section 3: values. Section 2: white space around them.
	`null`, `true`, `false`, `0`, `""`, `[]`, `{}`, " \t\r\n0 \t\r\n",
	// Section 4: objects. Names need not be unique.
	`{"":0}`, `{"a":1,"b":[{}]}`, ` { "a" : 1 , "b" : 2 } `, `{"a":"1","a":"2"}`, `{"A":"1","a":"2"}`,
	// Section 5: arrays.
	`[1,"a",null,[[]],{}]`, "[\n1\t,\r2 ]",
	// Section 6: numbers.
	`-0`, `10`, `-1`, `1.0`, `0.1000`, `0e0`, `1E5`, `1e+5`, `1e-5`, `-0.0e-0`, `1e400`, `12345678901234567890123456789`,
	// Section 7: strings.
	`"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\uABCD\uabcd"`, `"\ud83d\ude00"`, `"é→中😀"`, "\"\x7f\u2028\u2029\u0085\"",
	// Halves of surrogate pairs follow the grammar (section 8.2 leaves them open).
	`"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ude00\ud83d"`, `"\ud83dx"`,
	// The fast path reads eight bytes at a time: ends at each offset of a word.
	`"1234567"`, `"12345678"`, `"123456789"`, `"1234567\n"`, `"12345678\n9"`, `"1234567é"`,
}

var rejected = map[string]string{
	"nothing":                   ``,
	"white space only":          " \n",
	"byte order mark":           "\ufeff{}",
	"vertical tab":              "\v0",
	"no-break space":            "\u00a00",
	"two values":                `{} {}`,
	"trailing junk":             `{}x`,
	"trailing NUL":              "{}\x00",
	"NUL":                       "\x00",
	"literal cut":               `nul`,
	"literal in capitals":       `True`,
	"literal too long":          `nullx`,
	"not a number":              `NaN`,
	"infinity":                  `Infinity`,
	"negative infinity":         `-Infinity`,
	"leading zero":              `01`,
	"negative leading zero":     `-01`,
	"leading plus":              `+1`,
	"minus alone":               `-`,
	"no digit before the point": `.5`,
	"no digit after the point":  `1.`,
	"point, then exponent":      `1.e5`,
	"exponent empty":            `1e`,
	"exponent with sign only":   `1e+`,
	"hexadecimal":               `0x1`,
	"object not closed":         `{"a":1`,
	"object comma at the end":   `{"a":1,}`,
	"object comma first":        `{,"a":1}`,
	"object without comma":      `{"a":1 "b":2}`,
	"object without colon":      `{"a" 1}`,
	"object without value":      `{"a":}`,
	"object key bare":           `{a:1}`,
	"object key a number":       `{1:1}`,
	"object closed as array":    `{"a":1]`,
	"array not closed":          `[1`,
	"array comma at the end":    `[1,]`,
	"array comma twice":         `[1,,2]`,
	"array comma first":         `[,1]`,
	"array without comma":       `[1 2]`,
	"array closed as object":    `[1}`,
	"array closed alone":        `]`,
	"comment":                   `[1/**/]`,
	"string not closed":         `"a`,
	"string ends in a slash":    `"a\`,
	"single quotes":             `'a'`,
	"unknown escape":            `"\x"`,
	"escape of a line break":    "\"\\\n\"",
	"capital U escape":          `"\U0041"`,
	"escape of three digits":    `"\u004"`,
	"escape cut":                `"\u00`,
	"escape with a sign":        `"\u+041"`,
	"raw U+0000":                "\"a\x00b\"",
	"raw U+0001":                "\"\x01\"",
	"raw tab":                   "\"12345678\t\"",
	"raw line feed":             "\"a\nb\"",
	"raw carriage return":       "\"a\rb\"",
	"raw U+001F":                "\"1234567\x1f\"",
}

func TestParseAccepts(t *testing.T) {
	for _, text := range accepted {
		v, err := jsonspan.Parse([]byte(text))
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
			continue
		}
		if want := strings.Trim(text, " \t\r\n"); string(v.Raw) != want {
			t.Errorf("Parse(%q).Raw = %q, want %q", text, v.Raw, want)
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("%q is in the wrong list", text)
		}
	}
}

func TestParseRejects(t *testing.T) {
	for name, text := range rejected {
		if v, err := jsonspan.Parse([]byte(text)); err == nil {
			t.Errorf("%s: Parse(%q) = %q", name, text, v.Raw)
		}
		if json.Valid([]byte(text)) {
			t.Errorf("%s: %q is in the wrong list", name, text)
		}
	}
}

// A text that was cut anywhere is told from one that is wrong.
func TestErrorEOF(t *testing.T) {
	const text = `{"a":[1.5e+3,true,"x\u0041\ny"],"b":{"c":null}}`
	for n := 1; n < len(text); n++ {
		_, err := jsonspan.Parse([]byte(text[:n]))
		var e *jsonspan.Error
		if !errors.As(err, &e) || !e.EOF {
			t.Errorf("Parse(%q) = %v, want an error at the end", text[:n], err)
		}
	}
}

func TestErrorPlace(t *testing.T) {
	tests := []struct {
		text        string
		pos         int
		eof, inText bool
	}{
		{`{"a":1}x`, 7, false, false},
		{`{"a":01}`, 5, false, false},
		{`{"a" 1}`, 5, false, false},
		{`[1,]`, 3, false, false},
		{"[\"ab\x01\"]", 4, false, true},
		{"[\"ab\n\"]", 4, false, true},
		{`["a\q"]`, 3, false, true},
		{`["ab`, 4, true, true},
		{`["ab\`, 5, true, true},
		{`["ab"`, 5, true, false},
		{`[tru]`, 4, false, false},
		{``, 0, true, false},
	}
	for _, tt := range tests {
		_, err := jsonspan.Parse([]byte(tt.text))
		var e *jsonspan.Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q) = %v", tt.text, err)
			continue
		}
		if e.Pos != tt.pos || e.EOF != tt.eof || e.InText != tt.inText {
			t.Errorf("Parse(%q): pos %d eof %v in text %v, want %d %v %v", tt.text, e.Pos, e.EOF, e.InText, tt.pos, tt.eof, tt.inText)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, tt := range []struct {
		depth int
		ok    bool
	}{{2_000, true}, {jsonspan.MaxDepth, true}, {jsonspan.MaxDepth + 1, false}, {20_000, false}} {
		for _, pair := range []string{"[]", `{"a":}`} {
			open, end := pair[:len(pair)-1], pair[len(pair)-1:]
			text := strings.Repeat(open, tt.depth-1) + pair[:1] + end + strings.Repeat(end, tt.depth-1)
			if _, err := jsonspan.Parse([]byte(text)); (err == nil) != tt.ok {
				t.Errorf("depth %d of %s: error %v", tt.depth, pair, err)
			}
		}
	}
}

// Faults in the characters of a string are told and do not end the scan.
func TestCharacterFaults(t *testing.T) {
	tests := []struct {
		text           string
		lone, badBytes int // offset, -1 for none
	}{
		{`"a"`, -1, -1},
		{`"\ud83d\ude00"`, -1, -1},
		{`"ab\ud800"`, 3, -1},
		{`"\ude00\ud83d"`, 1, -1},
		{`"ab\ude00\ude00"`, 3, -1},
		{`"\ud83d\ud83d\ude00"`, 1, -1},
		{`"\ud83d\u0041"`, 1, -1},
		{`{"\udc00":"\ud800"}`, 2, -1},
		{"\"\xff\xfe\"", -1, 1},
		{"\"ab\xc3\"", -1, 3},
		{"\"\xed\xa0\x80\"", -1, 1},     // a surrogate in UTF-8
		{"\"\xc0\xaf\"", -1, 1},         // overlong
		{"\"\xf4\x90\x80\x80\"", -1, 1}, // beyond U+10FFFF
		{"\"\ufffd\"", -1, -1},          // the real replacement character
	}
	for _, tt := range tests {
		s := jsonspan.Scanner{Data: []byte(tt.text)}
		if _, _, err := s.Value(); err != nil {
			t.Errorf("%q: %v", tt.text, err)
		}
		if s.LoneSurrogate-1 != tt.lone || s.BadUTF8-1 != tt.badBytes {
			t.Errorf("%q: lone surrogate at %d, bad byte at %d, want %d, %d", tt.text, s.LoneSurrogate-1, s.BadUTF8-1, tt.lone, tt.badBytes)
		}
	}
}

func TestRawNewlines(t *testing.T) {
	for text, ok := range map[string]bool{
		"\"a\nb\"":         true,
		"{\"a\":\"\n\n\"}": true,
		"\"a\tb\"":         false,
		"\"a\r\nb\"":       false,
	} {
		s := jsonspan.Scanner{Data: []byte(text), RawNewlines: true}
		if _, _, err := s.Value(); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzScan holds the scanner against the standard library. They differ in two
// things on purpose: the library nests a little deeper or less deep, and it says
// nothing of bad bytes and half surrogates.
func FuzzScan(f *testing.F) {
	for _, text := range accepted {
		f.Add([]byte(text))
	}
	for _, text := range rejected {
		f.Add([]byte(text))
	}
	f.Add([]byte("{\"a\":\"\xff\xfe\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := jsonspan.Parse(data)
		if valid := json.Valid(data); valid != (err == nil) {
			if len(data) < jsonspan.MaxDepth {
				t.Fatalf("json.Valid is %v, Parse says %v", valid, err)
			}
			return
		}
		if err != nil {
			var e *jsonspan.Error
			if !errors.As(err, &e) || e.Pos < 0 || e.Pos > len(data) {
				t.Fatalf("error %#v lies outside of %d bytes", err, len(data))
			}
			return
		}
		s := jsonspan.Scanner{Data: data}
		s.Value()
		if inStrings := utf8.Valid(data); inStrings != (s.BadUTF8 == 0) {
			t.Errorf("valid UTF-8 is %v, the scanner marked %d", inStrings, s.BadUTF8)
		}
		agree(t, v)
	})
}

// agree checks a value against the standard library's decoding of it.
func agree(t *testing.T, v jsonspan.Value) {
	t.Helper()
	var want any
	d := json.NewDecoder(strings.NewReader(string(v.Raw)))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	same(t, v, want)
}

func same(t *testing.T, v jsonspan.Value, want any) {
	t.Helper()
	switch want := want.(type) {
	case nil:
		expect(t, v.Kind == jsonspan.Null && string(v.Raw) == "null", v)
	case bool:
		expect(t, v.Kind == jsonspan.Bool && v.True() == want, v)
	case json.Number:
		expect(t, v.Kind == jsonspan.Number && string(v.Raw) == want.String(), v)
	case string:
		expect(t, v.Kind == jsonspan.String && v.Text() == want, v)
	case []any:
		expect(t, v.Kind == jsonspan.Array, v)
		i := 0
		for e := range v.Elements() {
			same(t, e, want[i])
			i++
		}
		expect(t, i == len(want), v)
	case map[string]any:
		expect(t, v.Kind == jsonspan.Object, v)
		keys := map[string]bool{}
		for m := range v.Members() {
			keys[m.Key] = true
			expect(t, string(v.Raw[m.Start:m.End]) == string(m.Raw), m.Value)
			expect(t, v.Raw[m.KeyStart] == '"', m.Value)
		}
		expect(t, len(keys) == len(want), v)
		for key := range keys {
			same(t, v.Get(key), want[key]) // both take the last of duplicates
		}
	}
}

func expect(t *testing.T, ok bool, v jsonspan.Value) {
	t.Helper()
	if !ok {
		t.Fatalf("differs from the standard library at %q", v.Raw)
	}
}
