package compress_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/schemas"
	"github.com/precis-dev/precis/spec"
)

const (
	project = "/home/.claude/projects/p"
	live    = project + "/s.jsonl"
	backups = "/kept/backups/p-1a3ee963" // of the folder's name and digest
)

const replaceText = `
version: 1
kind: compress
name: test
input: {sessions: ["/home/.claude/projects/p/s.jsonl"]}
mode: {summary: deterministic}
budgets: {keepRecords: 2}
publish: {to: replace, workDir: /kept, quiet: 0s}
`

func replaceJob(t testing.TB, set ...string) *spec.Job {
	t.Helper()
	job, err := spec.Parse("/job.yaml", []byte(replaceText), set)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// liveWorld is a filesystem with a client's session.
func liveWorld(t testing.TB) *memfs.FS {
	t.Helper()
	f := enginetest.Memory()
	if err := errors.Join(fsys.MkdirAll(f, project), fsys.MkdirAll(f, backups), fsys.WriteFile(f, live, "t", small())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Chmod(live, 0o640), f.Chtimes(live, long(), long())); err != nil {
		t.Fatal(err)
	}
	return f
}

// long is a time long before all clocks of the tests.
func long() time.Time { return time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC) }

func replaceRun(t testing.TB, f afero.Fs, id string, set ...string) (engine.Result, error) {
	env := enginetest.Env(f)
	env.NewID = func() string { return id }
	return engine.New(env, compress.Kind{}).Run(context.Background(), replaceJob(t, set...), engine.Options{SessionClosed: true})
}

func content(f afero.Fs, name string) string {
	data, err := afero.ReadFile(f, name)
	if err != nil {
		return "(absent)"
	}
	return string(data)
}

func TestReplace(t *testing.T) {
	f := liveWorld(t)
	r, err := replaceRun(t, f, "run-1")
	if err != nil || r.Exit != 0 || r.Items[0].Status != step.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	now := content(f, live)
	if now == string(small()) || !strings.Contains(now, `"isCompactSummary":true`) {
		t.Error("the session is not the new one")
	}
	if got := content(f, backups+"/s.jsonl.backup"); got != string(small()) {
		t.Errorf("the backup holds %d bytes", len(got))
	}
	info, err := f.Stat(live)
	if err != nil || info.Mode().Perm() != 0o640 || !info.ModTime().Equal(long()) {
		t.Errorf("%v %v, %v", info.Mode(), info.ModTime(), err)
	}
	receipt := content(f, "/state/runs/run-1/receipts/s.json")
	schema, err := schemas.Compile("receipt")
	var v any
	if err := errors.Join(err, json.Unmarshal([]byte(receipt), &v)); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil || !strings.Contains(receipt, `"old"`) || strings.Contains(receipt, "parser") {
		t.Errorf("receipt: %s, %v", receipt, err)
	}
	if r, err = replaceRun(t, f, "run-2"); err != nil || r.Exit != 0 || r.Items[0].Status != step.UpToDate || content(f, live) != now {
		t.Errorf("again: %+v, %v", r, err)
	}
	// The client goes on with it.
	w, err := f.OpenFile(live, 0x401, 0) // O_WRONLY|O_APPEND
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	p, err := engine.New(enginetest.Env(f), compress.Kind{}).Plan(context.Background(), replaceJob(t), engine.Options{SessionClosed: true})
	if err != nil || p.Items[0].Status != step.WouldRun {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestCrashesOfAReplacement cuts the power at every operation of a run that replaces
// a session, resumes, and puts the session back.
func TestCrashesOfAReplacement(t *testing.T) {
	clean := liveWorld(t)
	if r, err := replaceRun(t, clean, "run-1"); err != nil || r.Exit != 0 {
		t.Fatal(r, err)
	}
	want := content(clean, live)
	cases := 0
	for at := 1; ; at++ {
		base := liveWorld(t)
		f := faultfs.New(base, faultfs.Plan{At: at, Stop: true, Short: true})
		_, _ = replaceRun(t, f, "run-1")
		if !f.Hit() {
			break
		}
		for seed := range uint64(4) {
			cases++
			after := base.CrashClone(seed)
			settled(t, fmt.Sprintf("%s, seed %d", f.Ops()[at-1], seed), after, want)
		}
	}
	t.Logf("%d crashes", cases)
	if cases == 0 {
		t.Error("no operation was reached")
	}
}

// TestFaultsOfAReplacement has every operation fail in the ways that it can.
func TestFaultsOfAReplacement(t *testing.T) {
	clean := liveWorld(t)
	if r, err := replaceRun(t, clean, "run-1"); err != nil || r.Exit != 0 {
		t.Fatal(r, err)
	}
	want, cases := content(clean, live), 0
	for _, plan := range []faultfs.Plan{{Err: syscall.ENOSPC}, {Short: true}, {Err: syscall.EIO, Reads: true}} {
		for plan.At = 1; ; plan.At++ {
			base := liveWorld(t)
			f := faultfs.New(base, plan)
			r, err := replaceRun(t, f, "run-1")
			if !f.Hit() {
				break
			}
			cases++
			name := fmt.Sprintf("%+v (%s)", plan, f.Ops()[plan.At-1])
			stands := content(base, live)
			if stands != string(small()) && stands != want {
				t.Errorf("%s: the session holds %d bytes that nobody wrote", name, len(stands))
			}
			if replaced := stands == want; replaced != (len(r.Items) == 1 && r.Items[0].Committed()) {
				t.Errorf("%s: replaced is %v, told is %+v, %v", name, replaced, r.Items, err)
			}
			if stands == want && r.Exit != 0 && r.Exit != 3 {
				t.Errorf("%s: exit %d after a replacement", name, r.Exit)
			}
			settled(t, name, base, want)
		}
	}
	t.Logf("%d faults", cases)
}

// settled goes on with what a run left, by one command, and undoes it by another.
func settled(t *testing.T, name string, f *memfs.FS, want string) {
	t.Helper()
	stands := content(f, live)
	if stands != string(small()) && stands != want {
		t.Errorf("%s: the session holds %d bytes", name, len(stands))
	}
	env := enginetest.Env(f)
	env.NewID = func() string { return "run-2" }
	e := engine.New(env, compress.Kind{})
	r, err := e.Resume(context.Background(), "run-1", engine.Options{})
	if refused := new(step.Refusal); errors.As(err, &refused) && (refused.Class == "no-such-run" || refused.Class == "run-not-begun") || err == nil && r.Exit == 1 { // nothing was done
		r, err = e.Run(context.Background(), replaceJob(t), engine.Options{SessionClosed: true})
	}
	if err != nil || r.Exit != 0 && !r.Items[0].Committed() || content(f, live) != want {
		t.Errorf("%s: %+v, %v", name, r.Items, err)
		return
	}
	if got := content(f, backups+"/s.jsonl.backup"); got != string(small()) {
		t.Errorf("%s: the backup holds %d bytes", name, len(got))
	}
	only(t, name, f, project, "s.jsonl")
	only(t, name, f, backups, "s.jsonl.backup")
	back, err := e.Restore(context.Background(), r.Run, nil, engine.Options{SessionClosed: true})
	if err != nil || back.Exit != 0 || content(f, live) != string(small()) {
		t.Errorf("%s: restore: %+v, %v", name, back.Items, err)
	}
	only(t, name, f, project, "s.jsonl")
}

// only demands that a folder holds these files and nothing else.
func only(t *testing.T, name string, f afero.Fs, dir string, files ...string) {
	t.Helper()
	list, err := afero.ReadDir(f, dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range list {
		names = append(names, i.Name())
	}
	if strings.Join(names, " ") != strings.Join(files, " ") {
		t.Errorf("%s: %s holds %v", name, dir, names)
	}
}
