package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
	"github.com/precis-dev/precis/jobs/internal/tokens"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// TestPackOfAnyFold: nothing from outside the fold is in a pack, all mandatory
// texts are in it whole, no ceiling is exceeded, the header is that of what is
// there, and a summary can be written from it.
func TestPackOfAnyFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, other := drawMarked(t, "@"), drawMarked(t, "§")
		src := open(t, m.Bytes())
		r := drawRequest(t, len(src.Records))
		mustBuild(t, open(t, other.Bytes()), request(other.n))
		p := buildWithin(t, src, &r)
		checkPack(t, p, r)
		want := map[int]string{}
		for n := 1; n <= m.n; n++ {
			if whole, must := m.mandatory[n]; slices.Contains(r.Fold, n-1) && must {
				want[n] = whole
			}
		}
		checkTexts(t, p, want)
		for n := range max(m.n, other.n) {
			if strings.Contains(string(p.Text), other.of(n+1)) {
				t.Fatalf("L%d of another session is in the pack", n+1)
			}
			if !slices.Contains(r.Fold, n) && strings.Contains(string(p.Text), m.of(n+1)) {
				t.Fatalf("L%d is not folded and in the pack", n+1)
			}
		}
		checkSummary(t, p)
	})
}

// TestPackOfAnyParts: of records that were summarized in parts nothing is shown
// but the summaries.
func TestPackOfAnyParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMarked(t, "@")
		src := open(t, m.Bytes())
		r := drawRequest(t, m.n)
		want := map[int]string{}
		for end := 0; end < len(r.Fold); {
			end = rapid.IntRange(end+1, len(r.Fold)).Draw(t, "end")
			text := rapid.SampledFrom(fillers).Draw(t, "part") + fmt.Sprint("part to ", end)
			r.Parts = append(r.Parts, Part{end, text})
			want[r.Fold[end-1]+1] = text
		}
		p := buildWithin(t, src, &r)
		checkPack(t, p, r)
		checkTexts(t, p, want)
		for n := range m.n {
			if strings.Contains(string(p.Text), m.of(n+1)) {
				t.Fatalf("L%d is in the pack", n+1)
			}
		}
		checkSummary(t, p)
	})
}

// drawRequest draws what is folded of n records, in which order, with what
// handoff and under which ceilings.
func drawRequest(t *rapid.T, n int) Request {
	r := request(0)
	for i := range n {
		if rapid.Bool().Draw(t, "folded") {
			r.Fold = append(r.Fold, i)
		}
	}
	if rapid.Bool().Draw(t, "in another order") {
		r.Fold = rapid.Permutation(r.Fold).Draw(t, "fold")
	}
	if lines := rapid.SliceOfN(rapid.SampledFrom(fillers), 0, 5).Draw(t, "handoff"); len(lines) > 0 {
		r.Binding.Handoff = []byte(strings.Join(lines, "\n"))
	}
	r.Binding.PriorsVerbatim = rapid.Bool().Draw(t, "priors verbatim")
	r.Binding.PackChars, r.Binding.PackTokens = rapid.IntRange(0, 15_000).Draw(t, "chars"), rapid.IntRange(0, 5_000).Draw(t, "tokens")
	return r
}

// buildWithin makes a pack, under ceilings that are raised as far as needed.
func buildWithin(t *rapid.T, src *transcript.Source, r *Request) *Pack {
	p, err := Build(src, *r)
	if e, ok := errors.AsType[*TooLarge](err); ok {
		if e.Chars <= e.MaxChars && e.Tokens <= e.MaxTokens {
			t.Fatal(err)
		}
		r.Binding.PackChars, r.Binding.PackTokens = e.Chars, e.Tokens
		p, err = Build(src, *r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func checkPack(t *rapid.T, p *Pack, r Request) {
	text := string(p.Text)
	if chars := utf8.RuneCountInString(text); chars != p.Chars || chars > r.Binding.PackChars {
		t.Fatalf("%d characters, said %d, of %d", chars, p.Chars, r.Binding.PackChars)
	}
	if n := tokens.Text(text); n != p.Tokens || n > r.Binding.PackTokens {
		t.Fatalf("%d tokens, said %d, of %d", n, p.Tokens, r.Binding.PackTokens)
	}
	var shown []int
	for line := range strings.Lines(evidenceLines(p)) {
		var n int
		if _, err := fmt.Sscanf(line, "- L%d type=", &n); err == nil {
			shown = append(shown, n)
		}
	}
	if !slices.Equal(shown, p.Anchors) || !slices.IsSorted(shown) {
		t.Fatalf("shown %v, said %v", shown, p.Anchors)
	}
	for name, n := range p.Groups {
		if !slices.Contains(shown, n) {
			t.Fatalf("group %s: L%d is not shown", name, n)
		}
	}
	for _, o := range p.Omitted {
		if slices.Contains(shown, o.N) {
			t.Fatalf("L%d is shown and said to be left out: %s", o.N, o.Why)
		}
	}
}

// checkTexts holds the texts that the pack shows in full to those that it must
// show, and is said to.
func checkTexts(t *rapid.T, p *Pack, want map[int]string) {
	shown := map[int]string{}
	for line := range strings.Lines(evidenceLines(p)) {
		head, quoted, full := strings.Cut(line, " full_text_json=")
		if !full {
			continue
		}
		var n int
		var text string
		_, err := fmt.Sscanf(head, "- L%d type=", &n)
		if err := errors.Join(err, json.Unmarshal([]byte(quoted), &text)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		shown[n] = text
	}
	if !maps.Equal(shown, want) || !maps.Equal(p.Claims, want) {
		t.Fatalf("shown in full: %s\nsaid to be: %s", cmp.Diff(want, shown), cmp.Diff(want, p.Claims))
	}
}

// checkSummary has a summary written from the pack's text alone and checked
// against what the pack expects, at once and after that was stored.
func checkSummary(t *rapid.T, p *Pack) {
	if len(p.Anchors) == 0 {
		return // nothing that could be cited
	}
	text, err := mechanical.Write(p.Text)
	if err != nil {
		t.Fatal(err)
	}
	var stored modelsummary.Expect
	kept, err := json.Marshal(p.Expect())
	if err := errors.Join(err, json.Unmarshal(kept, &stored)); err != nil {
		t.Fatal(err)
	}
	for _, e := range []modelsummary.Expect{p.Expect(), stored} {
		s, problems := modelsummary.Check(text, e)
		if len(problems) > 0 {
			t.Fatalf("%s\n%s", modelsummary.Report(problems), text)
		}
		if s.Meta != p.Header || len(s.Coverage) != len(p.Claims) {
			t.Fatal(s)
		}
	}
}
