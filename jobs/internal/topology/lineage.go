package topology

import (
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Lineage are the session ids along a chain. A branch file may carry its
// ancestor's records; ids that come back mean two processes wrote one file.
type Lineage struct {
	Runs []Run
	// Missing tells that some record of the chain carries no session id.
	Missing bool
	// Reason names the first rule broken, "" when the lineage is sound.
	Reason string
}

// Run is a stretch of the chain with one session id.
type Run struct {
	Session transcript.Sym
	Start   int // position in the walk
}

// Mixed reports a chain of several sessions.
func (l Lineage) Mixed() bool { return len(l.Runs) > 1 }

// Final is the position in the walk at which the last run starts.
func (l Lineage) Final() int {
	if len(l.Runs) == 0 {
		return 0
	}
	return l.Runs[len(l.Runs)-1].Start
}

func runs(x *transcript.Index, walk []int) (l Lineage) {
	for i, r := range walk {
		s := x.Records[r].Session
		if s == 0 {
			l.Missing = true
			continue
		}
		if n := len(l.Runs); n == 0 || l.Runs[n-1].Session != s {
			l.Runs = append(l.Runs, Run{s, i})
		}
	}
	return l
}

// lineage checks the session ids of the walk against the pointer's.
func (t *selector) lineage() Status {
	s, x := t.s, t.x
	s.Lineage = runs(x, s.Walk)
	authority := transcript.Sym(0)
	if s.Pointer >= 0 {
		authority = x.Records[s.Pointer].Session
	} else if s.Lineage.Mixed() {
		authority = x.Records[s.Leaf].Session
	}
	s.Lineage.Reason = s.Lineage.fault(authority, x.Records[s.Leaf].Session)
	if s.Lineage.Reason == "" {
		return ""
	}
	at := s.Walk[s.Lineage.Final()]
	s.fault(x, at, SessionMismatch, lineageText[s.Lineage.Reason], "precis inspect shows the session ids along the chain")
	return SessionMismatch
}

// fault names the first rule the lineage breaks.
func (l Lineage) fault(authority, leaf transcript.Sym) string {
	if len(l.Runs) == 0 {
		return ""
	}
	last := l.Runs[len(l.Runs)-1].Session
	if !l.Mixed() {
		if authority != 0 && authority != last {
			return "authority-session-does-not-match-chain"
		}
		return ""
	}
	switch {
	case l.Missing:
		return "mixed-session-lineage-has-missing-session-id"
	case l.returns():
		return "session-lineage-returns-to-an-earlier-session"
	case authority == 0:
		return "mixed-session-lineage-requires-authority-session"
	case authority != last:
		return "authority-session-does-not-match-final-lineage-session"
	case leaf != last:
		return "leaf-session-does-not-match-final-lineage-session"
	}
	return ""
}

func (l Lineage) returns() bool {
	seen := map[transcript.Sym]bool{}
	for _, r := range l.Runs {
		if seen[r.Session] {
			return true
		}
		seen[r.Session] = true
	}
	return false
}

var lineageText = map[string]string{
	"authority-session-does-not-match-chain":                 "the pointer belongs to another session than the records it leads to",
	"mixed-session-lineage-has-missing-session-id":           "the chain mixes sessions and holds records without a session id",
	"session-lineage-returns-to-an-earlier-session":          "the chain returns to a session it had left: two processes wrote into one file",
	"mixed-session-lineage-requires-authority-session":       "the chain mixes sessions and the pointer does not say which one it belongs to",
	"authority-session-does-not-match-final-lineage-session": "the chain ends in another session than the pointer's",
	"leaf-session-does-not-match-final-lineage-session":      "the leaf belongs to another session than the end of the chain",
}
