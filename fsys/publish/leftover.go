package publish

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// A stage that lives is locked by its writer; one that is not was left by a
// process that was killed, and holds a whole copy of what it was to publish.

// hold locks the stage, where the filesystem can lock.
func (t *transaction) hold() error {
	l, ok := fsys.As[fsys.Locker](t.fs)
	if !ok {
		return nil
	}
	lock, err := l.Lock(t.stage)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	t.lock = lock
	return err
}

// release gives the lock up before the stage gets its name: some systems do not
// rename or remove a locked file.
func (t *transaction) release() error {
	if t.lock == nil {
		return nil
	}
	lock := t.lock
	t.lock = nil
	return lock.Close()
}

// sweep removes the stages of the target that nobody holds. It does what it can:
// what cannot be removed is in nobody's way.
func (t *transaction) sweep() {
	l, ok := fsys.As[fsys.Locker](t.fs)
	if !ok {
		return
	}
	dir := filepath.Dir(t.stage)
	prefix := filepath.Base(stageName(t.Path, ""))
	for _, base := range names(t.fs, dir) {
		if !strings.HasPrefix(base, prefix) {
			continue
		}
		name := filepath.Join(dir, base)
		if info, err := fsys.Lstat(t.fs, name); err == nil && info.Mode().IsRegular() {
			removeUnheld(t.fs, l, name)
		}
	}
}

// names lists a folder. The files are not looked at: there may be thousands, and
// every publication asks.
func names(f afero.Fs, dir string) []string {
	d, err := f.Open(dir)
	if err != nil {
		return nil
	}
	out, err := d.Readdirnames(-1)
	if errors.Join(err, d.Close()) != nil {
		return nil
	}
	return out
}

func removeUnheld(f afero.Fs, l fsys.Locker, name string) {
	lock, err := l.Lock(name)
	if err != nil {
		return
	}
	defer func(c io.Closer) { _ = c.Close() }(lock)
	_ = f.Remove(name)
}
