package topology_test

import (
	"testing"

	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
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
