package topology_test

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/topology"
)

func TestLineage(t *testing.T) {
	// Each letter is a record of that session, - one without a session id; the
	// last letter is the pointer's.
	tests := []struct{ sessions, pointer, want string }{
		{"AA", "A", ""},
		{"AA", "-", ""},
		{"A-A", "A", ""},
		{"-A", "A", ""},
		{"--", "A", ""},
		{"--", "-", ""},
		{"AA", "B", "authority-session-does-not-match-chain"},
		{"A-", "B", "authority-session-does-not-match-chain"},
		{"AB", "B", ""},
		{"AAABBC", "C", ""},
		{"A-B", "B", "mixed-session-lineage-has-missing-session-id"},
		{"AB-", "B", "mixed-session-lineage-has-missing-session-id"},
		{"AB-A", "-", "mixed-session-lineage-has-missing-session-id"},
		{"ABA", "A", "session-lineage-returns-to-an-earlier-session"},
		{"ABA", "-", "session-lineage-returns-to-an-earlier-session"},
		{"ABCB", "A", "session-lineage-returns-to-an-earlier-session"},
		{"AB", "-", "mixed-session-lineage-requires-authority-session"},
		{"AB", "A", "authority-session-does-not-match-final-lineage-session"},
		{"AB", "C", "authority-session-does-not-match-final-lineage-session"},
	}
	for _, tt := range tests {
		x := build(t, func(b *builder) {
			parent := ""
			for i, letter := range tt.sessions {
				name := fmt.Sprint("r", i)
				b.User(name, parent, "x", session(letter))
				parent = name
			}
			b.LastPrompt(parent, session(rune(tt.pointer[0])))
		})
		s := topology.Select(x, pointer)
		if s.Lineage.Reason != tt.want || s.OK() != (tt.want == "") || !s.OK() && s.Status != topology.SessionMismatch {
			t.Errorf("%s with pointer %s: %s, %q, want %q", tt.sessions, tt.pointer, s.Status, s.Lineage.Reason, tt.want)
		}
	}
}

func session(letter rune) option {
	if letter == '-' {
		return without("sessionId")
	}
	return inSession(string(letter))
}

func TestLineageFinal(t *testing.T) {
	x := build(t, func(b *builder) {
		b.User("u1", "", "x", inSession("A"))
		b.User("u2", "u1", "x", inSession("A"))
		b.User("u3", "u2", "x", inSession("B"))
		b.LastPrompt("u3", inSession("B"))
	})
	s := topology.Select(x, pointer)
	if !s.Lineage.Mixed() || s.Lineage.Final() != 2 || len(s.Lineage.Runs) != 2 {
		t.Errorf("lineage %+v", s.Lineage)
	}
}
