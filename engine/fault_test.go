package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/spec"
)

// small is a job of two items, one after the other.
func small() *spec.Job {
	j := job()
	j.Run.Workers = 1
	return j
}

// TestFaultSweep fails or stops the world at every operation of a small run.
// Whatever is reported or recorded as done must be on the disk, also after a
// power cut, and the job run again must succeed.
func TestFaultSweep(t *testing.T) {
	for _, plan := range []faultfs.Plan{{Err: syscall.ENOSPC}, {Short: true}, {Stop: true, Short: true}} {
		for plan.At = 1; ; plan.At++ {
			base := world(t, "a", "b")
			f := faultfs.New(base, plan)
			r, err := engine.New(enginetest.Env(f), kind("a", "b")).Run(context.Background(), small(), engine.Options{})
			if !f.Hit() {
				if err != nil || r.Exit != 0 {
					t.Fatalf("without a fault: %+v, %v", r, err)
				}
				break
			}
			s := sweep{t, fmt.Sprintf("%+v (%s)", plan, f.Ops()[plan.At-1])}
			s.reported(base.CrashClone(0), r, err)
			for seed := range uint64(3) {
				after := base.CrashClone(seed)
				s.recorded(after)
				s.again(after)
			}
		}
	}
}

type sweep struct {
	*testing.T
	name string
}

func (s sweep) errorf(format string, args ...any) {
	s.Helper()
	s.Errorf("%s: %s", s.name, fmt.Sprintf(format, args...))
}

// reported compares what the run told with the disk after a power cut.
func (s sweep) reported(disk afero.Fs, r engine.Result, err error) {
	s.Helper()
	state := s.state(disk)
	if err != nil && r.Exit == 0 {
		s.errorf("exit 0 with error %v", err)
	}
	if r.Exit == 0 && state.Finished == nil {
		s.errorf("exit 0, but the journal does not end")
	}
	for _, i := range r.Items {
		if i.Status != step.Done {
			continue
		}
		id := strings.TrimSuffix(filepath.Base(i.Session), ".txt")
		if item := state.Item(id); item == nil || item.Result == nil || item.Result.Status != step.Done {
			s.errorf("item %s is reported as done and not recorded", id)
		}
		for _, p := range i.Outputs {
			s.stands(disk, p)
		}
	}
}

// recorded checks that the journal claims nothing that is not there.
func (s sweep) recorded(disk afero.Fs) {
	s.Helper()
	store, err := cas.Open(disk, "/state/runs/run-0001/artifacts.pack")
	if err != nil {
		s.errorf("%v", err)
		return
	}
	claims := func(item *journal.Item) error {
		for _, st := range item.Steps {
			for name, a := range st.Done.Artifacts {
				if err := store.Verify(a); err != nil {
					s.errorf("step %s claims %s: %v", st.Step, name, err)
				}
			}
			for _, p := range st.Done.Published {
				s.stands(disk, p)
			}
		}
		return nil
	}
	state := s.scan(disk, claims)
	for _, item := range state.Items {
		_ = claims(item)
	}
}

func (s sweep) stands(disk afero.Fs, p step.Published) {
	s.Helper()
	data, err := afero.ReadFile(disk, p.Path)
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); err != nil || got != p.SHA256 {
		s.errorf("%s should hold %s and holds %s, %v", p.Path, p.SHA256, got, err)
	}
}

func (s sweep) state(disk afero.Fs) journal.State { return s.scan(disk, nil) }

func (s sweep) scan(disk afero.Fs, each func(*journal.Item) error) journal.State {
	s.Helper()
	state, err := journal.Scan(disk, journalFile, each)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.errorf("%v", err)
	}
	return state
}

// again runs the job on what is left.
func (s sweep) again(disk *memfs.FS) {
	s.Helper()
	env := enginetest.Env(disk)
	env.NewID = func() string { return "run-again" }
	r, err := engine.New(env, kind("a", "b")).Run(context.Background(), small(), engine.Options{})
	if err != nil || r.Exit != 0 {
		s.errorf("run again: %s, %v", statuses(r), err)
	}
	if a, b := read(s.T, disk, "/out/a.txt"), read(s.T, disk, "/out/b.txt"); a != "A\n" || b != "B\n" {
		s.errorf("run again published %q and %q", a, b)
	}
}

// TestAJournalThatCannotBeWrittenEndsTheRun breaks the journal at each of its
// commits and nothing else: the opening, the intent and the end of each item, and
// the end of the run.
func TestAJournalThatCannotBeWrittenEndsTheRun(t *testing.T) {
	const commits = 1 + 2*2 + 1
	for n := 1; n <= commits; n++ {
		base := world(t, "a", "b")
		f := &fullJournal{FS: base, left: n - 1}
		r, err := engine.New(enginetest.Env(f), kind("a", "b")).Run(context.Background(), small(), engine.Options{})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("commit %d: error %v", n, err)
		}
		created := 0
		for _, i := range r.Items {
			created += len(i.Outputs)
		}
		want := 1
		if created == 2 {
			want = 3 // whatever failed had been published, and could not be recorded
		}
		if r.Exit != want {
			t.Errorf("commit %d: exit %d, want %d: %s", n, r.Exit, want, statuses(r))
		}
		if got := strings.Count(read(t, base, journalFile), "\n"); got != n-1 {
			t.Errorf("commit %d: %d lines were written", n, got)
		}
	}
}

// fullJournal is a disk with room for so many commits of a journal.
type fullJournal struct {
	*memfs.FS
	left int
}

func (f *fullJournal) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	h, err := f.FS.OpenFile(name, flag, perm)
	if err == nil && name == journalFile {
		return fullFile{h, f}, nil
	}
	return h, err
}

type fullFile struct {
	afero.File
	fs *fullJournal
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.fs.left == 0 {
		return 0, syscall.ENOSPC
	}
	f.fs.left--
	return f.File.Write(p)
}
