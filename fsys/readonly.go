package fsys

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// ReadOnly is a filesystem through which nothing can be changed: every call that
// would is an *fs.PathError with syscall.EROFS, an open for writing too, even of
// a file that is there. It offers the capabilities that only tell something
// (where f has one not, it is errors.ErrUnsupported) and does not lead to f, so
// that no other can be found.
func ReadOnly(f afero.Fs) afero.Fs { return readOnly{f} }

// readOnly has the field unexported, so that nothing of the filesystem below
// becomes a method by accident.
type readOnly struct{ below afero.Fs }

var (
	_ afero.Lstater    = readOnly{}
	_ afero.LinkReader = readOnly{}
	_ Resolver         = readOnly{}
	_ Identity         = readOnly{}
	_ Owner            = readOnly{}
	_ Processes        = readOnly{}
)

func refuse(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EROFS}
}

func (r readOnly) Name() string { return "readonly(" + r.below.Name() + ")" }

func (r readOnly) Open(name string) (afero.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

func (r readOnly) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, refuse("open", name)
	}
	h, err := r.below.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return readOnlyFile{h}, nil
}

func (r readOnly) Stat(name string) (fs.FileInfo, error) { return r.below.Stat(name) }

func (r readOnly) Create(name string) (afero.File, error)    { return nil, refuse("create", name) }
func (r readOnly) Mkdir(name string, _ fs.FileMode) error    { return refuse("mkdir", name) }
func (r readOnly) MkdirAll(name string, _ fs.FileMode) error { return refuse("mkdir", name) }
func (r readOnly) Remove(name string) error                  { return refuse("remove", name) }
func (r readOnly) RemoveAll(name string) error               { return refuse("removeall", name) }
func (r readOnly) Rename(oldname, _ string) error            { return refuse("rename", oldname) }
func (r readOnly) Chmod(name string, _ fs.FileMode) error    { return refuse("chmod", name) }
func (r readOnly) Chown(name string, _, _ int) error         { return refuse("chown", name) }
func (r readOnly) Chtimes(name string, _, _ time.Time) error { return refuse("chtimes", name) }

func (r readOnly) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if l, ok := As[afero.Lstater](r.below); ok {
		return l.LstatIfPossible(name)
	}
	info, err := r.below.Stat(name)
	return info, false, err
}

func (r readOnly) ReadlinkIfPossible(name string) (string, error) {
	if l, ok := As[afero.LinkReader](r.below); ok {
		return l.ReadlinkIfPossible(name)
	}
	return "", &fs.PathError{Op: "readlink", Path: name, Err: errors.ErrUnsupported}
}

// Resolve cleans the name where nothing below resolves it, as Canonical does.
func (r readOnly) Resolve(name string) (string, error) { return Canonical(r.below, name) }

func (r readOnly) SameFile(a, b string) (bool, error) {
	if id, ok := As[Identity](r.below); ok {
		return id.SameFile(a, b)
	}
	return false, errors.ErrUnsupported
}

func (r readOnly) Owned(name string) (bool, error) {
	if o, ok := As[Owner](r.below); ok {
		return o.Owned(name)
	}
	return false, errors.ErrUnsupported
}

func (r readOnly) IDs(name string) (uid, gid int, err error) {
	if o, ok := As[Owner](r.below); ok {
		return o.IDs(name)
	}
	return 0, 0, errors.ErrUnsupported
}

func (r readOnly) OpenBy(name string) ([]int, error) {
	if p, ok := As[Processes](r.below); ok {
		return p.OpenBy(name)
	}
	return nil, errors.ErrUnsupported
}

func (r readOnly) Alive(pid int) (bool, error) {
	if p, ok := As[Processes](r.below); ok {
		return p.Alive(pid)
	}
	return false, errors.ErrUnsupported
}

func (r readOnly) Started(pid int) (string, error) {
	if p, ok := As[Processes](r.below); ok {
		return p.Started(pid)
	}
	return "", errors.ErrUnsupported
}

// readOnlyFile is open for reading.
type readOnlyFile struct{ afero.File }

func (f readOnlyFile) Write([]byte) (int, error)          { return 0, refuse("write", f.Name()) }
func (f readOnlyFile) WriteAt([]byte, int64) (int, error) { return 0, refuse("write", f.Name()) }
func (f readOnlyFile) WriteString(string) (int, error)    { return 0, refuse("write", f.Name()) }
func (f readOnlyFile) Truncate(int64) error               { return refuse("truncate", f.Name()) }

// Sync has nothing to make durable.
func (f readOnlyFile) Sync() error { return nil }
