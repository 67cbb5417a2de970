package fsys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/gofrs/flock"
	"github.com/spf13/afero"
)

// OS is the filesystem of the operating system, with every capability.
func OS() afero.Fs { return osFS{&afero.OsFs{}} }

type osFS struct{ *afero.OsFs }

var (
	_ Linker    = osFS{}
	_ DirSyncer = osFS{}
	_ Exchanger = osFS{}
	_ Locker    = osFS{}
	_ Resolver  = osFS{}
	_ Identity  = osFS{}
	_ Owner     = osFS{}
	_ Processes = osFS{}
)

// Link makes a hard link. link(2) answers EPERM on a volume that has none.
func (osFS) Link(oldname, newname string) error {
	err := os.Link(oldname, newname)
	if errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	return err
}

// SyncDir flushes a directory. Windows cannot flush one and orders its
// directory changes in the volume's own log, so there it does nothing. Some
// network and user-space volumes answer EINVAL, fsync(2)'s word for a file that
// cannot be synced.
func (osFS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	return errors.Join(err, d.Close())
}

// Lock holds an flock(2), LockFileEx on Windows.
func (osFS) Lock(name string) (io.Closer, error) {
	l := flock.New(name, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	if !ok {
		return nil, fmt.Errorf("lock %s: %w", name, ErrLocked)
	}
	return l, nil
}

// maxLinks bounds a chain of symbolic links, as Linux does (path_resolution(7)).
const maxLinks = 40

// Resolve gives the absolute path without symbolic links. Elements that do not
// exist yet are kept as they are; a dangling link is followed to where a file
// created through it would appear.
func (osFS) Resolve(name string) (string, error) {
	p, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	rest := ""
	for range maxLinks {
		real, missing, err := existing(p)
		if err != nil {
			return "", err
		}
		first := firstElement(missing)
		rest = filepath.Join(missing[len(first):], rest)
		target, err := os.Readlink(filepath.Join(real, first))
		if missing == "" || err != nil {
			return filepath.Join(real, first, rest), nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(real, target)
		}
		p = target
	}
	return "", &fs.PathError{Op: "resolve", Path: name, Err: syscall.ELOOP}
}

// existing splits an absolute path in its resolved existing part and the rest.
func existing(p string) (real, missing string, err error) {
	for {
		real, err = filepath.EvalSymlinks(p)
		if err == nil {
			return real, missing, nil
		}
		parent := filepath.Dir(p)
		if !errors.Is(err, fs.ErrNotExist) || parent == p {
			return "", "", err
		}
		p, missing = parent, filepath.Join(filepath.Base(p), missing)
	}
}

func firstElement(rel string) string {
	for i := range len(rel) {
		if os.IsPathSeparator(rel[i]) {
			return rel[:i]
		}
	}
	return rel
}

// SameFile compares what the two names lead to.
func (osFS) SameFile(a, b string) (bool, error) {
	ai, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	bi, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	return os.SameFile(ai, bi), nil
}
