package memfs_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
)

func TestProcesses(t *testing.T) {
	f := memfs.New(start)
	must(t, fsys.WriteNew(f, "/a", nil))
	must(t, fsys.WriteNew(f, "/b", nil))
	must(t, f.SetOpen("/a", 12, 3, 12))
	must(t, f.Rename("/a", "/c"))
	f.SetAlive(3, 12)
	p, ok := fsys.As[fsys.Processes](faultfs.New(f, faultfs.Plan{}))
	if !ok {
		t.Fatal("no processes found through a wrapper")
	}
	for name, want := range map[string][]int{"/b": nil, "/c": {3, 12}} {
		if got, err := p.OpenBy(name); !slices.Equal(got, want) || err != nil {
			t.Errorf("%s is open by %v, %v; want %v", name, got, err, want)
		}
	}
	three, err := p.Started(3)
	must(t, err)
	if twelve, err := p.Started(12); twelve == three || err != nil {
		t.Errorf("both started %s, %v", twelve, err)
	}
	f.SetAlive(12)
	if alive, err := p.Alive(3); alive || err != nil {
		t.Errorf("process 3 is alive, %v", err)
	}
	_, started := p.Started(3)
	_, open := p.OpenBy("/a")
	for _, err := range []error{started, open, f.SetOpen("/a", 1)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of what is not there: %v", err)
		}
	}
	must(t, f.SyncDir("/"))
	after := f.CrashClone(0)
	alive, _ := after.Alive(12)
	if open, err := after.OpenBy("/c"); alive || len(open) > 0 || err != nil {
		t.Errorf("after a crash: alive %v, open by %v, %v", alive, open, err)
	}
}
