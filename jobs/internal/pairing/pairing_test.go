package pairing_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/pairing"
	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

type builder = sessiontest.Builder

var (
	with   = sessiontest.With
	text   = sessiontest.Text
	output = sessiontest.Output
)

func use(id string) sessiontest.Option { return sessiontest.Use(id, "Bash", 1) }

func read(t *testing.T, data []byte) *transcript.Index {
	t.Helper()
	x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// rules are the findings as "rule line", in order.
func rules(r pairing.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s %d", f.Rule, f.Line))
	}
	return out
}

func TestRules(t *testing.T) {
	const partial = "partial-tool-results"
	// All records are active, in the order written; parents do not matter here.
	tests := []struct {
		name    string
		build   func(b *builder)
		want    []string
		partial int
	}{
		{"no tools", func(b *builder) { b.User("u1", "", "x"); b.Assistant("a1", "u1", "m1", text("x")) }, nil, 0},
		{"a pair", func(b *builder) { b.Assistant("k", "", "m1", use("t1")); b.Result("r", "k", "t1", "x") }, nil, 0},
		{"an error row of the client between", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Assistant("e", "k", "m2", text("API error"), with("isApiErrorMessage", true), with("message.model", "<synthetic>"))
			b.Result("r", "e", "t1", "x")
		}, nil, 0},
		{"side records between", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Attachment("t", "k", "hook")
			b.System("s", "t", "info")
			b.Progress("p", "s")
			b.Result("r", "p", "t1", "x")
		}, nil, 0},
		{"parallel fragments, then results", func(b *builder) {
			b.Assistant("k1", "", "m1", use("t1"))
			b.Assistant("k2", "k1", "m1", use("t2"))
			b.Result("r2", "k2", "t2", "x")
			b.Result("r1", "k1", "t1", "x")
		}, nil, 0},
		{"use and result in turns", func(b *builder) {
			b.Assistant("k1", "", "m1", use("t1"))
			b.Result("r1", "k1", "t1", "x")
			b.Assistant("k2", "r1", "m1", use("t2"))
			b.Result("r2", "k2", "t2", "x")
		}, nil, 0},
		{"results in one record", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"), use("t2"))
			b.Result("r", "k", "t2", "x", output("t1", "x"))
		}, nil, 0},
		{"text after the result", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Result("r", "k", "t1", "x", text("x"))
		}, nil, 0},
		{"words between, in the same message", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.User("u", "k", "x")
			b.Result("r", "u", "t1", "x")
		}, nil, 0},
		{"call at the end", func(b *builder) { b.Assistant("k", "", "m1", use("t1")) }, []string{pairing.UseWithoutResult + " 1"}, 0},
		{"call before a prompt", func(b *builder) { b.Assistant("k", "", "m1", use("t1")); b.User("u", "k", "x") }, []string{pairing.UseWithoutResult + " 1"}, 0},
		{"both calls open", func(b *builder) {
			b.Assistant("k1", "", "m1", use("t1"))
			b.Assistant("k2", "k1", "m1", use("t2"))
		}, []string{pairing.UseWithoutResult + " 1", pairing.UseWithoutResult + " 2"}, 0},
		{"one call of two open", func(b *builder) {
			b.Assistant("k1", "", "m1", use("t1"))
			b.Assistant("k2", "k1", "m1", use("t2"))
			b.Result("r2", "k2", "t2", "x")
		}, []string{partial + " 1"}, 1},
		{"calls of two messages, one open", func(b *builder) {
			b.Assistant("k1", "", "m1", use("t1"))
			b.Assistant("k2", "k1", "m2", use("t2"))
			b.Result("r2", "k2", "t2", "x")
		}, []string{pairing.UseWithoutResult + " 1"}, 0},
		{"without a message id nothing is merged", func(b *builder) {
			b.Assistant("k1", "", "", use("t1"))
			b.Assistant("k2", "k1", "", use("t2"))
			b.Result("r", "k2", "t1", "x", output("t2", "x"))
		}, []string{pairing.ResultMisplaced + " 3"}, 0},
		{"result first", func(b *builder) { b.Result("r", "", "t1", "x") }, []string{pairing.ResultWithoutUse + " 1"}, 0},
		{"result of an unknown call", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Result("r", "k", "t1", "x", output("t9", "x"))
		}, []string{pairing.ResultWithoutUse + " 2"}, 0},
		{"result before its call", func(b *builder) {
			b.Result("r", "", "t1", "x")
			b.Assistant("k", "r", "m1", use("t1"))
		}, []string{pairing.ResultWithoutUse + " 1"}, 0},
		{"an answer between", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Assistant("a", "k", "m2", text("x"))
			b.Result("r", "a", "t1", "x")
		}, []string{pairing.ResultMisplaced + " 3"}, 0},
		{"a turn between", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.User("u", "k", "x")
			b.Assistant("a", "u", "m2", text("x"))
			b.Result("r", "a", "t1", "x")
		}, []string{pairing.ResultMisplaced + " 4"}, 0},
		{"a message id that comes back after a prompt", func(b *builder) {
			b.Assistant("k1", "", "m1", use("t1"))
			b.User("u", "k1", "x")
			b.Assistant("k2", "u", "m1", use("t2"))
			b.Result("r", "k2", "t1", "x", output("t2", "x"))
		}, []string{pairing.ResultMisplaced + " 4"}, 0},
		{"an id used twice", func(b *builder) {
			b.Assistant("k1", "", "m1", use("t1"))
			b.Result("r1", "k1", "t1", "x")
			b.Assistant("k2", "r1", "m2", use("t1"))
			b.Result("r2", "k2", "t1", "x")
		}, []string{pairing.DuplicateUse + " 3", pairing.DuplicateResult + " 4"}, 0},
		{"an id twice in one record", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"), use("t1"))
			b.Result("r", "k", "t1", "x")
		}, []string{pairing.DuplicateUse + " 1"}, 0},
		{"two results", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Result("r1", "k", "t1", "x")
			b.Result("r2", "k", "t1", "x")
		}, []string{pairing.DuplicateResult + " 3"}, 0},
		{"an empty id of a call", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"), use(""))
			b.Result("r", "k", "t1", "x")
		}, []string{pairing.MalformedID + " 1", partial + " 1"}, 1},
		{"an empty id of a result", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Result("r", "k", "t1", "x", output("", "x"))
		}, []string{pairing.MalformedID + " 2"}, 0},
		{"a call in a user record", func(b *builder) { b.User("u", "", "x", use("t1")) }, []string{pairing.MalformedID + " 1"}, 0},
		{"a result in an assistant record", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Assistant("a", "k", "m2", output("t1", "x"))
		}, []string{pairing.MalformedID + " 2"}, 0},
		{"text before the result", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.User("r", "k", "x", output("t1", "x"))
		}, []string{pairing.TextBeforeResult + " 2"}, 0},
		{"records without a message are none", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1"))
			b.Assistant("broken", "k", "m2", with("message", nil))
			b.Result("r", "k", "t1", "x")
		}, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b builder
			tt.build(&b)
			x := read(t, b.Bytes())
			active := make([]int, len(x.Records))
			for i := range active {
				active[i] = i
			}
			report := pairing.Check(x, active)
			if got := rules(report); !slices.Equal(got, tt.want) || report.Partial != tt.partial {
				t.Errorf("findings %v, %d partial, want %v, %d", got, report.Partial, tt.want, tt.partial)
			}
			for _, f := range report.Findings {
				want := finding.Error
				if f.Rule == partial {
					want = finding.Warning
				}
				if f.Severity != want {
					t.Errorf("%s is a %s", f.Rule, f.Severity)
				}
			}
		})
	}
}

// A finding says where it is and which call it is about, for every call.
func TestFindingNamesTheCall(t *testing.T) {
	var b builder
	b.User("u", "", "x")
	b.Assistant("k", "u", "m1", use("toolu_a"), use("toolu_b"))
	data := b.Bytes()
	report := pairing.Check(read(t, data), []int{0, 1})
	if report.Uses != 2 || report.Results != 0 || len(report.Findings) != 2 {
		t.Fatalf("%+v", report)
	}
	for i, id := range []string{"toolu_a", "toolu_b"} {
		f := report.Findings[i]
		if !strings.Contains(f.Message, id) || f.ID != sessiontest.ID("k") || f.Line != 2 || f.Byte != int64(bytes.IndexByte(data, '\n')+1) {
			t.Errorf("finding %+v, want %s", f, id)
		}
	}
}

// The tool vectors hold what clients write, by healthy and by unlucky runs. Only
// those with a real fault may have a finding.
func TestVectors(t *testing.T) {
	faults := map[string][]string{
		"K07-parallel-3-one-missing":          {pairing.PartialResults},
		"K08-parallel-3-all-missing-but-last": {pairing.PartialResults, pairing.PartialResults},
		"K21-use-only-no-result-mid":          {pairing.UseWithoutResult},
		"K22-use-no-result-then-assistant":    {pairing.UseWithoutResult},
		"K25-result-before-use":               {pairing.ResultWithoutUse},
		"K26-dup-tooluse-id":                  {pairing.DuplicateUse, pairing.DuplicateResult},
		"K30-result-wrong-parent":             {pairing.PartialResults}, // the other call's result hangs elsewhere
		"K36-offchain-use-no-result":          {pairing.PartialResults},
		"K42-text-before-result":              {pairing.TextBeforeResult},
		"X66-offchain-result-by-rewind":       {pairing.DuplicateResult},
		"X65-no-msgid-fragments":              {pairing.UseWithoutResult}, // nothing ties the other call's result to the turn
		"Z05-use-dup-id-offchain":             {pairing.DuplicateUse, pairing.DuplicateResult},
	}
	dirs, err := filepath.Glob("../../../testdata/vectors/[KXZ]*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no vectors:", err)
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, "session.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			x := read(t, data)
			s := topology.Select(x, topology.Options{Mode: topology.Pointer})
			if !s.OK() {
				t.Skip(s.Status)
			}
			var got []string
			for _, f := range pairing.Check(x, s.Active).Findings {
				got = append(got, f.Rule)
			}
			slices.Sort(got)
			if want := slices.Sorted(slices.Values(faults[name])); !slices.Equal(got, want) {
				t.Errorf("findings %v, want %v", got, want)
			}
		})
	}
}

// Where nothing is missing, every call the client sent is one we know.
func TestSentCallsAreActive(t *testing.T) {
	for _, name := range []string{"K03-parallel-3-native", "K05-parallel-5-native", "K06-parallel-3-reverse", "K16-ptr-first-result", "X67-parallel-3-chain-through-middle", "X68-late-result-after-next"} {
		dir := filepath.Join("../../../testdata/vectors", name)
		data, err := os.ReadFile(filepath.Join(dir, "session.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Uses    []string `json:"toolUses"`
			Results []string `json:"toolResults"`
		}
		text, err := os.ReadFile(filepath.Join(dir, "2.1.197.json"))
		if err == nil {
			err = json.Unmarshal(text, &sent)
		}
		if err != nil {
			t.Fatal(err)
		}
		x := read(t, data)
		s := topology.Select(x, topology.Options{Mode: topology.Pointer})
		report := pairing.Check(x, s.Active)
		if report.Uses != len(sent.Uses) || report.Results != len(sent.Results) || len(report.Findings) > 0 {
			t.Errorf("%s: %d uses, %d results, findings %v; %d and %d were sent", name, report.Uses, report.Results, rules(report), len(sent.Uses), len(sent.Results))
		}
	}
}
