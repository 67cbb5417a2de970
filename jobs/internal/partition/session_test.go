package partition_test

import (
	"bytes"
	"fmt"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

type builder = sessiontest.Builder

var with = sessiontest.With

type fataler interface {
	Helper()
	Fatal(...any)
}

func index(t fataler, data []byte) *transcript.Index {
	t.Helper()
	x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func build(t fataler, f func(b *builder)) (*transcript.Index, *topology.Selection) {
	t.Helper()
	var b builder
	f(&b)
	x := index(t, b.Bytes())
	s := topology.Select(x, topology.Options{Mode: topology.Pointer})
	if !s.OK() {
		t.Fatal(s.Status, s.Findings)
	}
	return x, s
}

// drawn writes a random session of the shapes that clients write: prompts,
// parallel calls as small trees, hooks, rewinds, snapshots, rows of state, an
// earlier compaction, two sessions in a line.
type drawn struct {
	*rapid.T
	b       builder
	n       int
	leaf    string
	session string
	forks   []string // records a rewind may go back to
}

func (d *drawn) name(kind string) string {
	d.n++
	return fmt.Sprint(kind, d.n)
}

func (d *drawn) chance(percent int, label string) bool {
	return rapid.IntRange(0, 99).Draw(d.T, label) < percent
}

func (d *drawn) own() sessiontest.Option { return sessiontest.InSession(d.session) }

func drawSession(t *rapid.T) []byte {
	d := &drawn{T: t, session: "first"}
	d.rows()
	turns := rapid.IntRange(1, 7).Draw(t, "turns")
	compacted := rapid.IntRange(0, 12).Draw(t, "compacted after")
	changed := rapid.IntRange(1, 14).Draw(t, "session changes after")
	for i := range turns {
		if i == compacted {
			d.compaction()
		}
		if i == changed {
			d.session, d.forks = "second", nil
		}
		d.turn()
		d.rows()
		if len(d.forks) > 1 && d.chance(20, "rewind") {
			d.leaf = rapid.SampledFrom(d.forks).Draw(t, "to")
		}
	}
	if d.leaf == "" || d.chance(30, "one more") {
		d.turn()
	}
	d.b.LastPrompt(d.leaf, d.own())
	if d.chance(30, "goes on") {
		d.turn()
	}
	return d.b.Bytes()
}

func (d *drawn) compaction() {
	old := d.leaf
	d.leaf, d.forks = d.name("b"), nil
	d.b.Boundary(d.leaf, old, d.own())
	summary := d.name("s")
	d.b.Summary(summary, d.leaf, "summary", d.own())
	d.leaf = summary
}

func (d *drawn) turn() {
	prompt := d.name("u")
	if d.chance(40, "snapshot") {
		d.b.Snapshot(prompt)
	}
	d.b.User(prompt, d.leaf, "prompt", d.own())
	d.leaf = prompt
	for range rapid.IntRange(0, 3).Draw(d.T, "steps") {
		d.step()
	}
	answer := d.name("a")
	d.b.Assistant(answer, d.leaf, answer, sessiontest.Text("answer"), d.own())
	d.leaf = answer
	d.forks = append(d.forks, answer)
}

// step writes one message of one to three calls, each result below its own call,
// and goes on below one of them.
func (d *drawn) step() {
	message := d.name("m")
	if d.chance(40, "thinks") {
		thought := d.name("h")
		d.b.Assistant(thought, d.leaf, message, sessiontest.Thinking("hm"), d.own())
		d.leaf = thought
	}
	var calls []string
	for range rapid.IntRange(1, 3).Draw(d.T, "calls") {
		call := d.name("k")
		d.b.Assistant(call, d.leaf, message, sessiontest.Use("t"+call, "Bash", 1), d.own())
		d.leaf = call
		calls = append(calls, call)
	}
	next := ""
	for _, call := range rapid.Permutation(calls).Draw(d.T, "results") {
		result := d.name("r")
		d.b.Result(result, call, "t"+call, "out", d.own())
		if next == "" || d.chance(60, "below this one") {
			next = result
		}
	}
	d.leaf = next
	if d.chance(40, "hook") {
		hook := d.name("x")
		d.b.Attachment(hook, d.leaf, "hook_success", with("attachment.toolUseID", "t"+calls[0]), d.own())
		d.leaf = hook
	}
	if d.chance(15, "helper") {
		d.b.User(d.name("z"), "", "helper", sessiontest.Sidechain())
	}
}

var rowTypes = []string{"mode", "permission-mode", "custom-title", "ai-title", "agent-name", "queue-operation", "summary", "voice-note", "last-prompt"}

func (d *drawn) rows() {
	for _, kind := range rapid.SliceOfN(rapid.SampledFrom(rowTypes), 0, 3).Draw(d.T, "rows") {
		d.b.Control(kind)
	}
}
