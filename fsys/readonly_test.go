package fsys_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
)

func TestReadOnlyRefusesEveryChange(t *testing.T) {
	below := faultfs.New(fsys.OS(), faultfs.Plan{})
	f := fsys.ReadOnly(below)
	a := filepath.Join(t.TempDir(), "a")
	must(t, os.WriteFile(a, []byte("1"), 0o600))
	h, err := f.Open(a)
	must(t, err)
	create := func(flag int) error { _, err := f.OpenFile(a, flag, 0o600); return err }
	_, created := f.Create(a)
	_, wrote := h.Write([]byte("2"))
	_, wroteAt := h.WriteAt([]byte("2"), 0)
	_, wroteString := h.WriteString("2")
	for name, err := range map[string]error{
		"create": created, "open to write": create(os.O_WRONLY), "open for both": create(os.O_RDWR),
		"open to create": create(os.O_CREATE), "open to truncate": create(os.O_TRUNC),
		"mkdir": f.Mkdir(a, 0), "mkdirall": f.MkdirAll(a, 0), "remove": f.Remove(a), "removeall": f.RemoveAll(a),
		"rename": f.Rename(a, a+"b"), "chmod": f.Chmod(a, 0), "chown": f.Chown(a, 0, 0),
		"chtimes": f.Chtimes(a, time.Time{}, time.Time{}),
		"write":   wrote, "writeat": wroteAt, "writestring": wroteString, "truncate": h.Truncate(0),
	} {
		if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Err != syscall.EROFS || e.Path != a {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, errors.Join(h.Sync(), h.Close()))
	if ops := below.Ops(); len(ops) > 0 {
		t.Errorf("what is below was changed: %v", ops)
	}
}

func TestReadOnlyReads(t *testing.T) {
	f := fsys.ReadOnly(fsys.OS())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	a, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	must(t, os.WriteFile(a, []byte("1"), 0o600))
	if err := os.Symlink("a", link); err != nil {
		t.Skip("no symbolic links:", err)
	}
	data, err := afero.ReadFile(f, link)
	if string(data) != "1" || err != nil {
		t.Errorf("read %q, %v", data, err)
	}
	info, err := fsys.Lstat(f, link)
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := f.Stat(link); err != nil || info.Size() != 1 {
		t.Errorf("it leads to %v, %v", info, err)
	}
	if got, err := fsys.Canonical(f, link); got != a || err != nil {
		t.Errorf("resolved to %s, %v", got, err)
	}
	id, _ := fsys.As[fsys.Identity](f)
	if same, err := id.SameFile(a, link); !same || err != nil {
		t.Errorf("same %v, %v", same, err)
	}
	owner, _ := fsys.As[fsys.Owner](f)
	if own, err := owner.Owned(a); !own || err != nil {
		t.Errorf("owned %v, %v", own, err)
	}
}

func TestReadOnlyOffersNothingThatChanges(t *testing.T) {
	f := fsys.ReadOnly(wrapped{fsys.OS()})
	_, linker := fsys.As[fsys.Linker](f)
	_, exchanger := fsys.As[fsys.Exchanger](f)
	_, locker := fsys.As[fsys.Locker](f)
	_, syncer := fsys.As[fsys.DirSyncer](f)
	_, unwrapper := f.(fsys.Unwrapper)
	_, symlinker := f.(afero.Linker)
	if linker || exchanger || locker || syncer || unwrapper || symlinker {
		t.Error("a way to change what is below")
	}
}

func TestReadOnlyOverLess(t *testing.T) {
	type all interface {
		afero.Fs
		afero.LinkReader
		fsys.Identity
		fsys.Owner
		fsys.Processes
	}
	f, ok := fsys.ReadOnly(afero.NewMemMapFs()).(all)
	if !ok {
		t.Fatal("a capability is not offered")
	}
	_, link := f.ReadlinkIfPossible("a")
	_, same := f.SameFile("a", "b")
	_, owned := f.Owned("a")
	_, _, ids := f.IDs("a")
	_, open := f.OpenBy("a")
	_, alive := f.Alive(1)
	_, started := f.Started(1)
	for _, err := range []error{link, same, owned, ids, open, alive, started} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("error %v", err)
		}
	}
	if got, err := fsys.Canonical(f, "/a/../b"); got != filepath.Clean("/b") || err != nil {
		t.Errorf("canonical %s, %v", got, err)
	}
	if _, err := fsys.Lstat(f, "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("described what is not there: %v", err)
	}
}
