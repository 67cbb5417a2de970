package validate_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/validate"
)

// The cases and what must be found in them, as "severity rule line".
func TestCases(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string // errors and warnings; notes are not listed
	}{
		{"01-healthy-baseline", nil},
		{"02-dangling-tool-use", []string{"error tool-use-without-result 12", "error tool-use-without-result 13"}},
		{"04-parallel-siblings-off-chain", nil},
		{"05-phantom-parent", []string{"warning client-loses 4", "warning client-cuts 11", "error missing-parent 11"}},
		{"06-parent-cycle", []string{"warning client-loses 4", "warning client-cuts 10", "error loop 12"}},
		{"08-duplicate-uuid-conflict", []string{"warning client-loses 4", "error duplicate-uuid 11", "error duplicate-uuid 12", "warning client-cuts 13"}},
		{"09-torn-last-line", []string{"error torn-final-line 14"}},
		{"11-glued-records", []string{"warning client-loses 10", "error glued-records 10"}},
		{"13-nul-block-middle", []string{"error nul-block 10"}},
		{"15-raw-newline-in-string", []string{"warning client-loses 4", "error split-record 12", "warning client-cuts 15"}},
		{"16-unicode-line-separators", nil},
		{"17-bom-crlf", nil},
		{"18-lone-surrogate", []string{"error lone-surrogate 11"}},
		{"21-latest-turn-thinking", nil},
		{"22-snapshot-id-collision", nil},
		{"23-progress-in-chain", nil},
		{"25-long-line-double-output", nil},
		{"27-rewound-branch", nil},
		{"29-no-last-prompt", []string{"warning absent 0"}},
		{"30-pointer-without-leaf", []string{"warning malformed 14"}},
		{"32-boundary-no-metadata", []string{"error boundary-metadata-missing 3"}},
		{"34-session-lineage-a-b", nil},
		{"35-session-lineage-a-b-a", []string{"error session-mismatch 12"}},
		{"36-sidechain-inline", nil},
		{"38-synthetic-error-rows", nil},
		{"39-unknown-types-and-fields", []string{"warning client-loses 4", "warning client-cuts 13"}},
		{"45-control-rows-only", []string{"warning absent 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := check(t, c.name)
			var told []string
			for _, f := range got.Findings {
				if f.Severity != finding.Note {
					told = append(told, fmt.Sprintf("%s %s %d", f.Severity, f.Rule, f.Line))
				}
			}
			if !slices.Equal(told, c.want) {
				t.Errorf("found %q, want %q", told, c.want)
			}
		})
	}
}

func TestALoneSurrogateIsFoundByItsPath(t *testing.T) {
	for _, f := range check(t, "18-lone-surrogate").Findings {
		if f.Rule != "lone-surrogate" {
			continue
		}
		if want := "message.content[0].input.questions[0].options[0].description"; f.Path != want {
			t.Errorf("path %q, want %q", f.Path, want)
		}
		return
	}
	t.Error("no finding")
}

func TestNotes(t *testing.T) {
	for name, want := range map[string]struct {
		rule string
		n    int
	}{
		"04-parallel-siblings-off-chain": {"parallel-siblings", 1},
		"22-snapshot-id-collision":       {"snapshot-id-collision", 4},
		"45-control-rows-only":           {"no-conversation", 1},
	} {
		n := 0
		for _, f := range check(t, name).Findings {
			if f.Rule == want.rule {
				n++
			}
		}
		if n != want.n {
			t.Errorf("%s: %d findings %s, want %d", name, n, want.rule, want.n)
		}
	}
}

func check(t *testing.T, name string) *validate.File {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "cases", name+".jsonl")
	got, err := validate.Check(context.Background(), fsys.OS(), path, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
