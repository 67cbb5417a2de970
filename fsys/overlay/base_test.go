package overlay_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/fsys/overlay"
)

// over is an overlay over files with their own names for content.
func over(t *testing.T, files ...string) (*overlay.FS, *memfs.FS) {
	t.Helper()
	base := memfs.New(now)
	for _, name := range files {
		must(t, base.MkdirAll(filepath.Dir(name), 0o700))
		must(t, afero.WriteFile(base, name, []byte(name), 0o600))
	}
	return overlay.New(base, func() time.Time { return now().Add(time.Hour) }), base
}

func holds(t *testing.T, f afero.Fs, name, want string) {
	t.Helper()
	if got, err := afero.ReadFile(f, name); string(got) != want || err != nil {
		t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
	}
}

func TestContentIsNotReadUntilItIsWritten(t *testing.T) {
	_, base := over(t, "/d/a", "/d/b")
	watched := faultfs.New(base, faultfs.Plan{Reads: true})
	f := overlay.New(watched, now)
	must(t, f.Mkdir("/new", 0o700))
	must(t, f.Link("/d/a", "/new/link"))
	must(t, f.Exchange("/d/a", "/d/b"))
	must(t, f.Rename("/d/b", "/new/b"))
	must(t, f.Chmod("/new/b", 0o640))
	must(t, f.Chown("/new/b", 7, 8))
	must(t, f.Chtimes("/new/b", now(), now()))
	must(t, f.Rename("/d", "/e"))
	for _, op := range watched.Ops() {
		if op.Kind != faultfs.Stat {
			t.Errorf("base saw %v", op)
		}
	}
	holds(t, f, "/new/b", "/d/a")
	holds(t, f, "/e/a", "/d/b")
	must(t, afero.WriteFile(f, "/new/link", []byte("written"), 0))
	holds(t, f, "/new/b", "written")
	holds(t, base, "/d/a", "/d/a")
}

func TestCopyKeepsWhatAFileIs(t *testing.T) {
	f, base := over(t, "/a")
	must(t, base.Chmod("/a", 0o640))
	must(t, base.Chown("/a", 7, 8))
	w, err := f.OpenFile("/a", os.O_RDWR, 0)
	must(t, err)
	info, err := w.Stat()
	must(t, err)
	if info.Mode() != 0o640 || !info.ModTime().Equal(now()) || info.Size() != 2 {
		t.Errorf("opened: %v, %v, %d bytes", info.Mode(), info.ModTime(), info.Size())
	}
	if uid, gid, err := f.IDs("/a"); uid != 7 || gid != 8 || err != nil {
		t.Errorf("opened: owner %d:%d, %v", uid, gid, err)
	}
	_, err = w.WriteAt([]byte("b"), 1)
	must(t, err)
	must(t, w.Close())
	info, err = f.Stat("/a")
	must(t, err)
	if info.Mode() != 0o640 || !info.ModTime().Equal(now().Add(time.Hour)) {
		t.Errorf("written: %v, %v", info.Mode(), info.ModTime())
	}
	must(t, f.Chown("/a", 9, -1))
	if uid, gid, err := f.IDs("/a"); uid != 9 || gid != 8 || err != nil {
		t.Errorf("given away: owner %d:%d, %v", uid, gid, err)
	}
	if own, err := f.Owned("/a"); own != (os.Geteuid() == 9) || err != nil {
		t.Errorf("given away: owned %v, %v", own, err)
	}
}

func TestOpenFileOfBaseSeesWhatIsWritten(t *testing.T) {
	f, _ := over(t, "/a")
	r, err := f.Open("/a")
	must(t, err)
	must(t, f.Link("/a", "/b"))
	must(t, afero.WriteFile(f, "/b", []byte("written"), 0))
	must(t, f.Remove("/a"))
	info, err := r.Stat()
	must(t, err)
	got, err := io.ReadAll(r)
	if string(got) != "written" || err != nil || info.Size() != 7 {
		t.Errorf("read %q of %d, %v", got, info.Size(), err)
	}
	if end, err := r.Seek(0, io.SeekEnd); end != 7 || err != nil {
		t.Errorf("the end is at %d, %v", end, err)
	}
	must(t, r.Close())
}

func TestPermissionsOfBaseAreEnforced(t *testing.T) {
	f, base := over(t, "/ro/a", "/w", "/r")
	must(t, base.Chmod("/ro", 0o500))
	must(t, base.Chmod("/w", 0o200))
	must(t, base.Chmod("/r", 0o400))
	_, create := f.Create("/ro/new")
	_, write := f.OpenFile("/r", os.O_WRONLY, 0)
	_, read := f.Open("/w")
	for name, err := range map[string]error{
		"create": create, "write": write, "read": read, "remove": f.Remove("/ro/a"), "rename": f.Rename("/ro/a", "/a"),
		"link": f.Link("/w", "/ro/new"), "mkdir": f.Mkdir("/ro/new", 0o700), "exchange": f.Exchange("/ro/a", "/ro/a"),
	} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, f.Chmod("/ro", 0o700))
	must(t, f.Remove("/ro/a"))
}

func TestBaseIsReadAsItIsNow(t *testing.T) {
	f, base := over(t, "/d/a")
	r, err := f.Open("/d/a")
	must(t, err)
	must(t, f.Rename("/d", "/e"))
	must(t, afero.WriteFile(base, "/d/a", []byte("longer than it was"), 0o600))
	must(t, afero.WriteFile(base, "/d/new", []byte("new"), 0o600))
	holds(t, f, "/e/a", "longer than it was")
	holds(t, f, "/e/new", "new")
	if end, err := r.Seek(0, io.SeekEnd); end != 18 || err != nil {
		t.Errorf("the end is at %d, %v", end, err)
	}
	must(t, base.Remove("/d/a"))
	list, err := afero.ReadDir(f, "/e")
	if len(list) != 1 || err != nil {
		t.Errorf("listed %d files, %v", len(list), err)
	}
}

func TestErrorsOfBaseComeUnderTheNameThatWasUsed(t *testing.T) {
	f, base := over(t, "/d/a")
	must(t, f.Rename("/d", "/e"))
	must(t, base.Remove("/d/a"))
	_, err := f.Open("/e/a")
	if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Path != "/e/a" || e.Err != syscall.ENOENT {
		t.Errorf("error %v", err)
	}
}

func TestFailingBase(t *testing.T) {
	_, base := over(t, "/d/a", "/d/b")
	work := func(f *overlay.FS) error {
		_, stat := f.Stat("/d/a")
		data, read := afero.ReadFile(f, "/d/a")
		_, list := afero.ReadDir(f, "/d")
		w, write := f.OpenFile("/d/b", os.O_WRONLY, 0)
		if write == nil {
			write = w.Close()
		}
		rename := f.Rename("/d", "/e")
		changes, diff := f.Changes()
		err := errors.Join(stat, read, list, write, rename, diff)
		if err == nil && (string(data) != "/d/a" || len(changes) != 6) {
			t.Errorf("read %q, changes %v", data, changes)
		}
		return err
	}
	for n := 1; ; n++ {
		below := faultfs.New(base, faultfs.Plan{At: n, Reads: true})
		err := work(overlay.New(below, now))
		if !below.Hit() {
			if err != nil || n < 10 {
				t.Errorf("%d operations of base, %v", n-1, err)
			}
			return
		}
		// A size may be but a hint: work has seen that the result is right.
		hint := err == nil && below.Ops()[n-1].Kind == faultfs.Stat
		if !hint && !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d of base failed, and the overlay says %v", n, err)
		}
	}
}

func TestLocksAreTheOverlaysOwn(t *testing.T) {
	f, base := over(t, "/a")
	below, err := base.Lock("/a")
	must(t, err)
	l, err := f.Lock("/a")
	must(t, err)
	if _, err := f.Lock("/a"); !errors.Is(err, fsys.ErrLocked) {
		t.Errorf("the second lock: %v", err)
	}
	must(t, below.Close())
	_, err = base.Lock("/a")
	must(t, err)
	must(t, errors.Join(l.Close(), l.Close()))
}

func TestNothingLeadsToBase(t *testing.T) {
	var f afero.Fs = overlay.New(fsys.OS(), now)
	if _, ok := f.(fsys.Unwrapper); ok {
		t.Error("the overlay can be unwrapped")
	}
	if _, ok := f.(afero.Linker); ok {
		t.Error("the overlay makes symbolic links")
	}
}

func TestProcessesOfBase(t *testing.T) {
	f, base := over(t, "/a", "/b")
	must(t, base.SetOpen("/a", 12, 3))
	base.SetAlive(3)
	must(t, f.Rename("/a", "/c"))
	must(t, afero.WriteFile(f, "/c", nil, 0))
	must(t, afero.WriteFile(f, "/a", nil, 0o600))
	for name, want := range map[string][]int{"/a": nil, "/b": nil, "/c": {3, 12}} {
		if got, err := f.OpenBy(name); !slices.Equal(got, want) || err != nil {
			t.Errorf("%s is open by %v, %v; want %v", name, got, err, want)
		}
	}
	for pid, want := range map[int]bool{3: true, 12: false} {
		alive, err := f.Alive(pid)
		_, started := f.Started(pid)
		if alive != want || err != nil || (started == nil) != want {
			t.Errorf("process %d: alive %v, %v, %v", pid, alive, err, started)
		}
	}
}

func TestHardLinksOfBase(t *testing.T) {
	f, base := over(t, "/a")
	must(t, base.Link("/a", "/b"))
	if same, err := f.SameFile("/a", "/b"); !same || err != nil {
		t.Errorf("same %v, %v", same, err)
	}
	must(t, f.Rename("/a", "/b"))
	holds(t, f, "/a", "/a") // rename(2): of two names of one file, both stay
}
