package client_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
)

const newest, older = "2.1.332", "2.1.197"

// told is a loss in short: why, which lines, how many messages and turns.
func told(losses []client.Loss) string {
	var out []string
	for _, l := range losses {
		out = append(out, fmt.Sprintf("%s %d-%d %d/%d", l.Reason, l.First, l.Last, len(l.Records), len(l.Turns)))
	}
	return strings.Join(out, ", ")
}

func TestLost(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"P01-linear", newest, ""},
		{"P14-br-noptr-tseq", newest, ""},           // a branch that was left is not lost
		{"N01-native", newest, ""},                  // nor what the client's compaction folded
		{"R15-sidechain-branch", newest, ""},        // nor a helper's chain
		{"V70-5300000-compact-ptr-pre", newest, ""}, // nor what stands before a boundary of the chain
		{"P22-br-ptr-before-newer", newest, "after-pointer 6-7 2/1"},
		{"W62-real-r22-killed-late-9turns", newest, ""},
		{"W62-real-r22-killed-late-9turns", older, "after-pointer 49-87 29/5"},
		{"X69-late-result-noptr", older, "after-pointer 5-5 1/1"},
		{"Y05-ptr-inner-late-result", newest, "after-pointer 7-7 1/1"},
		{"W05-gap-6", newest, "behind-break 1-2 2/1"},
		{"W04-gap-5.1", older, "behind-break 1-2 2/1"},
		{"D12-cycle-two-tips", newest, "behind-break 1-4 4/2"},
		{"E05-invalid-record-lost", newest, "damaged-line 3-3 0/0"},
		{"E06-torn-last", older, "damaged-line 5-5 0/0"},
		{"E22-pretty-json", newest, ""},
		{"E14-array-line", older, "whole-session 1-8 4/2"},
	} {
		_, r := resolve(t, session(t, filepath.Join(vectors, c.name)), c.version)
		if got := told(r.Lost()); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.name, c.version, got, c.want)
		}
	}
}

func TestTheSecondRecordOfALineIsLost(t *testing.T) {
	data, err := os.ReadFile("../../../../testdata/cases/11-glued-records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, r := resolve(t, data, newest)
	if got := told(r.Lost()); !strings.Contains(got, "second-on-a-line 10-10 1/1") {
		t.Error(got)
	}
}

// A boundary that lies on a branch that was left hides the conversation before it
// all the same, once the file is large.
func TestABoundaryOfALargeFileHidesWhatIsBeforeIt(t *testing.T) {
	build := func(filler int) []byte {
		var b st.Builder
		b.User("u1", "", "First.")
		b.Assistant("a1", "u1", "m1", st.Text("Answer."))
		b.Raw(`{"type":"filler","text":"` + strings.Repeat("x", filler) + `"}`)
		b.Boundary("b", "a1")
		b.Summary("s", "b", "Summary.")
		b.User("u2", "a1", "Second.")
		b.Assistant("a2", "u2", "m2", st.Text("Answer."))
		b.LastPrompt("a2")
		return b.Bytes()
	}
	for filler, want := range map[int]string{10: "", 6 << 20: "before-boundary 1-2 2/1"} {
		x, r := resolve(t, build(filler), newest)
		if got := told(r.Lost()); got != want {
			t.Errorf("%d bytes: %q, want %q", x.Size, got, want)
		}
	}
}

// Each deviation from the plain file is a finding.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name, version string
		rules         []string
	}{
		{"P01-linear", newest, nil},
		{"T05-parent-missing", newest, []string{"client-bridges"}},
		{"W05-gap-6", newest, []string{"client-cuts", "client-loses"}},
		{"K03-parallel-3-native", older, []string{"client-completes"}},
		{"N332-R03-result-on-rewound-branch", newest, []string{"client-completes", "client-revives"}},
		{"K21-use-only-no-result-mid", newest, []string{"client-drops"}},
		{"N332-E01-use-then-att", newest, []string{"client-adds", "client-adds"}},
		{"N01-native", newest, []string{"client-preserves"}},
		{"W62-real-r22-killed-late-9turns", newest, []string{"client-completes", "client-passes-pointer"}},
		{"P22-br-ptr-before-newer", newest, []string{"client-ends-at-pointer", "client-loses"}},
		{"P26-two-ptr-last-dangling", newest, []string{"client-ignores-pointer"}},
		{"N332-X03-explicit-ancestor", newest, []string{"client-cuts", "client-loses"}},
		{"P38-ptr-sidechain-leaf", newest, []string{"client-refuses"}},
	} {
		_, r := resolve(t, session(t, filepath.Join(vectors, c.name)), c.version)
		var got []string
		for _, f := range append(r.Findings(), client.Losses(r)...) {
			got = append(got, f.Rule)
			if f.Message == "" || strings.Contains(f.Message, "mk:") {
				t.Errorf("%s: message %q", c.name, f.Message)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.rules) {
			t.Errorf("%s, %s: %q, want %q", c.name, c.version, got, c.rules)
		}
	}
}

// Clients that lose the same are told together.
func TestLosses(t *testing.T) {
	for name, want := range map[string][]string{
		"P22-br-ptr-before-newer":         {"clients 2.1.332 and 2.1.197 do not bring back 2 messages (lines 6 to 7"},
		"W62-real-r22-killed-late-9turns": {"client 2.1.197 does not bring back 29 messages (lines 49 to 87"},
		"X33-ts-missing-leaf-noptr":       {"client 2.1.197 does not resume the session: the last message has no timestamp"},
		"P01-linear":                      nil,
	} {
		_, r := resolve(t, session(t, filepath.Join(vectors, name)), newest)
		others, err := r.Others()
		if err != nil {
			t.Fatal(err)
		}
		found := client.Losses(append([]*client.Resolution{r}, others...)...)
		if len(found) != len(want) {
			t.Errorf("%s: %+v, want %q", name, found, want)
			continue
		}
		for i, f := range found {
			if !strings.HasPrefix(f.Message, want[i]) {
				t.Errorf("%s: %q, want %q", name, f.Message, want[i])
			}
		}
	}
}

// Any file gives a resolution, and what it holds fits together.
func FuzzResolve(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(vectors, "*", "session.jsonl"))
	if err != nil || len(files) == 0 {
		f.Fatal("no vectors:", err)
	}
	for i, file := range files {
		if data := session(f, filepath.Dir(file)); i%20 == 0 && len(data) < 20<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, version := range client.Versions() {
			x, r := resolve(t, bytes.Clone(data), version)
			seen := map[int]bool{}
			for _, i := range r.Active {
				if seen[i] || !r.Holds(i) || x.Records[i].UUID == 0 {
					t.Fatalf("record %d stands twice, is not held, or has no uuid", i)
				}
				seen[i] = true
			}
			for _, i := range slices.Concat(r.Sent, r.Dropped, r.Line) {
				if !seen[i] && r.Refused == "" {
					t.Fatalf("record %d is not active", i)
				}
			}
			for _, l := range r.Lost() {
				for _, i := range l.Records {
					if seen[i] {
						t.Fatalf("record %d is active and lost", i)
					}
				}
			}
			r.Findings()
			client.Losses(r)
		}
	})
}
