package overlay_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/overlay"
)

// linked is an overlay over a folder of the disk with symbolic links in it.
func linked(t *testing.T) (f *overlay.FS, at func(string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	at = func(name string) string { return filepath.Join(dir, name) }
	must(t, os.MkdirAll(at("real/deep"), 0o700))
	must(t, os.WriteFile(at("real/file"), []byte("content"), 0o600))
	for name, target := range map[string]string{
		"link": "real", "real/up": "../real/file", "absolute": at("real/file"),
		"dangling": at("real/new"), "chain": "link/up", "loop": "loop",
	} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	return overlay.New(fsys.OS(), now), at
}

func TestLinksAreFollowed(t *testing.T) {
	f, at := linked(t)
	for _, name := range []string{"link/file", "real/up", "absolute", "chain", "link/deep/../up"} {
		holds(t, f, at("")+"/"+name, "content")
	}
	for name, want := range map[string]error{"dangling": fs.ErrNotExist, "loop": syscall.ELOOP, "absolute/x": syscall.ENOTDIR} {
		if _, err := f.Stat(at(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := fsys.Lstat(f, at("link"))
	if err != nil || info.Mode().Type() != fs.ModeSymlink || info.Name() != "link" {
		t.Errorf("the link itself is %v, %v", info, err)
	}
	if target, err := f.ReadlinkIfPossible(at("link")); target != "real" || err != nil {
		t.Errorf("it leads to %q, %v", target, err)
	}
	if _, err := f.ReadlinkIfPossible(at("real")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a folder leads to something: %v", err)
	}
}

func TestResolveAsTheDiskDoes(t *testing.T) {
	f, at := linked(t)
	for _, name := range []string{"link/deep", "link/new/x", "dangling", "chain", "chain/below", "none/../link/x", "loop", "."} {
		want, wantErr := fsys.Canonical(fsys.OS(), at(name))
		got, err := f.Resolve(at(name))
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %s, %v; the disk says %s, %v", name, got, err, want, wantErr)
		}
	}
	here, err := os.Getwd()
	must(t, err)
	want, err := filepath.EvalSymlinks(here)
	must(t, err)
	if got, err := f.Resolve("x"); got != filepath.Join(want, "x") || err != nil {
		t.Errorf("a relative name: %s, %v", got, err)
	}
}

func TestWritingThroughLinks(t *testing.T) {
	f, at := linked(t)
	must(t, afero.WriteFile(f, at("absolute"), []byte("changed"), 0o600))
	holds(t, f, at("real/file"), "changed")
	must(t, afero.WriteFile(f, at("dangling"), []byte("made"), 0o600))
	holds(t, f, at("real/new"), "made")
	must(t, f.MkdirAll(at("link/a/b"), 0o700))
	must(t, fsys.WriteNew(f, at("real/a/b/c"), nil))
	if _, err := fsys.CreateNew(f, at("loop")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created where a link is: %v", err)
	}
	holds(t, fsys.OS(), at("real/file"), "content")
}

func TestChangingLinksThemselves(t *testing.T) {
	f, at := linked(t)
	must(t, f.Rename(at("link"), at("real/deep/link"))) // from where "real" is nothing
	if _, err := f.Stat(at("real/deep/link")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link that was moved: %v", err)
	}
	must(t, f.Rename(at("real"), at("moved")))
	if _, err := f.Stat(at("absolute")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link whose target was moved: %v", err)
	}
	must(t, f.Remove(at("absolute")))
	must(t, fsys.WriteNew(f, at("absolute"), []byte("a file")))
	if got, err := f.Resolve(at("absolute")); got != at("absolute") || err != nil {
		t.Errorf("the link that was replaced resolves to %s, %v", got, err)
	}
	holds(t, f, at("moved/file"), "content")
	_, err := os.Lstat(at("link"))
	must(t, err)
}

func TestDevicesCannotBeOpened(t *testing.T) {
	if info, err := os.Lstat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Skip("no device:", err)
	}
	f := overlay.New(fsys.OS(), now)
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY} {
		if _, err := f.OpenFile(os.DevNull, flag, 0); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("opened a device: %v", err)
		}
	}
}
