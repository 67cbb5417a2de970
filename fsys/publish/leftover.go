package publish

import (
	"errors"
	"io"
	"path/filepath"
	"regexp"

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

// release gives the lock up before the stage is removed: some systems do not remove
// a locked file.
func (t *transaction) release() error {
	if t.lock == nil {
		return nil
	}
	lock := t.lock
	t.lock = nil
	return lock.Close()
}

// tokenForm is what a token looks like in the name of a stage that may be swept:
// nothing else is taken for ours.
var tokenForm = regexp.MustCompile(`^\..+\.stage-[0-9a-f]{16}$`)

// Sweep removes the stages in a folder that no live process holds, where the
// filesystem can tell; those whose token is 16 hexadecimal digits. It does what it
// can: what cannot be removed is in nobody's way.
func Sweep(f afero.Fs, dir string) {
	l, ok := fsys.As[fsys.Locker](f)
	if !ok {
		return
	}
	list, err := names(f, dir)
	if err != nil {
		return
	}
	for _, base := range list {
		if !tokenForm.MatchString(base) {
			continue
		}
		name := filepath.Join(dir, base)
		if info, err := fsys.Lstat(f, name); err == nil && info.Mode().IsRegular() {
			removeUnheld(f, l, name)
		}
	}
}

// names lists a folder. The files are not looked at: there may be thousands.
func names(f afero.Fs, dir string) ([]string, error) {
	d, err := f.Open(dir)
	if err != nil {
		return nil, err
	}
	out, err := d.Readdirnames(-1)
	return out, errors.Join(err, d.Close())
}

func removeUnheld(f afero.Fs, l fsys.Locker, name string) {
	lock, err := l.Lock(name)
	if err != nil {
		return
	}
	defer func(c io.Closer) { _ = c.Close() }(lock)
	_ = f.Remove(name)
}
