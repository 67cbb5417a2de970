package compress_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
)

// What follows a replacement: another run, another job, a client that goes on.

func engineOf(f afero.Fs, id string) *engine.Engine {
	env := enginetest.Env(f)
	env.NewID = func() string { return id }
	return engine.New(env, compress.Kind{})
}

var closed = engine.Options{SessionClosed: true}

func goOnWith(t *testing.T, f *memfs.FS) {
	t.Helper()
	if err := afero.WriteFile(f, live, []byte(content(f, live)+`{"type":"mode","mode":"normal","sessionId":"s"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTheClientGoesOnAfterAKill has the program die at every operation from the
// exchange on, and the client go on with what stands.
func TestTheClientGoesOnAfterAKill(t *testing.T) {
	replaced := 0
	for at := 1; ; at++ {
		base := liveWorld(t)
		dying := faultfs.New(base, faultfs.Plan{At: at, Stop: true})
		_, _ = replaceRun(t, dying, "run-1")
		if !dying.Hit() {
			break
		}
		f := base.CrashClone(0)
		stood := content(f, live)
		goOnWith(t, f)
		r, err := engineOf(f, "run-2").Resume(context.Background(), "run-1", engine.Options{})
		if refused := new(step.Refusal); errors.As(err, &refused) && (refused.Class == "no-such-run" || refused.Class == "run-not-begun") {
			continue
		}
		name := fmt.Sprintf("%s: %+v, %v", dying.Ops()[at-1], r.Items, err)
		if err != nil || len(r.Items) != 1 {
			t.Error(name)
			continue
		}
		if stood == string(small()) {
			// It is refused, unless it had not been read before.
			if done := r.Items[0].Status == step.Done; !done && (r.Items[0].Status != step.Refused || !strings.HasPrefix(content(f, live), stood)) {
				t.Error(name)
			}
			continue
		}
		replaced++
		now := content(f, live)
		back, err := engineOf(f, "run-2").Restore(context.Background(), "run-1", nil, closed)
		if err != nil || back.Items[0].Class != "session-changed" || content(f, live) != now {
			t.Errorf("%s: restore: %+v, %v", name, back.Items, err)
		}
		back, err = engineOf(f, "run-2").Restore(context.Background(), "run-1", nil, engine.Options{SessionClosed: true, Force: true})
		if err != nil || back.Exit != 0 || content(f, live) != string(small()) || content(f, backups+"/s.jsonl.backup1") != now {
			t.Errorf("%s: forced: %+v, %v", name, back.Items, err)
		}
	}
	if replaced == 0 {
		t.Error("it never died behind the exchange")
	}
}

// TestAPlanAsksWhatARunAsks has what refuses a session before any work.
func TestAPlanAsksWhatARunAsks(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, f *memfs.FS)
		set    []string
		class  string
	}{
		"recent":     {func(t *testing.T, f *memfs.FS) { goOnWith(t, f) }, []string{"publish.quiet=1h"}, "session-recent"},
		"open":       {func(_ *testing.T, f *memfs.FS) { f.SetAlive(7); _ = f.SetOpen(live, 7) }, nil, "session-open"},
		"nothing":    {func(*testing.T, *memfs.FS) {}, nil, ""},
		"not there":  {func(_ *testing.T, f *memfs.FS) { _ = f.Remove(live) }, nil, "not-a-live-session"},
		"no session": {func(*testing.T, *memfs.FS) {}, []string{"input.sessions=[/elsewhere.jsonl]"}, "not-a-live-session"},
		"itself":     {func(*testing.T, *memfs.FS) {}, []string{"publish.to=candidate", "publish.path=/out.jsonl", "input.sessions=[/out.jsonl]"}, "output-is-input"},
		"edited":     {edited, []string{"publish.to=candidate", "publish.path=/out.jsonl"}, "output-exists"},
		"at rest":    {func(_ *testing.T, f *memfs.FS) { _ = f.Chtimes(live, time.Unix(0, 0), time.Unix(0, 0)) }, []string{"publish.quiet=1h"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := liveWorld(t)
			for _, other := range []string{"/elsewhere.jsonl", "/out.jsonl"} {
				if name == "edited" && other == "/out.jsonl" {
					continue
				}
				if err := fsys.WriteFile(f, other, "t", small()); err != nil {
					t.Fatal(err)
				}
			}
			test.change(t, f)
			job := replaceJob(t, test.set...)
			p, err := engineOf(f, "run-5").Plan(context.Background(), job, closed)
			if err != nil || p.Items[0].Class != test.class {
				t.Errorf("plan: %+v, %v", p, err)
			}
			r, err := engineOf(f, "run-6").Run(context.Background(), job, closed)
			if err != nil || r.Items[0].Class != test.class {
				t.Errorf("run: %+v, %v", r, err)
			}
		})
	}
}

// edited has an output of ours that somebody changed.
func edited(t *testing.T, f *memfs.FS) {
	t.Helper()
	if r, err := engineOf(f, "run-1").Run(context.Background(), replaceJob(t, "publish.to=candidate", "publish.path=/out.jsonl"), closed); err != nil || r.Exit != 0 {
		t.Fatal(r, err)
	}
	if err := afero.WriteFile(f, "/out.jsonl", []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAReplacedSessionIsNotFoldedTwice whatever else happens to it.
func TestAReplacedSessionIsNotFoldedTwice(t *testing.T) {
	for name, between := range map[string]func(t *testing.T, f *memfs.FS){
		"nothing": func(*testing.T, *memfs.FS) {},
		"a candidate of the same job": func(t *testing.T, f *memfs.FS) {
			if r, err := replaceRun(t, f, "run-2", "publish.to=candidate", "publish.path=/out.jsonl"); err != nil || r.Exit != 0 {
				t.Fatal(r, err)
			}
		},
		"the run is forgotten": func(t *testing.T, f *memfs.FS) {
			if err := f.RemoveAll("/state/runs/run-1"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := liveWorld(t)
			if r, err := replaceRun(t, f, "run-1"); err != nil || r.Exit != 0 {
				t.Fatal(r, err)
			}
			now := content(f, live)
			between(t, f)
			if r, err := replaceRun(t, f, "run-3"); err != nil || r.Items[0].Status != step.UpToDate || content(f, live) != now {
				t.Errorf("%+v, %v", r.Items, err)
			}
		})
	}
}

// TestBackupsOfTwoProjects are counted apart, and what goes is told.
func TestBackupsOfTwoProjects(t *testing.T) {
	f := liveWorld(t)
	const other = "/home/.claude/projects/q"
	if err := errors.Join(fsys.MkdirAll(f, other), fsys.WriteFile(f, other+"/s.jsonl", "t", small())); err != nil {
		t.Fatal(err)
	}
	both := []string{"publish.backups=1", "input.sessions=[/home/.claude/projects/*/s.jsonl]"}
	r, err := replaceRun(t, f, "run-1", both...)
	if err != nil || r.Exit != 0 || len(r.Items) != 2 || r.Items[0].Item == r.Items[1].Item {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, i := range r.Items {
		if p := i.Outputs[1]; p.Op != step.Backup || content(f, p.Path) != string(small()) {
			t.Errorf("%+v", i.Outputs)
		}
	}
	first := r.Items[0].Outputs[1]
	goOnWith(t, f)
	job := replaceJob(t, both...)
	dry, err := engineOf(f, "").DryRun(context.Background(), job, closed)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = replaceRun(t, f, "run-2", both...); err != nil || r.Exit != 0 {
		t.Fatal(r, err)
	}
	last := r.Items[0].Outputs[len(r.Items[0].Outputs)-1]
	if last.Op != step.Remove || last.Path != first.Path || last.SHA256 != first.SHA256 || content(f, first.Path) != "(absent)" {
		t.Errorf("%+v", r.Items[0].Outputs)
	}
	if a, b := fmt.Sprintf("%+v", dry.Items[0].Outputs[1:]), fmt.Sprintf("%+v", r.Items[0].Outputs[1:]); a != b {
		t.Errorf("a dry run says %s, the run did %s", a, b)
	}
}

// TestRestoreOfWhatIsGone has no session, or no backup, any more.
func TestRestoreOfWhatIsGone(t *testing.T) {
	for _, gone := range [][]string{{live}, {backups + "/s.jsonl.backup"}, {live, backups + "/s.jsonl.backup"}} {
		f := liveWorld(t)
		if r, err := replaceRun(t, f, "run-1"); err != nil || r.Exit != 0 {
			t.Fatal(r, err)
		}
		for _, name := range gone {
			if err := f.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		r, err := engineOf(f, "run-2").Restore(context.Background(), "run-1", []string{live}, closed)
		if err != nil || r.Exit != 0 || content(f, live) != string(small()) {
			t.Errorf("without %v: %+v, %v", gone, r.Items, err)
		}
	}
}
