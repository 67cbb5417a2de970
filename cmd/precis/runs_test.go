package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/memfs"
)

func TestShortIDs(t *testing.T) {
	var list []engine.RunInfo
	for _, id := range []string{"01a22dd0-cbeb-79e0-992c-16938b22330f", "01a22dd0-cc6b-7280-9ce4-ff47ec908121", "01a22dd0-cc6b-7290-9ce4-ff47ec908121", "odd"} {
		list = append(list, engine.RunInfo{Run: id})
	}
	want := []string{"01a22dd0-cbeb", "01a22dd0-cc6b-728", "01a22dd0-cc6b-729", "odd"}
	if got := shortIDs(list); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for id, want := range map[string]string{list[0].Run: "01a22dd0-cbeb-79e0", "last": "last", "a-session": "a-session"} {
		if got := shortRun(id); got != want {
			t.Errorf("shortRun(%q) = %q, want %q", id, got, want)
		}
	}
}

// TestWhy says in words what is different.
func TestWhy(t *testing.T) {
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	p := &page{dir: "/home"}
	for d, want := range map[plan.Difference]string{
		{Component: "record", Old: "(none)", New: "first run"}:        "not done before",
		{Component: "params.budgets.tokens", Old: "1", New: "2"}:      "budgets.tokens: 1 → 2",
		{Component: "inputs.source", Old: a, New: b}:                  "the session was changed: aaaaaaaaaaaa → bbbbbbbbbbbb",
		{Component: "inputs.handoff", Old: a, New: "(none)"}:          "handoff was changed: aaaaaaaaaaaa → (none)",
		{Component: "version", Old: "1", New: "2"}:                    "this precis does the step otherwise, version: 1 → 2",
		{Component: "published./home/out/a.b", Old: a, New: "(gone)"}: "out/a.b is gone",
		{Component: "published./home/out/a", Old: a, New: b}:          "out/a was changed: aaaaaaaaaaaa → bbbbbbbbbbbb",
		{Component: "artifacts.report", Old: a, New: "(missing)"}:     "the record no longer has the report of the earlier run: (missing)",
		{Component: "algorithm", Old: "key/1", New: "key/2"}:          "algorithm: key/1 → key/2",
	} {
		if got := p.why(&d); got != want {
			t.Errorf("%s: %q, want %q", d.Component, got, want)
		}
	}
}

// TestReplayThatDiffers says where, in what, and both values, whole.
func TestReplayThatDiffers(t *testing.T) {
	was, is := strings.Repeat("a", 64), strings.Repeat("b", 64)
	var out bytes.Buffer
	c := &cli{out: &out, width: plainWidth, dir: "/home"}
	err := c.tellReplay(&engine.Replay{Items: []engine.ReplayedItem{
		{Item: "a", Source: "/home/a.jsonl", Status: engine.ReplayDiffers, Steps: 2, Step: "fold", Difference: &plan.Difference{Component: "artifacts.summary", Old: "sha256:" + was, New: "sha256:" + is}},
		{Item: "b", Source: "/home/b.jsonl", Status: engine.ReplaySame, Steps: 6},
	}})
	want := "a.jsonl  differs\n" +
		"  step       fold; 2 steps before it are the same\n" +
		"  differs    artifacts summary\n" +
		"  was        " + was + "\n" +
		"  is now     " + is + "\n\n" +
		"b.jsonl  same\n" +
		"  steps      6 steps give the same bytes as in the run\n\n" +
		"1 same, 1 differs\n"
	if err != nil || out.String() != want {
		t.Errorf("got\n%swant\n%s(%v)", out.String(), want, err)
	}
}

// cutter is standard output that interrupts the program at the first line with a
// text.
type cutter struct {
	at   string
	stop context.CancelFunc
}

func (c cutter) Write(line []byte) (int, error) {
	if strings.Contains(string(line), c.at) {
		c.stop()
	}
	return len(line), nil
}

// TestResumeOfAChangedSession cuts a run short within its session, which is changed
// then: to go on would mix two states of it.
func TestResumeOfAChangedSession(t *testing.T) {
	session, err := os.ReadFile("../../testdata/sessions/2.1.332-edits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const job = `{"version":1,"kind":"compress","name":"n","input":{"sessions":["s.jsonl"]},"budgets":{"keepRecords":10},
		"mode":{"summary":"deterministic"},"publish":{"to":"candidate","path":"out/{session}.jsonl"}}`
	f := memfs.New(time.Now)
	write := func(name string, data []byte) {
		if err := afero.WriteFile(f, name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("s.jsonl", session)
	write("job.json", []byte(job))
	ctx, cancel := context.WithCancel(context.Background())
	cut := &cli{out: cutter{`"event":"step-finished","item":"s","step":"select"`, cancel}, fs: f, width: plainWidth}
	if code := cut.execute(ctx, []string{"run", "job.json", "--json"}); code != exitInterrupted {
		t.Fatalf("exit code %d", code)
	}
	write("s.jsonl", append(session, "{\"type\":\"mode\"}\n"...))
	var out bytes.Buffer
	c := &cli{out: &out, errOut: &out, fs: f, width: plainWidth}
	if code := c.execute(context.Background(), []string{"resume", "last"}); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"s.jsonl  refused", "source-changed: ", "next "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if exists, err := afero.Exists(f, "out"); exists || err != nil {
		t.Errorf("something was published (%v)", err)
	}
}

// TestNextOfWhatIsLeft: an item that is left open may have begun.
func TestNextOfWhatIsLeft(t *testing.T) {
	one := engine.ItemResult{Session: "s", Status: step.Interrupted}
	for want, items := range map[string][]engine.ItemResult{
		"precis resume r does the 1 session that is left.":   {one},
		"precis resume r does the 2 sessions that are left.": {one, one},
	} {
		tell := teller{cli: &cli{state: defaultState}, page: &page{}}
		if got := tell.next(engine.Result{Run: "r", Items: items}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRemovedBackup: it is no new file, and what is known of it may be its name.
func TestRemovedBackup(t *testing.T) {
	var out bytes.Buffer
	p := &page{w: &out, width: plainWidth}
	tell := teller{cli: &cli{}, page: p}
	gone := step.Published{Op: step.Remove, Path: "backups/old"}
	items := []engine.ItemResult{{Session: "s", Outputs: []step.Published{gone}}}
	tell.output(gone, "s", false)
	p.files("replaced", "s", []step.Published{gone})
	p.refusal(engine.ItemResult{Class: "failed", Message: "m", Outputs: []step.Published{gone}})
	tell.effectTable(items)
	if n := strings.Count(out.String(), "  removed    backups/old"); n != 3 || !strings.Contains(out.String(), "remove  backups/old") {
		t.Errorf("%d times:\n%s", n, out.String())
	}
	if places := tell.places(items); places != nil {
		t.Errorf("new files in %q", places)
	}
}
