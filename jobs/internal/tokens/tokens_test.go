package tokens

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// The expected values are the format's published checks.
func TestText(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"a", 1},
		{"abcd", 1},
		{"abcde", 2},
		{"必须", 3},
		{"é", 1},
		{"😀", 2},
		{"→", 2},
		{"\u0301", 2},
		{strings.Repeat("a", 100), 25},
		{strings.Repeat("必", 10) + strings.Repeat("a", 10), 16},
	} {
		if got := Text(c.text); got != c.want {
			t.Errorf("Text(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

// floatText is the format's definition, literally.
func floatText(s string) int {
	if s == "" {
		return 0
	}
	var w float64
	ascii := 0
	for _, r := range s {
		switch {
		case r < 0x80:
			ascii++
		case unicode.Is(wide, r) || r >= 0x20000 && r <= 0x323AF:
			w += 1.3
		case r > 0xFFFF || unicode.In(r, unicode.S, unicode.M):
			w += 1.5
		default:
			w += 0.8
		}
	}
	return max(1, int(math.Trunc(w+float64(ascii)/4+0.999)))
}

func TestTextEqualsTheFloatDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 400, -1).Draw(t, "text")
		if got, want := Text(s), floatText(s); got != want {
			t.Fatalf("Text(%q) = %d, the float definition gives %d", s, got, want)
		}
	})
	long := strings.Repeat("é必→a", 50_000)
	if got, want := Text(long), floatText(long); got != want {
		t.Errorf("long text: %d, the float definition gives %d", got, want)
	}
}
