package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/jobs/internal/clienttest"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/spec"
)

var version = flag.String("client", "", "the client to test with, instead of all pinned ones")

func TestMain(m *testing.M) { os.Exit(clienttest.Main(m)) }

// eachClient runs test with the clients that the flag names.
func eachClient(t *testing.T, test func(t *testing.T, version string)) {
	for _, v := range clienttest.Versions {
		if *version == "" || *version == v {
			t.Run(v, func(t *testing.T) { test(t, v) })
		}
	}
}

const jobText = `version: 1
kind: compress
name: live
input: {sessions: ["s.jsonl"]}
mode: {chain: client, summary: deterministic}
budgets: {ratio: 0.05, keepRecords: 4, tokens: 0}
publish: {to: candidate, path: "out.jsonl"}
`

// fold compresses a session for a client. refused is the class of a refusal.
func fold(t *testing.T, session []byte, version string, set ...string) (candidate []byte, refused string) {
	t.Helper()
	return foldWith(t, compress.Kind{}, session, version, set...)
}

func foldWith(t *testing.T, kind compress.Kind, session []byte, version string, set ...string) (candidate []byte, refused string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), session, 0o600); err != nil {
		t.Fatal(err)
	}
	job, err := spec.Parse(filepath.Join(dir, "job.yaml"), []byte(jobText), append([]string{"mode.client=" + version}, set...))
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.OSEnv(filepath.Join(dir, "state"), hclog.NewNullLogger()), kind)
	r, err := e.Run(context.Background(), job, engine.Options{})
	if err != nil || len(r.Items) != 1 {
		t.Fatal(err, r.Items)
	}
	if i := r.Items[0]; i.Status != step.Done {
		if i.Status != step.Refused {
			t.Fatalf("%s: %s", i.Class, i.Message)
		}
		return nil, i.Class
	}
	candidate, err = os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return candidate, ""
}

// prediction is what a client would send of a session.
type prediction struct {
	*client.Resolution
	x      *transcript.Index
	src    *transcript.Source
	blocks []said
}

// said is a content block of a request, or what a record holds of it.
type said struct {
	role, kind, text string
	record           int // -1 for what the client adds
}

func predict(t *testing.T, session []byte, version string) *prediction {
	t.Helper()
	x, err := transcript.Read(bytes.NewReader(session), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	p := &prediction{x: x, src: transcript.NewSource(x, bytes.NewReader(session))}
	rules, _ := client.Known(version)
	if p.Resolution, err = client.Resolve(p.src, rules); err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Messages {
		if m.Role == client.System {
			continue
		}
		for _, r := range m.Records {
			p.blocks = append(p.blocks, p.said(t, string(m.Role), r)...)
		}
	}
	return p
}

// said are the blocks of a record.
func (p *prediction) said(t *testing.T, role string, r int) []said {
	t.Helper()
	line, err := p.src.Record(r)
	if err != nil {
		t.Fatal(err)
	}
	var rec struct {
		Message clienttest.Message
		Content string
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		t.Fatal(err)
	}
	if rec.Content != "" { // a local command
		rec.Message.Blocks = []clienttest.Block{clienttest.Text(rec.Content)}
	}
	var out []said
	for _, b := range rec.Message.Blocks {
		if b.Type == "text" && words(b) == "" {
			continue
		}
		out = append(out, said{role, b.Type, words(b), r})
	}
	return out
}

// reminders are texts in which a client words what is going on around it.
var reminders = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// notification is what a helper that has ended leaves as a message; the client
// explains it at length when it sends it.
var notification = regexp.MustCompile(`(?s)<task-notification>.*?</task-notification>`)

// words is what a block says, in a form that does not depend on how its JSON is
// written. The client ends a text with a line feed when another follows in one
// message, joins one to a reminder, and calls a tool by the name that it has now.
func words(b clienttest.Block) string {
	switch b.Type {
	case "tool_use":
		var input any
		if json.Unmarshal([]byte(b.Text), &input) == nil {
			plain, _ := json.Marshal(input)
			return b.ID + " " + strings.Replace(b.Name, "Task", "Agent", 1) + " " + string(plain)
		}
	case "tool_result":
		return b.ToolUseID + " " + b.Text
	case "text":
		if n := notification.FindString(b.Text); n != "" {
			return n
		}
		return strings.TrimSpace(reminders.ReplaceAllString(b.Text, ""))
	}
	return b.Text
}

// queued begins a prompt that was given while a turn was running. It is an
// attachment, which clients send in either role.
const queued = "The user sent a new message while you were working:"

// sent are the blocks of a request but for attachments, what the client words
// itself at every start, and the prompt.
func sent(r clienttest.Resumption, prompt string) []said {
	var out []said
	for _, m := range r.Messages {
		if m.Role == "system" {
			continue
		}
		for _, b := range m.Blocks {
			if b.Type == "text" && (words(b) == prompt || words(b) == "" || strings.HasPrefix(b.Text, queued)) {
				continue
			}
			out = append(out, said{m.Role, b.Type, words(b), -1})
		}
	}
	return out
}
