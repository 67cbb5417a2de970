package pack

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// A squeezed text is its words with single spaces between.
func TestSqueezed(t *testing.T) {
	var s squeezed
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.SampledFrom([]string{" ", "\n\t", "\u2028", "\u00a0", "\x1e", "\x00", "é", "好", "😀", "x"}),
			rapid.StringMatching(`[a-z]{1,400}`), rapid.String(),
		)
		text := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "text"), rapid.SampledFrom([]string{"", " ", "\t\n "}).Draw(t, "gap"))
		words := strings.FieldsFunc(text, func(r rune) bool { return space(r) || unicode.IsControl(r) })
		want := []rune(strings.Join(words, " "))
		total, shown := len(want), want
		if total > maxShown {
			shown = []rune(strings.TrimRight(string(want[:cutShown]), " "))
		}
		s.read([]byte(text), true)
		if s.total != total || string(s.shown()) != string(shown) {
			t.Fatalf("%d %q, want %d %q", s.total, s.shown(), total, string(shown))
		}
		s.read([]byte(text), false)
		if string(s.shown()) != string(shown) || (s.total > maxShown) != (total > maxShown) {
			t.Fatalf("without count %d %q", s.total, s.shown())
		}
	})
}

func TestMeasure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		if got := measure([]byte(text)); got.chars != utf8.RuneCountInString(text) || got.weight.Tokens() != tokens.Text(text) {
			t.Fatalf("%q: %v", text, got)
		}
	})
}
