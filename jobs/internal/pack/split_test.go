package pack

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/topology"
)

func anywhere(int) bool { return true }

// TestSplitOfAnyFold: the parts are the fold in order, each begins where it may
// and gives a pack; where there is no division, one turn alone is too large.
func TestSplitOfAnyFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMarked(t, "@")
		src := open(t, m.Bytes())
		r := request(len(src.Records))
		barred := rapid.IntRange(0, len(r.Fold)).Draw(t, "barred")
		legal := func(pos int) bool { return pos != barred }
		base := mustBuild(t, src, request(0))
		r.Binding.PackChars = base.Chars + rapid.IntRange(0, 8_000).Draw(t, "chars")
		r.Binding.PackTokens = base.Tokens + rapid.IntRange(0, 3_000).Draw(t, "tokens")
		parts, err := Split(src, r, legal)
		if e, ok := errors.AsType[*TooLarge](err); ok {
			checkTurn(t, e, r, func(fold []int) error {
				r.Fold = fold
				_, err := Build(src, r)
				return err
			})
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if all := slices.Concat(parts...); !slices.Equal(all, r.Fold) {
			t.Fatalf("the parts are %v", parts)
		}
		pos := 0
		for _, fold := range parts {
			if first := fold[0]; pos > 0 && (!topology.Spoken(src.Index, first) || !legal(pos)) {
				t.Fatalf("a part begins at L%d", first+1)
			}
			pos += len(fold)
			part := r
			part.Fold = fold
			if _, err := Build(src, part); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkTurn checks the refusal of one turn: a pack of it is refused with the same
// sizes.
func checkTurn(t *rapid.T, e *TooLarge, r Request, build func([]int) error) {
	other, ok := errors.AsType[*TooLarge](build(r.Fold[e.First-1 : e.Last]))
	if !ok || !e.Turn || other.Turn || other.Chars != e.Chars || other.Tokens != e.Tokens {
		t.Fatalf("%v, alone %v", e, other)
	}
	if !strings.HasPrefix(e.Error(), "one turn (L") || strings.Contains(e.Error(), "staged") {
		t.Fatal(e)
	}
}

func TestSplitTakesWhatFits(t *testing.T) {
	var lines []string
	for range 4 {
		lines = append(lines, user(`"`+strings.Repeat("Words. ", 100)+`"`), answer(`{"type":"text","text":"Yes."}`))
	}
	src := open(t, []byte(strings.Join(lines, "\n")))
	r := request(len(lines))
	half := request(4)
	_, err := Build(src, func() Request { half.Binding.PackChars = 0; return half }())
	e, ok := errors.AsType[*TooLarge](err)
	if !ok {
		t.Fatal(err)
	}
	for _, tt := range []struct{ more, parts int }{{0, 2}, {-1, 4}, {1 << 20, 1}} {
		r.Binding.PackChars = e.Chars + tt.more
		if parts, err := Split(src, r, anywhere); err != nil || len(parts) != tt.parts {
			t.Errorf("%+d characters: %v, %v", tt.more, parts, err)
		}
	}
	if parts, err := Split(src, request(0), anywhere); err != nil || len(parts) != 0 {
		t.Error(parts, err)
	}
	r.Parts = []Part{{8, "x"}}
	if _, err := Split(src, r, anywhere); err == nil {
		t.Error("parts were split")
	}
}
