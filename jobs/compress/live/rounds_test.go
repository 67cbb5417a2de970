package live_test

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
)

// Five times: a session is compressed, the client resumes the new file and works
// on in it, with all that sessions are made of. Each time what it sends is what it
// sent before, minus what was folded.
func TestRounds(t *testing.T) {
	eachClient(t, func(t *testing.T, version string) {
		t.Parallel()
		r := &rounds{t: t, c: clienttest.Find(t, version), version: version}
		s := r.c.Drive()
		r.turns(s, 6)
		r.id = s.ID
		s.Close()
		for i, work := range []struct {
			name string
			do   func()
		}{{"parallel calls", r.parallel}, {"a rewind", r.rewind}, {"a compaction", r.compact}, {"a fork", r.fork}, {"a helper", r.helper}} {
			session := r.c.Sessions()[r.id]
			candidate, refused := fold(t, session, version)
			if refused != "" {
				t.Fatalf("round %d: refused %s", i+1, refused)
			}
			resumed(t, clienttest.Find(t, version), version, session, candidate)
			r.c.Place(r.id, candidate)
			work.do()
			if t.Failed() {
				t.Fatalf("round %d, after %s", i+1, work.name)
			}
		}
		last := r.c.Sessions()[r.id]
		candidate, refused := fold(t, last, version)
		if refused != "" {
			t.Fatalf("at the end: refused %s", refused)
		}
		resumed(t, clienttest.Find(t, version), version, last, candidate)
	})
}

// rounds is a session on its way.
type rounds struct {
	t       *testing.T
	c       *clienttest.Client
	version string
	id      string
	n       int // turns so far, for their names
}

// turns makes turns of two calls at once, the first of them the slower one.
func (r *rounds) turns(s *clienttest.Session, n int) {
	for range n {
		r.n++
		r.c.Server.Script(
			clienttest.Say(
				clienttest.Thinking(fmt.Sprintf("mk:H%d weigh it", r.n)), clienttest.Text(fmt.Sprintf("mk:B%d I look.", r.n)),
				clienttest.Bash(fmt.Sprintf("toolu_%da", r.n), fmt.Sprintf("sleep 0.2; echo mk:S%d", r.n)), clienttest.Bash(fmt.Sprintf("toolu_%db", r.n), fmt.Sprintf("echo mk:Q%d", r.n)),
			),
			clienttest.Say(clienttest.Text(fmt.Sprintf("mk:A%d It is done.", r.n))),
		)
		if a := s.Turn(fmt.Sprintf("mk:P%d Look at item %d.", r.n, r.n)); a.IsError {
			r.t.Errorf("turn %d: %s", r.n, a.Result)
		}
	}
}

// parallel works on in the resumed session.
func (r *rounds) parallel() { r.goOn(4) }

// goOn makes turns in the resumed session: what the first request holds is what was
// predicted, and each request goes on from the one before. args are further ones for
// the client.
func (r *rounds) goOn(turns int, args ...string) {
	want := predict(r.t, r.c.Sessions()[r.id], r.version)
	before := len(r.c.Server.Conversation())
	first := r.n + 1
	s := r.c.Drive(append([]string{"--resume", r.id}, args...)...)
	r.turns(s, turns)
	r.id = s.ID
	s.Close()
	var last []said
	for i, q := range r.c.Server.Conversation()[before:] {
		now := sent(clienttest.Resumption{Messages: q.Messages}, "")
		if i == 0 {
			same(r.t, "the first request", now, append(want.blocks, said{"user", "text", fmt.Sprintf("mk:P%d Look at item %d.", first, first), -1}), want.texts())
		} else {
			same(r.t, fmt.Sprintf("request %d", i+1), now[:min(len(now), len(last))], last, nil)
		}
		last = now
	}
}

// rewind goes back before the last answer and on from there.
func (r *rounds) rewind() {
	r.c.Server.Script(clienttest.Say(clienttest.Text("mk:RA1 ANSWER-1")), clienttest.Say(clienttest.Text("mk:RA2 ANSWER-2")))
	term := r.c.Terminal("--resume", r.id)
	term.Prompt("QUESTION-1")
	term.Shows("ANSWER-1")
	term.Prompt("QUESTION-2")
	term.Shows("ANSWER-2")
	term.Rewind()
	r.c.Server.Script(clienttest.Say(clienttest.Text("mk:RA3 ANSWER-3")))
	term.Prompt(" AGAIN")
	term.Shows("ANSWER-3")
	term.Close()
	r.resume(3)
}

// compact lets the client compact the session itself.
func (r *rounds) compact() {
	s := r.c.Drive("--resume", r.id)
	r.turns(s, 3)
	s.Turn("/compact")
	r.turns(s, 3)
	s.Close()
}

// fork goes on in a copy.
func (r *rounds) fork() {
	s := r.c.Drive("--resume", r.id, "--fork-session")
	r.turns(s, 4)
	r.id = s.ID
	s.Close()
}

// helper has a helper do something.
func (r *rounds) helper() {
	r.c.Server.Rules(clienttest.Rule{Match: "SUBTASK", Once: true, Turn: clienttest.Say(clienttest.Text("mk:HELPED report: fine"))})
	r.c.Server.Script(
		clienttest.Say(clienttest.Text("I ask a helper."), clienttest.ToolUse("toolu_help", "Agent", map[string]string{"description": "help", "prompt": "SUBTASK: check it", "subagent_type": "general-purpose"})),
		clienttest.Say(clienttest.Text("The helper has it.")),
	)
	s := r.c.Drive("--resume", r.id)
	s.Turn("Ask a helper.")
	r.turns(s, 3)
	s.Close()
}

func (r *rounds) resume(turns int) {
	s := r.c.Drive("--resume", r.id)
	r.turns(s, turns)
	s.Close()
}
