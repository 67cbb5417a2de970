package clienttest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
)

// The script that installs the clients has the same versions as the tests.
func TestVersionsArePinned(t *testing.T) {
	script, err := os.ReadFile("../../../.ci/clients")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range clienttest.Versions {
		if !strings.Contains(string(script), v) {
			t.Errorf(".ci/clients does not install %s", v)
		}
	}
}

func TestResume(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		file := session(t, filepath.Join(vectorsDir, "P01-linear"))
		r := c.Resume(file, vectorID, probe)
		var roles []string
		for _, m := range r.Messages {
			roles = append(roles, m.Role)
		}
		want := "user assistant user assistant user assistant user"
		if r.Outcome != clienttest.Sent || !strings.HasPrefix(strings.Join(roles, " "), want) {
			t.Errorf("%s, exit code %d, %s: %v", r.Outcome, r.ExitCode, r.Message, roles)
		}
		if !bytes.HasPrefix(r.File, file) || len(r.File) == len(file) {
			t.Error("the client has not appended to the file")
		}
		a := r.Attribution()
		if len(a.UUIDs) != 6 || a.Leaf != a.UUIDs[5] || len(a.Synthetic) > 0 {
			t.Errorf("%+v", a)
		}
	})
}

func TestResumeOfAnotherSessionIsRefused(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		r := c.Resume(session(t, filepath.Join(vectorsDir, "P01-linear")), vectorID, probe, "--resume", strings.ReplaceAll(vectorID, "1", "2"))
		if r.Outcome != clienttest.Refused || r.Message == "" || r.Messages != nil {
			t.Errorf("%s, exit code %d, %q", r.Outcome, r.ExitCode, r.Message)
		}
	})
}

// count is how often what occurs in a file that a client may be writing.
func count(path, what string) int {
	data, _ := os.ReadFile(path) // it may not be there yet
	return bytes.Count(data, []byte(what))
}

const result = `"type":"tool_result"`

func TestDriveParallelCalls(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		c.Server.Script(
			clienttest.Say(clienttest.Thinking("both"), clienttest.Bash("toolu_1", "echo one"), clienttest.Bash("toolu_2", "echo two")),
			clienttest.Say(clienttest.Text("done both")),
			clienttest.Say(clienttest.Text("more")),
		)
		s := c.Drive()
		if a := s.Turn("run two"); a.IsError || a.Result != "done both" {
			t.Errorf("%+v", a)
		}
		s.Turn("and more")
		s.Close()
		if n := count(s.Path(), result); n < 2 {
			t.Errorf("%d results in the file", n)
		}
		if got := results(c.Server.Conversation()[1].Messages); !slices.Equal(got, []string{"toolu_1 one", "toolu_2 two"}) {
			t.Errorf("sent %q", got)
		}
	})
}

// results are the results in messages, as id and text, sorted: the client writes
// them as the calls end.
func results(messages []clienttest.Message) []string {
	var all []string
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Type == "tool_result" {
				all = append(all, b.ToolUseID+" "+b.Text)
			}
		}
	}
	slices.Sort(all)
	return all
}

func TestFork(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		c.Server.Script(clienttest.Say(clienttest.Text("first")), clienttest.Say(clienttest.Text("second")))
		s := c.Drive()
		s.Turn("begin")
		s.Close()
		before := c.Sessions()[s.ID]
		fork := c.Drive("--resume", s.ID, "--fork-session")
		fork.Turn("FORKED")
		fork.Close()
		if fork.ID == s.ID || count(fork.Path(), "FORKED") == 0 || count(fork.Path(), "begin") == 0 {
			t.Errorf("the fork %s of %s is incomplete", fork.ID, s.ID)
		}
		if !bytes.Equal(c.Sessions()[s.ID], before) {
			t.Error("the forked session was changed")
		}
	})
}

// A client that is killed while a call runs leaves the call without its result,
// and no process.
func TestKill(t *testing.T) {
	eachClient(t, func(t *testing.T, c *clienttest.Client) {
		c.Server.Script(
			clienttest.Say(clienttest.Text("hello")),
			clienttest.Say(clienttest.Bash("toolu_quick", "echo quick"), clienttest.Bash("toolu_slow", "touch started; sleep 1000; echo never")),
		)
		s := c.Drive()
		s.Turn("hello")
		s.Send("run both")
		c.Await("the second call", func() bool {
			_, err := os.Stat(filepath.Join(c.Dir, "started"))
			return err == nil
		})
		s.Kill()
		if count(s.Path(), `"id":"toolu_slow"`) == 0 || count(s.Path(), `"tool_use_id":"toolu_slow"`) > 0 {
			t.Error("the file has not the call, or has its result")
		}
		if r := c.Resume(c.Sessions()[s.ID], s.ID, probe); r.Outcome != clienttest.Sent {
			t.Errorf("resumed: %s, %s", r.Outcome, r.Message)
		}
	})
}
