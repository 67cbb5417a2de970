package fsys_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/fstest"
)

func TestOS(t *testing.T) {
	fstest.Test(t, func(t *testing.T) (afero.Fs, string) { return fsys.OS(), t.TempDir() })
}

func TestResolveFollowsLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(at("real/deep"), 0o700),
		os.Symlink("real", at("link")),
		os.Symlink(at("real/new/file"), at("dangling")),
		os.Symlink("dangling", at("chain")),
		os.Symlink("loop", at("loop")),
	} {
		if err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	for name, want := range map[string]string{
		"link/deep":   "real/deep",
		"link/new/x":  "real/new/x",
		"real/deep":   "real/deep",
		"dangling":    "real/new/file",
		"chain":       "real/new/file",
		"chain/below": "real/new/file/below",
		"none":        "none",
	} {
		if got, err := fsys.Canonical(fsys.OS(), at(name)); err != nil || got != at(want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, at(want))
		}
	}
	if got, err := fsys.Canonical(fsys.OS(), at("loop")); err == nil {
		t.Errorf("a loop resolved to %s", got)
	}
}

type wrapped struct{ afero.Fs }

func (w wrapped) Unwrap() afero.Fs { return w.Fs }

type sealed struct{ afero.Fs }

func TestAsLooksThroughWrappersOnly(t *testing.T) {
	if _, ok := fsys.As[fsys.Linker](wrapped{wrapped{fsys.OS()}}); !ok {
		t.Error("no linker found through two wrappers")
	}
	if _, ok := fsys.As[fsys.Linker](sealed{fsys.OS()}); ok {
		t.Error("a linker found in a filesystem that does not offer it")
	}
}

type noSync struct{ afero.Fs }

func (noSync) SyncDir(string) error { return syscall.EIO }

func TestSyncDirReportsFailure(t *testing.T) {
	if err := fsys.SyncDir(noSync{}, "/"); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	if err := fsys.SyncDir(sealed{}, "/"); err != nil {
		t.Errorf("without the capability: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
