package overlay_test

import (
	"testing"
	"time"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/fstest"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/fsys/overlay"
)

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func must(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOverEmptyMemory(t *testing.T) {
	fstest.Test(t, func(t *testing.T) (afero.Fs, string) {
		f := overlay.New(memfs.New(now), now)
		must(t, f.Mkdir("/dir", 0o700))
		return f, "/dir"
	})
}

func TestOverAFolderOfBase(t *testing.T) {
	fstest.Test(t, func(t *testing.T) (afero.Fs, string) {
		base := memfs.New(now)
		must(t, base.Mkdir("/dir", 0o700))
		return overlay.New(base, now), "/dir"
	})
}

func TestOverADisk(t *testing.T) {
	fstest.Test(t, func(t *testing.T) (afero.Fs, string) {
		dir := t.TempDir()
		t.Cleanup(func() {
			if list, err := afero.ReadDir(fsys.OS(), dir); err != nil || len(list) > 0 {
				t.Errorf("the disk has been written to: %v, %v", list, err)
			}
		})
		return overlay.New(fsys.OS(), now), dir
	})
}

func TestOverTheLeastOfFilesystems(t *testing.T) {
	fstest.Test(t, func(t *testing.T) (afero.Fs, string) {
		base := afero.NewMemMapFs()
		must(t, base.Mkdir("/dir", 0o700))
		return overlay.New(fsys.ReadOnly(base), now), "/dir"
	})
}

// fill puts drawn files and folders in filesystems, the same in each.
func fill(t *rapid.T, all ...afero.Fs) {
	name := rapid.StringMatching(`/dir/[abd](/[abd]){0,2}`)
	for range rapid.IntRange(0, 8).Draw(t, "files in base") {
		at := name.Draw(t, "name")
		data := rapid.StringMatching(`[A-Z]{0,6}`).Draw(t, "content")
		for _, f := range all {
			if data == "" {
				_ = f.MkdirAll(at, 0o700) // fails where a file is
			} else {
				_ = afero.WriteFile(f, at, []byte(data), 0o600)
			}
		}
	}
}

func TestDoesWhatAFilesystemDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, plain := memfs.New(now), memfs.New(now)
		must(t, base.Mkdir("/dir", 0o700))
		must(t, plain.Mkdir("/dir", 0o700))
		fill(t, base, plain)
		before := fstest.Tree(fstest.Place{FS: base, Dir: "/"}, true)
		watched := faultfs.New(base, faultfs.Plan{})
		over := overlay.New(watched, now)
		fstest.Same(t, fstest.Place{FS: over, Dir: "/dir"}, fstest.Place{FS: plain, Dir: "/dir"}, true)
		if _, err := over.Changes(); err != nil {
			t.Log(err) // base may forbid to read what was changed
		}
		if ops := watched.Ops(); len(ops) > 0 {
			t.Fatalf("base was changed: %v", ops)
		}
		if after := fstest.Tree(fstest.Place{FS: base, Dir: "/"}, true); after != before {
			t.Fatalf("base was\n%s\nand is\n%s", before, after)
		}
	})
}
