package canon_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/spec/canon"
)

func TestJSON(t *testing.T) {
	n := 7
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, `null`},
		{(*int)(nil), `null`},
		{&n, `7`},
		{true, `true`},
		{-12, `-12`},
		{uint64(math.MaxUint64), `18446744073709551615`},
		{0.3, `0.3`},
		{1.0, `1.0`},
		{-0.5, `-0.5`},
		{math.Copysign(0, -1), `-0.0`},
		{1e15, `1000000000000000.0`},
		{1e16, `1e+16`},
		{1.5e300, `1.5e+300`},
		{0.0001, `0.0001`},
		{0.00001, `1e-05`},
		{2.0 / 3, `0.6666666666666666`},
		{"a\"\\/\b\t\n\f\r\x00\x1f\x7f<&>", `"a\"\\/\b\t\n\f\r\u0000\u001f` + "\x7f" + `<&>"`},
		{"é\u2028\U0001F600", "\"é\u2028\U0001F600\""},
		{[]any{}, `[]`},
		{[]int{3, 1}, `[3,1]`},
		{map[string]any{}, `{}`},
		{map[string][]int{"b": {2}, "a": nil}, `{"a":[],"b":[2]}`},
		{map[string]string{"10": "x", "9": "y"}, `{"10":"x","9":"y"}`},
		// UTF-16 order would put U+1F600 before U+FF01.
		{map[string]int{"\uff01": 1, "\U0001F600": 2}, "{\"\uff01\":1,\"\U0001F600\":2}"},
	} {
		got, err := canon.JSON(c.in)
		if err != nil || string(got) != c.want {
			t.Errorf("JSON(%#v) = %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, v := range []any{
		math.NaN(), math.Inf(-1), "\xff", map[string]int{"\xc3": 1}, map[int]int{1: 1},
		[]any{struct{}{}}, map[string]any{"a": make(chan int)},
	} {
		if got, err := canon.JSON(v); err == nil {
			t.Errorf("JSON(%#v) = %s, want an error", v, got)
		}
	}
}

// The digests below were checked against an independent implementation.
func TestKnownDigests(t *testing.T) {
	if got := canon.LineSet(nil); got != "e3b0c44298fc1c14" {
		t.Errorf("empty line set: %s", got)
	}
	empty, _ := canon.JSON(map[string]string{})
	if got := canon.Full(empty); got != "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" {
		t.Errorf("empty claim map: %s", got)
	}
}

func TestRequestDigest(t *testing.T) {
	request := map[string]any{
		"schema":                         11,
		"engine":                         "v10",
		"targetRatio":                    0.30,
		"targetEstimatedTokens":          nil,
		"minRecentRecords":               6,
		"summaryCharBudget":              4000,
		"preserveActiveChain":            true,
		"maxPostPromptExtension":         0,
		"maxFileHistorySnapshots":        80,
		"checkpointPolicy":               "active-correlated",
		"resumeLeafOverride":             nil,
		"modelPackCharBudget":            500000,
		"modelPackEstimatedTokenBudget":  150000,
		"preservePriorSummariesVerbatim": false,
		"handoffSummarySha256":           nil,
		"resources": map[string]string{
			"importanceWordsSha256": "b3cca035ac3d5ce6af421ad86d2a56e55f26f57f41c786f59c19c165e4fc67d8",
			"topicPatternsSha256":   "d4a63186d72f82cc26d0aa84e3ce3213957de55fb4a8e1493547be626b791012",
			"summaryTemplateSha256": "f1f2cd6080f012ee3070127ecd20df15aa069e6da828bc0d6956f2e4e8d3022c",
		},
	}
	b, err := canon.JSON(request)
	if err != nil {
		t.Fatal(err)
	}
	const want = "fd9c51dafd2a4a3ebe2717376acf794436c3d53938bf6e47b9166ce456e6b443"
	if got := canon.Full(b); got != want {
		t.Errorf("got %s, want %s, for %s", got, want, b)
	}
}

func TestLineSet(t *testing.T) {
	want := canon.Half([]byte("3,12,40"))
	in := []int{40, 3, 12, 3}
	if got := canon.LineSet(in); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !cmp.Equal(in, []int{40, 3, 12, 3}) {
		t.Errorf("the argument was changed: %v", in)
	}
}

// Whatever is written is JSON of the same value.
func TestJSONReadsBack(t *testing.T) {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny[bool]),
		rapid.Map(rapid.Float64(), toAny[float64]), rapid.Map(rapid.String(), toAny[string]),
	)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.Map(rapid.SliceOf(leaf), toAny[[]any])).Draw(t, "value")
		b, err := canon.JSON(want)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		same := map[string]any{}
		for k, v := range want {
			same[k] = v
		}
		if d := cmp.Diff(same, got); d != "" {
			t.Fatal(d)
		}
	})
}

func toAny[T any](v T) any { return v }

func BenchmarkJSON(b *testing.B) {
	claims := map[string]string{}
	for _, k := range strings.Fields("1 20 300 4000") {
		claims[k] = strings.Repeat("the lamps are sorted by shelf\n", 100)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.JSON(claims); err != nil {
			b.Fatal(err)
		}
	}
}
