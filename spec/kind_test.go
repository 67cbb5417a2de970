package spec

import "testing"

// With several kinds, what the job says decides.
func TestLikelyKind(t *testing.T) {
	one, several := []string{"compress"}, []string{"compress", "validate"}
	for _, c := range []struct {
		root  map[string]any
		known []string
		want  string
	}{
		{map[string]any{}, one, "compress"},
		{map[string]any{}, several, ""},
		{map[string]any{"kind": nil}, one, "compress"},
		{map[string]any{"kind": "VALIDATE"}, several, "validate"},
		{map[string]any{"kind": "compression"}, several, "compress"},
		{map[string]any{"kind": "translate"}, one, ""},
		{map[string]any{"kind": []any{"compress"}}, one, ""},
		{map[string]any{"knd": "validate"}, several, "validate"},
		{map[string]any{"knd": "validat", "name": "compress"}, several, "validate"},
		{map[string]any{"knd": "translate"}, several, ""},
		{map[string]any{"knd": "translate"}, one, "compress"},
		{map[string]any{"kind": "translate", "knd": "compress"}, several, ""},
		{map[string]any{"name": "compress"}, several, ""},
	} {
		if got := likelyKind(c.root, c.known); got != c.want {
			t.Errorf("likelyKind(%v, %v) = %q, want %q", c.root, c.known, got, c.want)
		}
	}
}
