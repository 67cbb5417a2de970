package clienttest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
)

// ask sends a prompt and gives the body of the answer.
func ask(t *testing.T, s *clienttest.Server, path, prompt, more string) string {
	t.Helper()
	text, err := json.Marshal(prompt)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"model":"m","messages":[{"role":"user","content":` + string(text) + `}]` + more + `}`
	r, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

const (
	messages = "/v1/messages"
	tools    = `,"tools":[{"name":"Bash"}]`
)

// content gives the blocks of a plain answer, as type and text.
func content(t *testing.T, answer string) string {
	t.Helper()
	var m clienttest.Message
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, b := range m.Blocks {
		all = append(all, b.Type+" "+b.Text)
	}
	return strings.Join(all, "; ")
}

func TestScriptIsForRequestsWithTools(t *testing.T) {
	s := clienttest.NewServer(t)
	s.Script(clienttest.Say(clienttest.Text("one")), clienttest.Say(clienttest.Thinking("hm"), clienttest.Bash("toolu_1", "ls")))
	for _, step := range []struct{ more, want string }{
		{"", "text reply 1"},
		{tools, "text one"},
		{tools, `thinking hm; tool_use {"command":"ls","description":"run"}`},
		{tools, "text reply 4"},
	} {
		if got := content(t, ask(t, s, messages, "hello", step.more)); got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
	if n := len(s.Conversation()); n != 3 {
		t.Errorf("%d requests in the conversation", n)
	}
}

func TestRulesGoFirst(t *testing.T) {
	s := clienttest.NewServer(t)
	s.Script(clienttest.Say(clienttest.Text("script")))
	s.Rules(
		clienttest.Rule{Match: "sub", Once: true, Turn: clienttest.Say(clienttest.Text("once"))},
		clienttest.Rule{Match: "sub", Turn: clienttest.Say(clienttest.Text("always"))},
	)
	for _, step := range []struct{ prompt, want string }{
		{"a subtask", "text once"}, {"a subtask", "text always"}, {"subject", "text always"}, {"else", "text script"},
	} {
		if got := content(t, ask(t, s, messages, step.prompt, tools)); got != step.want {
			t.Errorf("%s: got %s, want %s", step.prompt, got, step.want)
		}
	}
}

func TestOtherPaths(t *testing.T) {
	s := clienttest.NewServer(t)
	for path, want := range map[string]string{"/v1/messages/count_tokens": `{"input_tokens":100}`, "/api/hello": "{}"} {
		if got := strings.TrimSpace(ask(t, s, path, "x", tools)); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if n, talk := len(s.Requests()), len(s.Conversation()); n != 2 || talk != 0 {
		t.Errorf("%d requests, %d of them conversation", n, talk)
	}
}

// A streamEvent is one event of an answer, with the fields that matter.
type streamEvent struct {
	Type         string
	Index        int
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string `json:"partial_json"`
		StopReason                      string `json:"stop_reason"`
	}
}

func events(t *testing.T, answer string) []streamEvent {
	t.Helper()
	var all []streamEvent
	name := ""
	for lines := bufio.NewScanner(strings.NewReader(answer)); lines.Scan(); {
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = kind
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e streamEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil || e.Type != name {
			t.Fatalf("event %s: %s (%v)", name, data, err)
		}
		all = append(all, e)
	}
	return all
}

func TestStream(t *testing.T) {
	s := clienttest.NewServer(t)
	s.Script(clienttest.Say(clienttest.Thinking("hm"), clienttest.RedactedThinking("xyz"), clienttest.Text("I look"), clienttest.Bash("toolu_1", "ls")))
	var got bytes.Buffer
	for _, e := range events(t, ask(t, s, messages, "hello", tools+`,"stream":true`)) {
		got.WriteString(e.Type + " " + string(e.ContentBlock) + e.Delta.Text + e.Delta.Thinking + e.Delta.Signature + e.Delta.PartialJSON + e.Delta.StopReason + "\n")
	}
	want := `message_start 
content_block_start {"signature":"","thinking":"","type":"thinking"}
content_block_delta hm
content_block_delta c2ln
content_block_stop 
content_block_start {"data":"xyz","type":"redacted_thinking"}
content_block_stop 
content_block_start {"text":"","type":"text"}
content_block_delta I look
content_block_stop 
content_block_start {"id":"toolu_1","input":{},"name":"Bash","type":"tool_use"}
content_block_delta {"command":"ls","description":"run"}
content_block_stop 
message_delta tool_use
message_stop 
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestSleepIsBeforeTheEnd(t *testing.T) {
	s := clienttest.NewServer(t)
	const pause = 30 * time.Millisecond
	s.Script(clienttest.Turn{Blocks: []clienttest.Block{clienttest.Text("late")}, Sleep: pause})
	start := time.Now()
	answer := ask(t, s, messages, "hello", tools+`,"stream":true`)
	if time.Since(start) < pause || !strings.Contains(answer, "message_stop") {
		t.Errorf("after %v: %s", time.Since(start), answer)
	}
}

// A client that dies in the middle of an answer does not hold up the test.
func TestSleepEndsWithTheClient(t *testing.T) {
	s := clienttest.NewServer(t)
	s.Script(clienttest.Turn{Blocks: []clienttest.Block{clienttest.Text("half")}, Sleep: time.Hour})
	body := `{"stream":true,"messages":[]` + tools + `}`
	r, err := http.Post(s.URL()+messages, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
}

func TestLogHasTypedMessages(t *testing.T) {
	s := clienttest.NewServer(t)
	body := `{"messages":[{"role":"user","content":"plain"},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"a":1}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]},
			{"type":"tool_result","tool_use_id":"t2","content":"z"},
			{"type":"tool_result","tool_use_id":"t3"}]},
		{"role":"user","content":["bare"]},{"role":"user","content":5}]` + tools + `}`
	r, err := http.Post(s.URL()+messages, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	m := s.Conversation()[0].Messages
	if b := m[0].Blocks[0]; b.Type != "text" || b.Text != "plain" {
		t.Errorf("plain text: %+v", b)
	}
	if b := m[1].Blocks[0]; b.ID != "t1" || b.Name != "Bash" || b.Text != `{"a":1}` {
		t.Errorf("call: %+v", b)
	}
	if b := m[2].Blocks[0]; b.ToolUseID != "t1" || !b.IsError || b.Text != "x y" {
		t.Errorf("result of blocks: %+v", b)
	}
	if b := m[2].Blocks[1:]; b[0].Text != "z" || b[0].IsError || b[1].Text != "" {
		t.Errorf("results: %+v", b)
	}
	if b, c := m[3].Blocks[0], m[4].Blocks[0]; b.Type != "" || b.Text != `"bare"` || c.Text != "5" {
		t.Errorf("content in other forms: %+v, %+v", b, c)
	}
}

func TestLogIsSafe(t *testing.T) {
	s := clienttest.NewServer(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r, err := http.Post(s.URL()+messages, "application/json", strings.NewReader(`{"messages":[]`+tools+"}"))
			if err != nil {
				t.Error(err)
				return
			}
			r.Body.Close()
			s.Conversation()
		})
	}
	all.Wait()
	if n := len(s.Requests()); n != 8 {
		t.Errorf("%d requests", n)
	}
}
