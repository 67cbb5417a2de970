package compress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/spec"
)

// folding opens a session of testdata for a job with some budgets.
func folding(t *testing.T, session string, set ...string) *fold {
	t.Helper()
	data, err := os.ReadFile("../../testdata/" + session)
	if err != nil {
		t.Fatal(err)
	}
	fs := enginetest.Memory()
	if err := afero.WriteFile(fs, "/s.jsonl", data, 0o600); err != nil {
		t.Fatal(err)
	}
	job, err := spec.Parse("/job.yaml", []byte(`{version: 1, kind: compress, input: {sessions: [s.jsonl]}, mode: {summary: deterministic}, publish: {to: none}}`), set)
	if err != nil {
		t.Fatal(err)
	}
	env := step.Env{FS: fs, Progress: func(int64, int64) {}, Cleanup: func(func() error) {}}
	f := &fold{env: env, job: job, item: step.Item{ID: "s", Source: "/s.jsonl"}}
	if err := f.selected(context.Background()); err != nil {
		t.Fatal(err)
	}
	return f
}

// size is what a gate measures for a cut.
type size struct {
	cut           int
	tokens, bytes int64
}

// sizes measures every legal cut, each from the start.
func sizes(t *testing.T, f *fold) []size {
	t.Helper()
	s := &solver{f: f, cuts: partition.NewCuts(f.session.Index, f.sel), builder: summary.New(f.job.Budgets.SummaryChars)}
	var out []size
	for cut := s.cuts.Next(s.cuts.Forced); cut > 0; cut = s.cuts.Next(cut + 1) {
		sol, err := s.at(context.Background(), cut)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, size{cut, sol.tokens, sol.candidate.Size()})
	}
	return out
}

// The cut that is found is the first of all legal ones that meets the gates and
// the floor, whatever the ratio asks for below them; what is refused is refused
// with the smallest size that the floor allows, and raising the gate to it works.
func TestSolveEqualsTryingAll(t *testing.T) {
	for _, session := range []string{"sessions/2.1.332-edits.jsonl", "sessions/2.1.332-rewound.jsonl", "cases/34-session-lineage-a-b.jsonl", "cases/04-parallel-siblings-off-chain.jsonl"} {
		t.Run(session, func(t *testing.T) {
			probe := folding(t, session)
			all := sizes(t, probe)
			n := len(probe.sel.Active)
			for _, keep := range []int{1, 4, 9} {
				for _, z := range all {
					for _, gate := range [][]string{
						{fmt.Sprint("budgets.bytes=", z.bytes)}, {fmt.Sprint("budgets.bytes=", z.bytes-1)},
						{fmt.Sprint("budgets.tokens=", max(1000, z.tokens))},
						{fmt.Sprint("budgets.tokens=", max(1000, z.tokens-100)), fmt.Sprint("budgets.bytes=", z.bytes-200)},
					} {
						set := append([]string{fmt.Sprint("budgets.keepRecords=", keep), "budgets.ratio=0.95", "budgets.tokens=0"}, gate...)
						check(t, folding(t, session, set...), all, n, keep)
					}
				}
			}
		})
	}
}

func check(t *testing.T, f *fold, all []size, n, keep int) {
	t.Helper()
	b := f.job.Budgets
	room := int64(b.Ratio * float64(partition.NewCuts(f.session.Index, f.sel).Bytes(0)))
	cuts := partition.NewCuts(f.session.Index, f.sel)
	first, last := cuts.Within(-1, room), max(n-keep, cuts.Next(cuts.Forced))
	if cuts.Forced <= 1 {
		last = n - keep
	}
	want := 0
	for _, z := range all {
		meets := (b.Tokens == 0 || z.tokens <= int64(b.Tokens)) && (b.Bytes == 0 || z.bytes <= b.Bytes)
		if z.cut >= first && z.cut <= last && meets {
			want = z.cut
			break
		}
	}
	_, sol, err := f.solve(context.Background())
	what := fmt.Sprintf("tokens %d, bytes %d, keep %d", b.Tokens, b.Bytes, keep)
	switch {
	case want > 0 && err != nil:
		t.Errorf("%s: refused, the cut %d meets it: %v", what, want, err)
	case want > 0 && sol.cut != want:
		t.Errorf("%s: cut %d, want %d", what, sol.cut, want)
	case want == 0 && err == nil && sol.cut >= first:
		t.Errorf("%s: cut %d, nothing meets it", what, sol.cut)
	case want == 0 && err != nil:
		hint(t, f, err, what)
	}
}

// hint follows the advice of a refused gate.
func hint(t *testing.T, f *fold, err error, what string) {
	t.Helper()
	var r *step.Refusal
	if !errors.As(err, &r) {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Class, "gate-") {
		return
	}
	again := *f
	job := *f.job
	again.job, again.warnings = &job, nil
	for name, budget := range map[string]func(int64){
		"tokens": func(n int64) { job.Budgets.Tokens = int(n) },
		"bytes":  func(n int64) { job.Budgets.Bytes = n },
	} {
		var value int64
		if _, advice, ok := strings.Cut(r.Next, "budgets."+name+" to "); ok {
			if _, err := fmt.Sscan(advice, &value); err != nil {
				t.Fatalf("%s: no advice in %q", what, r.Next)
			}
			budget(value)
		}
	}
	if _, _, err := again.solve(context.Background()); err != nil {
		t.Errorf("%s: the advice %q does not help: %v", what, r.Next, err)
	}
}
