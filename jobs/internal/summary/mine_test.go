package summary

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPromises: no statement that belongs on a shelf is lost because its text
// was not split.
func TestPromises(t *testing.T) {
	pieces := append([]string{
		"**Decided:** we keep the old format for now, as it is.", "So the reason is clear, it fails in `f`.",
		"because", "instead", "decided", "7", "`x`", "__", "it crashes whenever the second reader starts",
	}, phrases...)
	joins := []string{" ", "\n", "\n\n", "\n- ", ". "}
	b := New(MinBudget)
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 12).Draw(t, "pieces") {
			text.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece") + rapid.SampledFrom(joins).Draw(t, "join"))
		}
		at := rapid.SampledFrom([]place{aside, beforeChange, thought}).Draw(t, "place")
		us := statements(text.String())
		for i, u := range us {
			if shelf, _ := b.judge(u, at, at == thought && i >= len(us)-3); shelf != nil && !b.promises(text.String(), at) {
				t.Fatalf("%q is lost", u.text)
			}
		}
	})
}
