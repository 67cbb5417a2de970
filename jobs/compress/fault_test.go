package compress_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/jobs/compress"
)

// TestFaultSweep lets every operation of a compression fail, reading ones
// included, and stops the world at every writing one. The output is then absent
// or whole, the session is as it was, and the job succeeds when run again.
func TestFaultSweep(t *testing.T) {
	clean := newWorld(t)
	clean.put("/s/small.jsonl", small())
	clean.one("small")
	want, job := string(clean.out("small")), clean.job()
	for name, plan := range map[string]faultfs.Plan{
		"no space":   {Err: syscall.ENOSPC},
		"short":      {Short: true},
		"unreadable": {Err: syscall.EIO, Reads: true},
		"power cut":  {Stop: true, Short: true},
	} {
		t.Run(name, func(t *testing.T) {
			for plan.At = 1; ; plan.At++ {
				w := newWorld(t)
				w.put("/s/small.jsonl", small())
				f := faultfs.New(w.fs, plan)
				r, _ := engine.New(enginetest.Env(f), compress.Kind{}).Run(context.Background(), job, engine.Options{})
				if !f.Hit() {
					if r.Exit != 0 {
						t.Fatalf("without a fault: %+v", r)
					}
					return
				}
				at := f.Ops()[plan.At-1].String()
				checkAfterFault(t, at, w.fs, r, want)
				again := engine.New(engine.Env{FS: w.fs, State: "/state", Now: enginetest.Clock(), NewID: func() string { return "again" }, Log: w.env.Log, Host: w.env.Host}, compress.Kind{})
				if r, err := again.Run(context.Background(), job, engine.Options{}); r.Exit != 0 {
					t.Errorf("%s: the run after it: %v %+v", at, err, r.Items)
				}
				if got, _ := afero.ReadFile(w.fs, "/out/small.jsonl"); string(got) != want {
					t.Errorf("%s: the run after it gives another output", at)
				}
			}
		})
	}
}

// checkAfterFault looks at what a failed run left.
func checkAfterFault(t *testing.T, at string, fs *memfs.FS, r engine.Result, want string) {
	t.Helper()
	if got, err := afero.ReadFile(fs, "/s/small.jsonl"); err != nil || string(got) != string(small()) {
		t.Errorf("%s: the session changed", at)
	}
	got, err := afero.ReadFile(fs, "/out/small.jsonl")
	if err == nil && string(got) != want {
		t.Errorf("%s: the output is neither absent nor whole", at)
	}
	for _, i := range r.Items {
		if (i.Status == step.Done || i.Status == step.UpToDate) && os.IsNotExist(err) {
			t.Errorf("%s: done without an output", at)
		}
		if strings.Contains(i.Message, "parser") {
			t.Errorf("%s: the message holds text of the session: %s", at, i.Message)
		}
	}
}
