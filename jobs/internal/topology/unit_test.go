package topology_test

import (
	"strings"
	"testing"

	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

func bash(id string) st.Option { return st.Use(id, "Bash", map[string]any{"command": "true"}) }

// A fragment may hang below a result that is itself beside the walk.
func TestAFragmentBelowARecoveredResult(t *testing.T) {
	var b st.Builder
	b.User("u1", "", "Go.")
	b.Assistant("k1", "u1", "m", bash("t1"))
	b.Assistant("k2", "k1", "m", bash("t2"))
	b.Result("r1", "k1", "t1", "one")
	b.Assistant("k3", "r1", "m", bash("t3"))
	b.Result("r3", "k3", "t3", "three")
	b.Result("r2", "k2", "t2", "two")
	b.Assistant("a2", "r2", "m2", st.Text("Done."))
	b.LastPrompt("a2")
	x := read(t, b.Bytes())
	s := topology.Select(x, pointer)
	if got, want := names(x, s.Active), "u1 k1 k2 k3 r1 r3 r2 a2"; got != want {
		t.Errorf("active %q, want %q", got, want)
	}
}

// The pointer is often written in the middle of a group; the turn is whole all
// the same, and ends with its physically last result.
func TestALeafWithinAGroup(t *testing.T) {
	group := func(leaf string) []byte {
		var b st.Builder
		b.User("u1", "", "Go.")
		b.Assistant("k1", "u1", "m", bash("t1"))
		b.Assistant("k2", "k1", "m", bash("t2"))
		b.Result("r2", "k2", "t2", "two")
		b.Result("r1", "k1", "t1", "one")
		b.LastPrompt(leaf)
		return b.Bytes()
	}
	for _, leaf := range []string{"k1", "k2", "r1", "r2"} {
		x := read(t, group(leaf))
		s := topology.Select(x, pointer)
		if got, want := names(x, s.Active), "u1 k1 k2 r2 r1"; got != want {
			t.Errorf("pointer on %s: active %q, want %q", leaf, got, want)
		}
		if got := names(x, []int{s.Leaf}); got != "r1" {
			t.Errorf("pointer on %s: leaf %s, want r1", leaf, got)
		}
	}
}

func TestPreserved(t *testing.T) {
	build := func(anchor string) []byte {
		var b st.Builder
		b.User("u1", "", "Old.")
		b.Assistant("a1", "u1", "m1", st.Text("Old answer."))
		b.User("u2", "a1", "Kept.")
		b.Assistant("a2", "u2", "m2", st.Text("Kept answer."))
		b.Boundary("b1", "a2", st.With("compactMetadata.preservedMessages", map[string]any{
			"anchorUuid": st.ID(anchor), "uuids": []string{st.ID("u2"), st.ID("a2")},
		}))
		b.Summary("s1", "b1", "Summary.")
		b.User("u3", "s1", "New.")
		b.LastPrompt("u3")
		return b.Bytes()
	}
	for _, c := range []struct{ anchor, uuids, head, tail, want string }{
		{"s1", "u2 a2", "", "", "b1 s1 u2 a2 u3"},
		{"b1", "u2 a2", "", "", "b1 u2 a2 s1 u3"},
		{"s1", "u2 gone", "", "", "b1 s1 u3"}, // a list that is not complete is no list
		{"gone", "u2 a2", "", "", "b1 s1 u3"}, // nor is one without an anchor
		{"s1", "", st.ID("u2"), st.ID("a2"), "b1 s1 u2 a2 u3"},
		{"s1", "", st.ID("a2"), st.ID("u2"), "b1 s1 u3"}, // the head is not above the tail
		{"s1", "", "", "", "b1 s1 u3"},
	} {
		x := read(t, build(c.anchor))
		p, err := topology.FindPreserved(x, func(int) (transcript.Compaction, error) {
			return transcript.Compaction{Kept: ids(c.uuids), Anchor: st.ID(c.anchor), Head: c.head, Tail: c.tail}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		o := pointer
		o.Preserved = p
		if got := names(x, topology.Select(x, o).Active); got != c.want {
			t.Errorf("%q below %s: active %q, want %q", c.uuids, c.anchor, got, c.want)
		}
	}
}

func ids(names string) []string {
	var out []string
	for _, n := range strings.Fields(names) {
		out = append(out, st.ID(n))
	}
	return out
}
