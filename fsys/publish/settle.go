package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/precis-dev/precis/fsys"
)

// Every call ends here, whether it succeeded, failed, or found what another left.
// settle knows nothing of what was tried. It looks at the names and brings them
// to an end at which one file stands and nothing hidden is left.

// linger is how long a program that opened the new file, in the instant in which
// it stood under the name, gets to write into it before it is looked at again.
var linger = 20 * time.Millisecond

func (l *live) settle() error {
	began, captured, err := l.restore()
	if err == nil {
		err = l.syncFolder()
	}
	if err != nil {
		return errors.Join(err, l.judge())
	}
	if err := l.judge(); err != nil {
		if !captured {
			return err
		}
		// The new file cannot be read, and the old one is at hand.
		return errors.Join(err, l.undo(), l.judge())
	}
	return l.clear(began)
}

// restore puts back what must not stay away from the name: a captured file whose
// place is empty, and one that the exchange took although it was not the frozen
// one. It tells whether an attempt had begun, and whether the swap is captured.
func (l *live) restore() (began, captured bool, err error) {
	swap, err := l.look(l.swap)
	if err != nil {
		return false, false, err
	}
	began, captured = swap.there, swap.there && swap.Content != l.New
	if !captured {
		return began, false, l.putBack()
	}
	frozen, err := l.frozen(l.swap, swap)
	if err != nil || frozen {
		return began, true, err
	}
	at, err := l.look(l.Path)
	if err != nil || at.Content != l.New {
		return began, true, err
	}
	return began, false, l.undo()
}

// undo exchanges again. What stood at the name meanwhile is under the swap then,
// and is looked at like anything else there.
func (l *live) undo() error {
	if err := l.exchange(); err != nil {
		return err
	}
	l.receipt.Method = ""
	time.Sleep(linger)
	return l.syncFolder()
}

// putBack gives a captured file its name again, if nothing stands there. What
// cannot be linked is no file, and renaming it clobbers none.
func (l *live) putBack() error {
	_, err := fsys.Lstat(l.fs, l.Path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	taken, err := l.look(l.taken)
	if err != nil || !taken.there {
		return err
	}
	l.receipt.Method = ""
	if !taken.regular {
		return l.fs.Rename(l.taken, l.Path)
	}
	if err := l.link(l.taken, l.Path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// judge says which file stands.
func (l *live) judge() error {
	l.receipt.Stands, l.receipt.Grown = "", false
	at, err := l.look(l.Path)
	if err != nil {
		return err
	}
	l.receipt.Stands = Foreign
	switch at.Content {
	case l.Old:
		l.receipt.Stands = OldStands
	case l.New:
		l.receipt.Stands = NewStands
	default:
		l.receipt.Grown, err = startsWith(l.fs, l.Path, at, l.New)
		if l.receipt.Grown {
			l.receipt.Stands = NewStands
		}
	}
	return err
}

// clear removes everything hidden, the backup first when it is not needed: the
// swap is the evidence that it is ours.
func (l *live) clear(began bool) error {
	if l.receipt.Stands != NewStands && (began || l.backup.made) {
		if err := l.dropBackup(); err != nil {
			return err
		}
	}
	for _, name := range []string{l.taken, l.swap} {
		if err := l.dispose(name); err != nil {
			return err
		}
	}
	if err := errors.Join(fsys.Remove(l.fs, l.stage), l.sweepCopies(), l.syncFolder()); err != nil {
		return err
	}
	l.receipt.Durable = true
	if l.receipt.Stands != NewStands || l.backup.path != "" {
		return nil
	}
	at, err := l.holding("", l.Old)
	l.backup.path = at
	return err
}

// dispose removes a hidden file once its bytes are safe: they are the new ones,
// or they are under another name.
func (l *live) dispose(name string) error {
	s, err := l.look(name)
	switch {
	case err != nil || !s.there:
		return err
	case !s.regular:
		return fmt.Errorf("what stood at the session's name is %s now and is no file", name)
	case s.Content != l.New:
		err = l.secure(name, s.Content)
	}
	if err == nil && !l.backup.linked {
		err = l.still(name, s)
	}
	if err != nil {
		return err
	}
	return fsys.Remove(l.fs, name)
}

// still looks at a file for the last time: what is written into it from here on
// is lost, unless a backup is the file itself.
func (l *live) still(name string, was sight) error {
	now, err := l.look(name)
	if err == nil && now != was {
		err = fmt.Errorf("another program is writing into %s, which held the session; call again", name)
	}
	return err
}

// secure sees to it that a hidden name can go: its file stands under the
// session's name again, or in a backup.
func (l *live) secure(name string, c Content) error {
	if stands, err := l.same(name, l.Path); err != nil || stands {
		return err
	}
	at, err := l.holding(name, c)
	if err == nil && at == "" {
		var b backup
		b, err = l.backUp(context.Background(), name, c)
		at = b.path
	}
	switch {
	case err != nil:
		return err
	case c != l.Old:
		l.receipt.Kept = append(l.receipt.Kept, at)
	case l.backup.path == "":
		l.backup.path = at
	}
	return nil
}

// frozen tells whether a captured file is the one that was backed up: a file with
// the same bytes that came in its place is another, and others may have it open.
func (l *live) frozen(name string, s sight) (bool, error) {
	if s.Content != l.Old || !l.backup.linked {
		return s.Content == l.Old, nil
	}
	return l.same(name, l.backup.path)
}

func (l *live) syncFolder() error { return fsys.SyncDir(l.fs, filepath.Dir(l.Path)) }

func (l *live) link(oldname, newname string) error {
	linker, ok := fsys.As[fsys.Linker](l.fs)
	if !ok {
		return errors.ErrUnsupported
	}
	return linker.Link(oldname, newname)
}

// same tells whether two names lead to one file, where the filesystem can; a
// missing one is the same as none.
func (l *live) same(a, b string) (bool, error) {
	i, ok := fsys.As[fsys.Identity](l.fs)
	if !ok {
		return false, nil
	}
	same, err := i.SameFile(a, b)
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	return same, ignoreMissing(err)
}
