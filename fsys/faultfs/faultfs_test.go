package faultfs_test

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/fstest"
	"github.com/precis-dev/precis/fsys/memfs"
)

func mem() *memfs.FS { return memfs.New(func() time.Time { return time.Unix(0, 0) }) }

func TestWithoutAPlanItIsTheFilesystemBelow(t *testing.T) {
	fstest.Test(t, func(t *testing.T) (afero.Fs, string) {
		f := mem()
		if err := f.Mkdir("/dir", 0o700); err != nil {
			t.Fatal(err)
		}
		return faultfs.New(f, faultfs.Plan{}), "/dir"
	})
}

// work is a small transaction with a capability in it.
func work(f afero.Fs) error {
	if err := fsys.WriteNew(f, "/a", []byte("1234")); err != nil {
		return err
	}
	link, _ := fsys.As[fsys.Linker](f)
	if err := link.Link("/a", "/b"); err != nil {
		return err
	}
	return fsys.SyncDir(f, "/")
}

func TestRecordsOperations(t *testing.T) {
	f := faultfs.New(mem(), faultfs.Plan{})
	if err := work(f); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, op := range f.Ops() {
		got = append(got, op.String())
	}
	want := []string{"create /a", "write /a", "sync /a", "close /a", "link /a -> /b", "syncdir /"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if f.Hit() {
		t.Error("hit without a plan")
	}
}

func TestFailsTheChosenOperationOnly(t *testing.T) {
	for n := 1; n <= 6; n++ {
		f := faultfs.New(mem(), faultfs.Plan{At: n, Err: syscall.ENOSPC})
		if err := work(f); !errors.Is(err, syscall.ENOSPC) || !f.Hit() {
			t.Errorf("operation %d: %v, hit %v", n, err, f.Hit())
		}
		if _, err := f.Create("/later"); err != nil {
			t.Errorf("operation %d: the next one failed too: %v", n, err)
		}
	}
	if f := faultfs.New(mem(), faultfs.Plan{At: 7}); work(f) != nil || f.Hit() {
		t.Error("the seventh of six operations failed")
	}
}

func TestStoppedWorldStaysStopped(t *testing.T) {
	base := mem()
	f := faultfs.New(base, faultfs.Plan{At: 3, Stop: true})
	if err := work(f); !errors.Is(err, faultfs.ErrStopped) {
		t.Fatal(err)
	}
	_, open := f.Open("/a")
	_, stat := f.Stat("/a")
	for _, err := range []error{open, stat, f.Remove("/a"), fsys.SyncDir(f, "/")} {
		if !errors.Is(err, faultfs.ErrStopped) {
			t.Errorf("an operation of a stopped world: %v", err)
		}
	}
	if _, err := base.Stat("/a"); err != nil {
		t.Error("the cleanup of a stopped world reached the disk")
	}
}

func TestShortWrite(t *testing.T) {
	for _, stop := range []bool{false, true} {
		base := mem()
		f := faultfs.New(base, faultfs.Plan{At: 2, Short: true, Stop: stop})
		w, err := f.Create("/a")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := w.Write([]byte("1234")); n != 2 || err == nil {
			t.Errorf("wrote %d, %v", n, err)
		}
		n, _ := w.Write([]byte("56"))
		want := map[bool]string{false: "1256", true: "12"}[stop]
		if got, _ := afero.ReadFile(base, "/a"); string(got) != want {
			t.Errorf("stop %v: %q after another %d bytes", stop, got, n)
		}
	}
}

func TestReadsCountWhenPlanned(t *testing.T) {
	base := mem()
	if err := work(base); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		f := faultfs.New(base, faultfs.Plan{At: n, Reads: true})
		_, _, err := fsys.Sum(f, "/a")
		if !f.Hit() {
			if n < 3 {
				t.Errorf("only %d reading operations: %v", n-1, fmt.Sprint(f.Ops()))
			}
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("reading operation %d: %v", n, err)
		}
	}
}
