package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
)

// published are the outputs of items a and b.
func published(t testing.TB, f afero.Fs) string {
	return read(t, f, "/out/a.txt") + read(t, f, "/out/b.txt")
}

func jobFile(t testing.TB, f afero.Fs, text string) {
	t.Helper()
	if err := fsys.WriteFile(f, "/job.yaml", "t", []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestResumeAfterEveryCrash cuts the power at every operation of a run and goes on
// from what is left.
func TestResumeAfterEveryCrash(t *testing.T) {
	cases, unbegun := 0, 0
	for at := 1; ; at++ {
		base := world(t, "a", "b")
		f := faultfs.New(base, faultfs.Plan{At: at, Stop: true, Short: true})
		_, _ = engine.New(enginetest.Env(f), kind("a", "b")).Run(context.Background(), small(), engine.Options{})
		if !f.Hit() {
			break
		}
		for seed := range uint64(8) {
			cases++
			if !resumed(t, fmt.Sprintf("%s, seed %d", f.Ops()[at-1], seed), base.CrashClone(seed)) {
				unbegun++
			}
		}
	}
	t.Logf("%d crashes, %d before the run had begun", cases, unbegun)
	if unbegun == 0 || unbegun == cases {
		t.Error("the sweep missed what it is for")
	}
}

// resumed goes on with a run, or begins one where it had not come so far; the end is
// the same.
func resumed(t testing.TB, name string, f *memfs.FS) (begun bool) {
	t.Helper()
	env := enginetest.Env(f)
	env.NewID = func() string { return "run-again" }
	e := engine.New(env, kind("a", "b"))
	r, err := e.Resume(context.Background(), "run-0001", engine.Options{})
	var refused *step.Refusal
	begun = true
	if errors.As(err, &refused) && (refused.Class == "no-such-run" || refused.Class == "run-not-begun") {
		begun = false
		r, err = e.Run(context.Background(), small(), engine.Options{})
	}
	if err != nil || r.Exit != 0 {
		t.Errorf("%s: %s, %v", name, statuses(r), err)
		return begun
	}
	if got := published(t, f); got != "A\nB\n" {
		t.Errorf("%s: published %q", name, got)
	}
	if info, err := e.Show(r.Run); err != nil || info.Status != engine.RunFinished || info.Count[step.Done]+info.Count[step.UpToDate] != 2 {
		t.Errorf("%s: the record says %+v, %v", name, info, err)
	}
	return begun
}

// TestResumeAfterManyCrashes cuts the power again and again, at random.
func TestResumeAfterManyCrashes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := world(t, "a", "b")
		for n := range rapid.IntRange(1, 6).Draw(rt, "crashes") {
			dying := faultfs.New(f, faultfs.Plan{At: rapid.IntRange(1, 60).Draw(rt, "operation"), Stop: true})
			env := enginetest.Env(dying)
			env.NewID = func() string { return fmt.Sprintf("run-%04d", n) }
			e := engine.New(env, kind("a", "b"))
			if _, err := e.Resume(context.Background(), "last", engine.Options{}); err != nil {
				_, _ = e.Run(context.Background(), small(), engine.Options{})
			}
			f = f.CrashClone(rapid.Uint64().Draw(rt, "seed"))
		}
		env := enginetest.Env(f)
		env.NewID = func() string { return "run-last" }
		e := engine.New(env, kind("a", "b"))
		r, err := e.Resume(context.Background(), "last", engine.Options{})
		if err != nil {
			r, err = e.Run(context.Background(), small(), engine.Options{})
		}
		if err != nil || r.Exit != 0 || published(t, f) != "A\nB\n" {
			rt.Fatalf("%s, %v, published %q", statuses(r), err, published(t, f))
		}
	})
}

// cut is a world with a run that was interrupted before it published a.
func cut(t *testing.T) *memfs.FS {
	t.Helper()
	f := world(t, "a")
	jobFile(t, f, enginetest.Text)
	ctx, cancel := context.WithCancel(context.Background())
	k := kind("a")
	k.Before = func(ctx context.Context, _, name string) error {
		if name == "publish" {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	r, err := engine.New(enginetest.Env(f), k).Run(ctx, job(), engine.Options{})
	if err != nil || r.Exit != 130 || !strings.Contains(r.Items[0].Next, "precis resume run-0001") {
		t.Fatalf("%+v, %v", r, err)
	}
	return f
}

func TestWhatIsFinishedIsNotDoneAgain(t *testing.T) {
	f := cut(t)
	var ran []string
	k := kind("a")
	k.Before = func(_ context.Context, _, name string) error { ran = append(ran, name); return nil }
	r, err := engine.New(enginetest.Env(f), k).Resume(context.Background(), "last", engine.Options{})
	if err != nil || statuses(r) != "done" || r.Run != "run-0001" || read(t, f, "/out/a.txt") != "A\n" {
		t.Errorf("%+v, %v", r, err)
	}
	if d := cmp.Diff([]string{"publish"}, ran); d != "" {
		t.Error(d)
	}
	before := read(t, f, journalFile)
	again, err := engine.New(enginetest.Env(f), k).Resume(context.Background(), "last", engine.Options{})
	if err != nil || again.Exit != 0 || statuses(again) != "done" || read(t, f, journalFile) != before {
		t.Errorf("a finished run: %+v, %v", again, err)
	}
}

func TestWhatResumeRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, f *memfs.FS)
		want   string // the class
		says   string
	}{
		"another job": {func(t *testing.T, f *memfs.FS) {
			jobFile(t, f, strings.Replace(enginetest.Text, "name: test", "name: test\nbudgets: {keepRecords: 7}", 1))
		}, "job-changed", "job.budgets.keepRecords was 120 and is 7"},
		"another source": {func(t *testing.T, f *memfs.FS) {
			write(t, f, "/in/a.txt", "b\n")
		}, "source-changed", "/in/a.txt was sha256:87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7 and is sha256:0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f"},
		"no source": {func(t *testing.T, f *memfs.FS) {
			if err := f.Remove("/in/a.txt"); err != nil {
				t.Fatal(err)
			}
		}, "no-source", "gone"},
		"artifacts gone": {func(t *testing.T, f *memfs.FS) {
			if err := f.Remove("/state/runs/run-0001/artifacts.pack"); err != nil {
				t.Fatal(err)
			}
		}, "changed-since", "artifacts.source was sha256:"},
		"a journal of another version": {func(t *testing.T, f *memfs.FS) {
			write(t, f, journalFile, strings.Replace(read(t, f, journalFile), `"v":2`, `"v":3`, 1))
		}, "journal-unknown-version", "version 3"},
		"nothing": {func(*testing.T, *memfs.FS) {}, "", ""},
		"the same in other words": {func(t *testing.T, f *memfs.FS) {
			jobFile(t, f, "# a comment\n"+enginetest.Text+"budgets: {keepRecords: 120}\n")
		}, "", ""},
		"no job file": {func(t *testing.T, f *memfs.FS) {
			if err := f.Remove("/job.yaml"); err != nil {
				t.Fatal(err)
			}
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := cut(t)
			test.change(t, f)
			journal := read(t, f, journalFile)
			r, err := engine.New(enginetest.Env(f), kind("a")).Resume(context.Background(), "run-0001", engine.Options{})
			if test.want == "" {
				if err != nil || statuses(r) != "done" {
					t.Fatalf("%s, %v", statuses(r), err)
				}
				return
			}
			class, message := "", ""
			if refused := new(step.Refusal); errors.As(err, &refused) {
				class, message = refused.Class, refused.Message
				if now := read(t, f, journalFile); now != journal {
					t.Error("the record was touched")
				}
			} else if len(r.Items) == 1 {
				class, message = r.Items[0].Class, r.Items[0].Message
			}
			if class != test.want || !strings.Contains(message, test.says) || r.Exit != 1 {
				t.Errorf("exit %d, %s: %s (%v)", r.Exit, class, message, err)
			}
			if _, err := f.Stat("/out/a.txt"); err == nil {
				t.Error("it was published")
			}
		})
	}
}

func TestARunThatGoesOnIsNotResumed(t *testing.T) {
	f := world(t, "a")
	k := kind("a")
	k.Before = func(_ context.Context, _, name string) error {
		if name == "publish" {
			env := enginetest.Env(f)
			env.Host.PID = 2
			e := engine.New(env, kind("a"))
			r, err := e.Resume(context.Background(), "last", engine.Options{})
			refused := new(step.Refusal)
			if !errors.As(err, &refused) || refused.Class != "run-locked" || !strings.Contains(refused.Message, "1") || r.Exit != 1 {
				t.Errorf("%+v, %v", r, err)
			}
			if runs, err := e.Runs(); err != nil || len(runs) != 1 || runs[0].Status != engine.RunRunning {
				t.Errorf("%+v, %v", runs, err)
			}
		}
		return nil
	}
	if r, err := engine.New(enginetest.Env(f), k).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
		t.Errorf("%s, %v", statuses(r), err)
	}
}

// TestARunOutlivesAFullDisk has the disk full at each operation, and room again for
// the resume.
func TestARunOutlivesAFullDisk(t *testing.T) {
	for at := 1; ; at++ {
		base := world(t, "a", "b")
		f := faultfs.New(base, faultfs.Plan{At: at, Err: syscall.ENOSPC, Short: true})
		env := enginetest.Env(f)
		env.NewID = func() string { return "run-0000" }
		r, _ := engine.New(env, kind("a", "b")).Run(context.Background(), small(), engine.Options{})
		if !f.Hit() {
			break
		}
		if r.Exit == 0 {
			continue
		}
		e := engine.New(enginetest.Env(base), kind("a", "b"))
		again, err := e.Resume(context.Background(), "last", engine.Options{})
		if refused := new(step.Refusal); errors.As(err, &refused) && (refused.Class == "run-not-begun" || refused.Class == "no-such-run") {
			again, err = e.Run(context.Background(), small(), engine.Options{})
		}
		if err != nil || again.Exit != 0 || published(t, base) != "A\nB\n" {
			t.Errorf("%s: %s, then %s, %v", f.Ops()[at-1], statuses(r), statuses(again), err)
		}
	}
}

func write(t testing.TB, f afero.Fs, name, text string) {
	t.Helper()
	if err := afero.WriteFile(f, name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAnItemThatDiedIsRefused has a run die in the middle of a publication, and the
// source changed before it is resumed: the item is refused, and the others are done.
func TestAnItemThatDiedIsRefused(t *testing.T) {
	died := 0
	for at := 1; ; at++ {
		base := world(t, "a", "b")
		f := faultfs.New(base, faultfs.Plan{At: at, Stop: true})
		_, _ = engine.New(enginetest.Env(f), kind("a", "b")).Run(context.Background(), small(), engine.Options{})
		if !f.Hit() {
			break
		}
		after := base.CrashClone(0)
		state, err := journal.Scan(after, journalFile, nil)
		if err != nil || state.Item("a") == nil || state.Item("b") == nil || state.Item("a").Step("publish") == nil || state.Item("a").Result != nil {
			continue
		}
		died++
		write(t, after, "/in/a.txt", "else\n")
		r, err := engine.New(enginetest.Env(after), kind("a", "b")).Resume(context.Background(), "run-0001", engine.Options{})
		got := statuses(r)
		if err != nil || got != "refused:source-changed done" && got != "done done" || read(t, after, "/out/b.txt") != "B\n" {
			t.Errorf("%s: %s, %v", f.Ops()[at-1], got, err)
		}
	}
	if died == 0 {
		t.Error("it never died there")
	}
}
