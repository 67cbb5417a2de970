package verify_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/compose"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/partition"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/jobs/internal/verify"
)

// session has a turn with two parallel calls; positions of the active records:
// 0 u1, 1 a1, 2 u2, 3 k1, 4 k2, 5 r1, 6 r2, 7 a2.
func session() []byte {
	var b st.Builder
	b.User("u1", "", "First.")
	b.Assistant("a1", "u1", "m1", st.Text("Done."))
	b.User("u2", "a1", "Second.")
	b.Assistant("k1", "u2", "m2", st.Use("t1", "Bash", map[string]any{"command": "true"}))
	b.Assistant("k2", "k1", "m2", st.Use("t2", "Bash", map[string]any{"command": "true"}))
	b.Result("r1", "k1", "t1", "one")
	b.Result("r2", "k2", "t2", "two")
	b.Assistant("a2", "r2", "m3", st.Text("Both done."))
	b.LastPrompt("a2")
	return b.Bytes()
}

// composed builds the candidate for a cut after change had its way.
func composed(t *testing.T, cut int, change func(*compose.Input)) (*compose.Candidate, *transcript.Source) {
	t.Helper()
	data := session()
	x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	sel := topology.Select(x, topology.Options{Mode: topology.Pointer})
	if len(sel.Active) != 8 {
		t.Fatalf("%d active records, want 8", len(sel.Active))
	}
	in := compose.Input{
		Source: transcript.NewSource(x, bytes.NewReader(data)), Selection: sel,
		Sets: partition.Split(x, sel, cut, partition.NoSnapshots, 0), Item: "sha256:0", Summary: "What was said before.",
	}
	change(&in)
	c, err := compose.Compose(in)
	if err != nil {
		t.Fatal(err)
	}
	return c, in.Source
}

func TestCandidate(t *testing.T) {
	for _, c := range []struct {
		what   string
		cut    int
		change func(*compose.Input)
		want   string // a rule that must be broken; "" for none
	}{
		{"as composed", 2, func(*compose.Input) {}, ""},
		{"cut before the last answer", 7, func(*compose.Input) {}, ""},
		{"a blank summary", 2, func(in *compose.Input) { in.Summary = " \n" }, "compact-pair"},
		{"a call without its result", 2, func(in *compose.Input) { in.Sets.Raw = without(in.Sets.Raw, 5, 6) }, "tool-use-without-result"},
		{"a turn that was cut", 5, func(*compose.Input) {}, "tool-result-without-use"},
		{"a result of a folded call", 6, func(*compose.Input) {}, "tool-result-without-use"},
		{"a record kept twice", 2, func(in *compose.Input) { in.Sets.Raw = append(slices.Clone(in.Sets.Raw), in.Sets.Raw[0]) }, "duplicate-uuid"},
		{"records out of order", 2, func(in *compose.Input) {
			in.Sets.Raw = slices.Clone(in.Sets.Raw)
			n := len(in.Sets.Raw)
			in.Sets.Raw[n-1], in.Sets.Raw[n-2] = in.Sets.Raw[n-2], in.Sets.Raw[n-1]
		}, "tool-result-misplaced"},
	} {
		t.Run(c.what, func(t *testing.T) {
			candidate, source := composed(t, c.cut, c.change)
			x, findings, err := verify.Candidate(candidate, source, false, newest, nothing)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if finding.HasErrors(findings) {
					t.Errorf("findings: %+v", findings)
				}
				if x.Size != candidate.Size() {
					t.Errorf("%d bytes read, the candidate has %d", x.Size, candidate.Size())
				}
				return
			}
			if !slices.ContainsFunc(findings, func(f finding.Finding) bool {
				return f.Rule == c.want && f.Severity == finding.Error
			}) {
				t.Errorf("no error %s in %+v", c.want, findings)
			}
		})
	}
}

func nothing(int64) error { return nil }

func without(list []int, drop ...int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(r int) bool { return slices.Contains(drop, r) })
}

// A source that changes after it was indexed shows in the kept records.
func TestCandidateOfAChangedSource(t *testing.T) {
	candidate, source := composed(t, 2, func(*compose.Input) {})
	changed := bytes.Replace(session(), []byte("Both done."), []byte("Both DONE."), 1)
	_, findings, err := verify.Candidate(candidate, transcript.NewSource(source.Index, bytes.NewReader(changed)), false, newest, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Rule == "kept-record" }) {
		t.Errorf("the change was not noticed: %+v", findings)
	}
}

func BenchmarkCandidate(b *testing.B) {
	var buf bytes.Buffer
	if _, err := st.Generate(&buf, 16<<20, 1); err != nil {
		b.Fatal(err)
	}
	x, err := transcript.Read(bytes.NewReader(buf.Bytes()), func(int64) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	sel := topology.Select(x, topology.Options{Mode: topology.Pointer})
	source := transcript.NewSource(x, bytes.NewReader(buf.Bytes()))
	cut := partition.NewCuts(x, sel).Next(len(sel.Active) / 10)
	c, err := compose.Compose(compose.Input{Source: source, Selection: sel, Sets: partition.Split(x, sel, cut, partition.NoSnapshots, 0), Item: "sha256:0", Summary: "What was said before."})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(c.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, findings, err := verify.Candidate(c, source, false, newest, nothing); err != nil || finding.HasErrors(findings) {
			b.Fatal(err, findings)
		}
	}
}

var newest, _ = client.Known("")
