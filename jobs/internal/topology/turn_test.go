package topology_test

import (
	"testing"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
)

// parallel writes a turn of three calls in one message as clients do: the calls
// in a line, each result below its own call.
func parallel(b *builder, parent string) {
	b.User("u1", parent, "x")
	b.Assistant("k1", "u1", "m1", use("t1", "Bash", 1))
	b.Assistant("k2", "k1", "m1", use("t2", "Bash", 2))
	b.Assistant("k3", "k2", "m1", use("t3", "Bash", 3))
	b.Result("r1", "k1", "t1", "x")
	b.Result("r2", "k2", "t2", "x")
	b.Result("r3", "k3", "t3", "x")
}

func TestTurns(t *testing.T) {
	tests := []struct {
		name         string
		build        func(b *builder)
		walk, active string
	}{
		{"the conversation goes on below the last result", func(b *builder) {
			parallel(b, "")
			b.Assistant("a", "r3", "m2", sessiontest.Text("x"))
			b.LastPrompt("a")
		}, "u1 k1 k2 k3 r3 a", "u1 k1 k2 k3 r1 r2 r3 a"},
		{"below the first result", func(b *builder) {
			parallel(b, "")
			b.Assistant("a", "r1", "m2", sessiontest.Text("x"))
			b.LastPrompt("a")
		}, "u1 k1 r1 a", "u1 k1 k2 k3 r2 r3 r1 a"},
		{"pointer on a call", func(b *builder) { parallel(b, ""); b.LastPrompt("k3") }, "u1 k1 k2 k3 r3", "u1 k1 k2 k3 r1 r2 r3"},
		{"pointer on the first call", func(b *builder) { parallel(b, ""); b.LastPrompt("k1") }, "u1 k1 k2 k3 r3", "u1 k1 k2 k3 r1 r2 r3"},
		{"results after the pointer", func(b *builder) {
			b.User("u1", "", "x")
			b.Assistant("k1", "u1", "m1", use("t1", "Bash", 1))
			b.LastPrompt("k1")
			b.Result("r1", "k1", "t1", "x")
		}, "u1 k1 r1", "u1 k1 r1"},
		{"a message without an id", func(b *builder) {
			b.User("u1", "", "x")
			b.Assistant("k1", "u1", "", use("t1", "Bash", 1))
			b.Assistant("k2", "k1", "", use("t2", "Bash", 1))
			b.Result("r1", "k1", "t1", "x")
			b.Result("r2", "k2", "t2", "x")
			b.LastPrompt("r2")
		}, "u1 k1 k2 r2", "u1 k1 k2 r2"},
		{"a prompt below a call is another branch", func(b *builder) {
			parallel(b, "")
			b.User("x", "k1", "x")
			b.LastPrompt("r3")
		}, "u1 k1 k2 k3 r3", "u1 k1 k2 k3 r1 r2 r3"},
	}
	for _, tt := range tests {
		x := build(t, tt.build)
		s := topology.Select(x, pointer)
		if !s.OK() || names(x, s.Walk) != tt.walk || names(x, s.Active) != tt.active {
			t.Errorf("%s: %s\n  walk %s\nactive %s\n  want %s\n       %s", tt.name, s.Status, names(x, s.Walk), names(x, s.Active), tt.walk, tt.active)
		}
		if s.Leaf != s.Walk[len(s.Walk)-1] || s.Recovered != len(s.Active)-len(s.Walk) {
			t.Errorf("%s: leaf %d, %d recovered", tt.name, s.Leaf, s.Recovered)
		}
	}
}
