package clienttest_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
)

// started is a terminal in which two turns have been made, and its session's id.
func started(t *testing.T, c *clienttest.Client) (*clienttest.Terminal, string) {
	t.Helper()
	c.Server.Script(clienttest.Say(clienttest.Text("ANSWER-1")), clienttest.Say(clienttest.Text("ANSWER-2")))
	term := c.Terminal()
	term.Prompt("QUESTION-1")
	term.Shows("ANSWER-1")
	term.Prompt("QUESTION-2")
	term.Shows("ANSWER-2")
	for id := range c.Sessions() {
		return term, id
	}
	t.Fatal("no session file")
	return nil, ""
}

func TestCompact(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		term, id := started(t, c)
		term.Prompt("/compact")
		c.Await("the compaction", func() bool { return count(c.Path(id), `"compact_boundary"`) > 0 })
		term.Close()
		if count(c.Path(id), `"isCompactSummary":true`) != 1 {
			t.Error("no summary in the file")
		}
	})
}

func TestRewind(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		term, id := started(t, c)
		term.Rewind()
		c.Server.Script(clienttest.Say(clienttest.Text("ANSWER-3")))
		term.Prompt(" AGAIN") // the client has put the old question into the prompt
		term.Shows("ANSWER-3")
		term.Close()
		if count(c.Path(id), "ANSWER-2") == 0 {
			t.Error("the rewound answer is not in the file")
		}
		requests := c.Server.Conversation()
		sent := string(requests[len(requests)-1].Raw)
		if strings.Contains(sent, "ANSWER-2") || !strings.Contains(sent, "ANSWER-1") || !strings.Contains(sent, "AGAIN") {
			t.Error("the request does not hold the other branch")
		}
	})
}

func TestKillInTerminal(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		term, id := started(t, c)
		term.Kill9()
		if r := c.Resume(c.Sessions()[id], id, probe); r.Outcome != clienttest.Sent {
			t.Errorf("%s, %s", r.Outcome, r.Message)
		}
	})
}
