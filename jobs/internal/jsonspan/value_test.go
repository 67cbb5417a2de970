package jsonspan_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

func parse(t interface {
	Helper()
	Fatal(...any)
}, text string) jsonspan.Value {
	t.Helper()
	v, err := jsonspan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMemberSpans(t *testing.T) {
	v := parse(t, ` { "a" : 1 ,"b\u0062":[ 2 ], "a":"x" } `)
	type span struct {
		key, keyText, value string
	}
	want := []span{{"a", `"a"`, `1`}, {"bb", `"b\u0062"`, `[ 2 ]`}, {"a", `"a"`, `"x"`}}
	i := 0
	for m := range v.Members() {
		w := want[i]
		if m.Key != w.key || !strings.HasPrefix(string(v.Raw[m.KeyStart:]), w.keyText) || string(v.Raw[m.Start:m.End]) != w.value {
			t.Errorf("member %d: key %q at %d, value %q", i, m.Key, m.KeyStart, v.Raw[m.Start:m.End])
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d members, want %d", i, len(want))
	}
}

func TestGet(t *testing.T) {
	v := parse(t, `{"a":"first","A":"capital","a":"last","b\u0063":true,"n":null}`)
	for key, want := range map[string]string{"a": `"last"`, "A": `"capital"`, "bc": "true", "n": "null", "B": "", "": ""} {
		if got := string(v.Get(key).Raw); got != want {
			t.Errorf("Get(%q) = %s, want %s", key, got, want)
		}
	}
	if v.Get("none").Kind != jsonspan.Invalid || parse(t, `[1]`).Get("a").Kind != jsonspan.Invalid {
		t.Error("a missing member has a kind")
	}
	if !v.Get("bc").True() || v.Get("n").True() || v.Get("a").True() {
		t.Error("True is not exactly the literal")
	}
}

func TestQuoteRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("\"\\/\x00\x01\x1f\b\f\n\r\t\x7fé中😀\u2028<")))).Draw(t, "s")
		quoted := string(jsonspan.Quote([]byte("x"), s))
		if quoted[0] != 'x' {
			t.Fatal("the destination was overwritten")
		}
		if got := parse(t, quoted[1:]).Text(); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}

func TestQuoteEscapesOnlyWhatItMust(t *testing.T) {
	const text, want = "\" \\/\x00\x1f\b\f\n\r\té\u2028<&>\x7f", `"\" \\/\u0000\u001f\b\f\n\r\t` + "é\u2028<&>\x7f\""
	if got := string(jsonspan.Quote(nil, text)); got != want {
		t.Errorf("Quote = %s, want %s", got, want)
	}
}

func TestUnquote(t *testing.T) {
	for text, want := range map[string]string{
		`a\/\u0041\u00e9\ud83d\ude00\"`: `a/Aé😀"`,
		`\ud800`:                        "\ufffd",
		`\ud83d\u0041`:                  "\ufffdA",
		`\ude00\ud83d`:                  "\ufffd\ufffd",
		`\ude00\ude00`:                  "\ufffd\ufffd",
		`\ud83d\ud83d\ude00`:            "\ufffd😀",
		"\xff\xfe":                      "\ufffd\ufffd",
		``:                              ``,
	} {
		if got := jsonspan.Unquote([]byte(text)); got != want {
			t.Errorf("Unquote(%q) = %q, want %q", text, got, want)
		}
	}
}

// pieces are the spellings a string may be cut within.
var pieces = []string{"a", "é", "中", "😀", `\n`, `\\`, `\"`, `\/`, `\u0041`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ude00`, "\xff", "\xe4\xb8"}

func TestPrefixSplitsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		v := parse(t, `"`+content+`"`)
		limit := rapid.IntRange(0, len(content)+3).Draw(t, "limit")
		got, cut := v.Prefix(limit)
		if !strings.HasPrefix(v.Text(), got) {
			t.Fatalf("Prefix(%d) of %q = %q, no prefix of %q", limit, content, got, v.Text())
		}
		if cut != (len(content) > limit) {
			t.Fatalf("Prefix(%d) of %d bytes: cut %v", limit, len(content), cut)
		}
		if !cut && got != v.Text() {
			t.Fatalf("Prefix(%d) = %q, want all of %q", limit, got, v.Text())
		}
		// At most one unit, the pair of escapes being the longest, is given up.
		if used := len(content) - len(strings.TrimPrefix(content, got)); cut && utf8.ValidString(content) && !strings.Contains(content, `\`) && used < limit-3 {
			t.Fatalf("Prefix(%d) of %q uses %d bytes", limit, content, used)
		}
	})
}

func TestPrefixOfOtherKinds(t *testing.T) {
	for _, text := range []string{`1234567890`, `["abcdefghij"]`, `null`} {
		if got, cut := parse(t, text).Prefix(3); got != "" || cut {
			t.Errorf("Prefix of %s = %q, %v", text, got, cut)
		}
	}
}

func TestPathAt(t *testing.T) {
	const text = ` {"message": {"content":[1, {"input":{"questions":[{"d":"#here"}]}}], "b\u0063": "#esc"},"a":[[0,"#deep"]],"dup":1,"dup":"#dup"}`
	v := parse(t, text)
	base := strings.Index(text, "{")
	for mark, want := range map[string]string{
		"#here": "message.content[1].input.questions[0].d",
		"#esc":  "message.bc",
		"#deep": "a[0][1]",
		"#dup":  "dup",
	} {
		if got := v.PathAt(strings.Index(text, mark) - base); got != want {
			t.Errorf("PathAt(%s) = %q, want %q", mark, got, want)
		}
	}
	for _, outside := range []int{0, len(v.Raw) - 1} {
		if got := v.PathAt(outside); got != "" {
			t.Errorf("PathAt(%d) = %q", outside, got)
		}
	}
}
