package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis/spec"
)

// small is the shortest job; its fields stand on lines 1 to 5.
const small = `version: 1
kind: compress
input: {sessions: [a.jsonl]}
mode: {summary: deterministic}
publish: {to: none}
`

// parsed gives the problems of a text in brief.
func parsed(t *testing.T, text string, set ...string) []string {
	t.Helper()
	_, err := spec.Parse("job.yaml", []byte(text), set)
	return brief(problems(t, err))
}

func TestWholeFile(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "0:0  empty"},
		{"blank", "\n \n", "0:0  empty"},
		{"only comments", "# nothing\n# here\n", "0:0  empty"},
		{"only a byte order mark", "\ufeff", "0:0  empty"},
		{"list", "- version: 1\n", "1:1  not-a-mapping"},
		{"text", "\nversion\n", "2:1  not-a-mapping"},
		{"null document", "---\n", "0:0  empty"},
		{"too large", "#" + strings.Repeat("x", 1<<20), "0:0  too-large"},
		{"utf-16", "\xff\xfev\x00", "1:1  not-text"},
		{"invalid utf-8", "version: 1\nkind: é\xc3\n", "2:8  not-text"},
		{"nul", "version: 1\nkind: \x00", "2:7  not-text"},
		{"escape character", "a: \x1b[31m", "1:4  not-text"},
		{"line separator", "a: b\u2028c: d", "1:5  not-text"},
		{"next line", "a: b\u0085c: d", "1:5  not-text"},
		{"lone carriage return", "a: b\rc: d\r\n", "1:5  not-text"},
		{"second byte order mark", "\ufeff\ufeffa: b", "1:1  not-text"},
		{"direction mark", "a: \u202eb", "1:4  not-text"},
		{"two documents", small + "---\n" + small, "6:1  more-than-one-document"},
		{"empty second document", small + "---\n", "6:1  more-than-one-document"},
		{"second document without marker", small + "...\n---\na: b\n", "7:1  more-than-one-document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff([]string{c.want}, parsed(t, c.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAccepted(t *testing.T) {
	for _, text := range []string{
		small,
		"\ufeff" + small,
		strings.ReplaceAll(small, "\n", "\r\n"),
		"---\n" + small + "...\n",
		"# a comment\n\n" + small + "# another",
		small + "name: \"灯籠 \\u00e9\"\n",
		small + "name: 2.1.332\n",
		small + "name: yesterday\n",
		small + "name: 15m\n",
		small + "name: >-\n  two\n  words\n",
	} {
		if got := parsed(t, text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The parser's own lines are often wrong; these are where a person looks.
func TestSyntaxLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1\nb: [1, 2\nc: 3\n", "2:0  syntax"},
		{"a: 1\nfoo\nbar: 1\n", "2:0  syntax"},
		{"a: 1\nb: c: d\ne: 1\n", "2:0  syntax"},
		{"a:\n\tb: 1\n", "2:1  syntax"},
		{"a:\n  b: 1\n  \tc: 1\n", "3:3  syntax"},
		{"a: 1\nb: 'x\nc: 1\n", "2:0  syntax"},
		{"a:\n  b: 1\n c: 2\nd: 1\n", "3:0  syntax"},
		{"- a\nb: 1\n", "2:0  syntax"},
		{"a: 1\nb: @b\n", "2:0  syntax"},
		{"a: \"\\q\"\n", "1:0  syntax"},
		{" a: 1\nb: 2\n", "2:0  syntax"},
		{"a: 1\nb: *c\n", "2:0  anchor-or-alias"},
		{strings.Repeat("[", 20000), "1:0  syntax"},
	} {
		if d := cmp.Diff([]string{c.want}, parsed(t, c.text)); d != "" {
			t.Errorf("%.40q: %s", c.text, d)
		}
	}
}

func TestStructure(t *testing.T) {
	bomb := "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"duplicate", "name: a\nname: b\n", []string{"7:1 name duplicate-key"}},
		{"duplicate, quoted", "\"name\": a\n'name': b\n", []string{"7:1 name duplicate-key"}},
		{"duplicate, nested", "run: {workers: 1, workers: 1}\n", []string{"6:19 run.workers duplicate-key"}},
		{"alias to itself", "run: &r [*r]\n", []string{"6:6 run anchor-or-alias"}},
		{"bomb", bomb, []string{"6:1 a unknown-field", "6:4 a anchor-or-alias", "7:1 b unknown-field", "7:4 b anchor-or-alias",
			"8:1 c unknown-field", "8:5 c[0] anchor-or-alias", "8:9 c[1] anchor-or-alias"}},
		{"merge", "run:\n  <<: {workers: 1}\n", []string{"7:3 run merge-key"}},
		{"quoted merge", "\"<<\": 1\n", []string{"6:1 << unknown-field"}},
		{"binary", "name: !!binary aGk=\n", []string{"6:7 name tag"}},
		{"own tag", "name: !env HOME\n", []string{"6:7 name tag"}},
		{"tagged text", "name: !!str 12\n", []string{"6:7 name tag"}},
		{"tagged mapping", "run: !!map\n  workers: 1\n", []string{"6:6 run tag"}},
		{"number as key", "1: x\n", []string{"6:1  key-not-text"}},
		{"boolean as key", "true: x\nyes: x\n", []string{"6:1  key-not-text", "7:1  key-not-text"}},
		{"null as key", "~: x\n", []string{"6:1  key-not-text"}},
		{"list as key", "[a]: x\n", []string{"6:1  key-not-text"}},
		{"mapping as key", "? {a: b}\n: x\n", []string{"6:3  key-not-text"}},
		{"escape in key", "\"a\\e[31m\": x\n", []string{"6:1  key-not-text"}},
		{"long key", strings.Repeat("k", 101) + ": x\n", []string{"6:1  key-not-text"}},
		{"escape in value", "name: \"a\\0b\"\n", []string{"6:7 name not-text"}},
		{"deep", "name: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", []string{
			"6:7 name wrong-type", "6:39 name" + strings.Repeat("[0]", 32) + " too-deep"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parsed(t, small+c.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDuplicateNamesBothPlaces(t *testing.T) {
	_, err := spec.Parse("job.yaml", []byte(small+"run: {workers: 1, workers: 2}\n"), nil)
	ps := problems(t, err)
	if len(ps) != 1 || ps[0].Line != 6 || ps[0].Col != 19 || !strings.Contains(ps[0].What, "6:7") {
		t.Errorf("got %+v", ps)
	}
}

// A scalar that another reader could misunderstand is refused wherever text is
// wanted, and is fine in quotes.
func TestImplicitTypes(t *testing.T) {
	excluding := func(items []string, quote string) string {
		text := "version: 1\nkind: compress\nmode: {summary: deterministic}\npublish: {to: none}\ninput:\n  sessions: [a]\n  exclude:\n"
		for _, s := range items {
			text += "    - " + quote + s + quote + "\n"
		}
		return text
	}
	refused := func(items []string, code string) (want []string) {
		for i := range items {
			want = append(want, fmt.Sprintf("%d:7 input.exclude[%d] %s", 8+i, i, code))
		}
		return want
	}
	odd := strings.Fields(`yes Yes YES no on Off y N True TRUE False ~ Null NULL
		2026-01-02 2026-1-2 2026-01-02T03:04:05Z 0640 007 00 1_2 1_000.5 +5 .5 5. +.5 0x1F 0X1f 0o17 0b101 -0x1
		12:30 190:20:30 .inf -.Inf +.INF .nan .NaN -01`)
	if d := cmp.Diff(refused(odd, "implicit-type"), parsed(t, excluding(odd, ""))); d != "" {
		t.Error(d)
	}
	other := strings.Fields(`1 0 -1 1.5 3e-1 true false null`)
	if d := cmp.Diff(refused(other, "wrong-type"), parsed(t, excluding(other, ""))); d != "" {
		t.Error(d)
	}
	for _, quote := range []string{`"`, `'`} {
		if got := parsed(t, excluding(append(odd, other...), quote)); len(got) > 0 {
			t.Errorf("in quotes: %v", got)
		}
	}
	if d := cmp.Diff([]string{"6:6 name wrong-type"}, parsed(t, small+"name:\n")); d != "" {
		t.Errorf("empty: %s", d)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		field, value, code string
	}{
		{"ratio", "0.30", ""}, {"ratio", "3e-1", ""}, {"ratio", "3E-1", ""}, {"ratio", "0.05", ""}, {"ratio", "0.95", ""},
		{"ratio", "0.049", "out-of-range"}, {"ratio", "0.951", "out-of-range"}, {"ratio", "1", "out-of-range"},
		{"ratio", `"0.3"`, "wrong-type"}, {"ratio", ".3", "implicit-type"}, {"ratio", "[]", "wrong-type"},
		{"ratio", "1e999", "out-of-range"}, {"ratio", "1e-999999999", "out-of-range"}, {"ratio", "0e-999999999", "out-of-range"},
		{"ratio", "0.3" + strings.Repeat("0", 50), "out-of-range"},
		{"bytes", "0", ""}, {"bytes", "9007199254740991", ""}, {"bytes", "9007199254740992", "out-of-range"},
		{"bytes", "12345678901234567890", "out-of-range"}, {"bytes", "-1", "out-of-range"}, {"bytes", "1e3", "wrong-type"},
		{"bytes", "1.5", "wrong-type"}, {"bytes", "1.0", "wrong-type"}, {"bytes", "true", "wrong-type"},
		{"tokens", "0", ""}, {"tokens", "1", "out-of-range"}, {"tokens", "999", "out-of-range"}, {"tokens", "1000", ""},
		{"tokens", "-1", "out-of-range"},
		{"keepRecords", "0", ""}, {"keepRecords", "-1", "out-of-range"},
		{"summaryChars", "4000", ""}, {"summaryChars", "3999", "out-of-range"},
		{"packChars", "10000", ""}, {"packChars", "9999", "out-of-range"},
		{"packTokens", "10000", ""}, {"packTokens", "9999", "out-of-range"},
	} {
		var want []string
		if c.code != "" {
			want = []string{"6:" + columnAfter("budgets: {"+c.field+": ") + " budgets." + c.field + " " + c.code}
		}
		got := parsed(t, small+"budgets: {"+c.field+": "+c.value+"}\n")
		if d := cmp.Diff(want, got, cmpEmpty); d != "" {
			t.Errorf("%s %s: %s", c.field, c.value, d)
		}
	}
}
