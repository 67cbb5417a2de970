package overlay

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/precis-dev/precis/fsys"
)

// Link gives a file a second name, which must not exist.
func (f *FS) Link(oldname, newname string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return linkError("link", oldname, newname, f.link(oldname, newname))
}

func (f *FS) link(oldname, newname string) error {
	n, err := f.find(oldname, false)
	if err != nil {
		return err
	}
	w, err := f.slot(newname)
	switch {
	case err != nil:
		return err
	case w.last().node != nil:
		return syscall.EEXIST
	case n.isDir():
		return syscall.EPERM
	}
	return f.put(w.dir(), w.last().name, n)
}

// Exchange swaps what two names of one folder lead to.
func (f *FS) Exchange(a, b string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return linkError("exchange", a, b, f.exchange(a, b))
}

func (f *FS) exchange(a, b string) error {
	aw, err := f.slot(a)
	if err != nil {
		return err
	}
	bw, err := f.slot(b)
	switch {
	case err != nil:
		return err
	case aw.dir() != bw.dir():
		return syscall.EXDEV
	case aw.last().node == nil || bw.last().node == nil:
		return syscall.ENOENT
	}
	if err := f.put(aw.dir(), aw.last().name, bw.last().node); err != nil {
		return err
	}
	return f.put(bw.dir(), bw.last().name, aw.last().node)
}

// SyncDir has nothing to make durable: it only tells whether the folder is there.
func (f *FS) SyncDir(name string) error {
	return f.on("sync", name, func(n *node) error {
		if !n.isDir() {
			return syscall.ENOTDIR
		}
		return nil
	})
}

// Lock takes the lock of a file, which holds among the users of this overlay and
// no others: neither does base's file become locked, nor is it noticed that
// another program has it locked.
func (f *FS) Lock(name string) (io.Closer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.open(name, os.O_RDONLY, 0)
	if err == nil && n.locked {
		err = fsys.ErrLocked
	}
	if err != nil {
		return nil, pathError("lock", name, err)
	}
	n.locked = true
	return &lock{fs: f, node: n}, nil
}

type lock struct {
	fs   *FS
	node *node // nil once given up
}

func (l *lock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if l.node != nil {
		l.node.locked = false
		l.node = nil
	}
	return nil
}

// Resolve follows the symbolic links of base, as they lie in the overlay.
func (f *FS) Resolve(name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.start(filepath.Clean(name))
	if err == nil {
		err = w.run(true)
	}
	if err != nil {
		return "", pathError("resolve", name, err)
	}
	return filepath.Join(append([]string{w.done.path()}, w.todo...)...), nil
}

// SameFile tells whether two names lead to one file.
func (f *FS) SameFile(a, b string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	an, err := f.find(a, true)
	if err != nil {
		return false, pathError("stat", a, err)
	}
	bn, err := f.find(b, true)
	if err != nil {
		return false, pathError("stat", b, err)
	}
	same, err := f.same(an, bn)
	return same, pathError("stat", b, err)
}

// same asks base about two files of it that were left alone.
func (f *FS) same(a, b *node) (bool, error) {
	if a == b {
		return true, nil
	}
	id, ok := fsys.As[fsys.Identity](f.base)
	if !ok || !a.inBase() || !b.inBase() || a.kind != b.kind || a.kind == fs.ModeSymlink {
		return false, nil
	}
	return id.SameFile(a.base, b.base)
}

// Owned tells whether a file is the user's own, as all is that was made here.
func (f *FS) Owned(name string) (owned bool, err error) {
	err = f.on("stat", name, func(n *node) error {
		below, ok := fsys.As[fsys.Owner](f.base)
		switch {
		case n.owner != nil:
			owned = n.owner.uid == os.Geteuid()
		case n.base == "":
			owned = true
		case !ok:
			return errors.ErrUnsupported
		default:
			owned, err = below.Owned(n.base)
			return err
		}
		return nil
	})
	return owned, err
}

// IDs are base's, or the process's of what was made here, until Chown.
func (f *FS) IDs(name string) (uid, gid int, err error) {
	err = f.on("stat", name, func(n *node) error {
		o, err := f.ids(n)
		uid, gid = o.uid, o.gid
		return err
	})
	return uid, gid, err
}

// OpenBy asks base about the file this is, or was before it was written to. What
// was made here nobody else can have open.
func (f *FS) OpenBy(name string) (pids []int, err error) {
	err = f.on("openby", name, func(n *node) error {
		if n.base == "" {
			return nil
		}
		below, ok := fsys.As[fsys.Processes](f.base)
		if !ok {
			return errors.ErrUnsupported
		}
		pids, err = below.OpenBy(n.base)
		return err
	})
	return pids, err
}

// Alive is base's.
func (f *FS) Alive(pid int) (bool, error) {
	if below, ok := fsys.As[fsys.Processes](f.base); ok {
		return below.Alive(pid)
	}
	return false, errors.ErrUnsupported
}

// Started is base's.
func (f *FS) Started(pid int) (string, error) {
	if below, ok := fsys.As[fsys.Processes](f.base); ok {
		return below.Started(pid)
	}
	return "", errors.ErrUnsupported
}

func (f *FS) ids(n *node) (owner, error) {
	below, ok := fsys.As[fsys.Owner](f.base)
	switch {
	case n.owner != nil:
		return *n.owner, nil
	case !ok || n.base == "" && os.Geteuid() < 0:
		return owner{}, errors.ErrUnsupported
	case n.base == "":
		return owner{os.Geteuid(), os.Getegid()}, nil
	}
	uid, gid, err := below.IDs(n.base)
	return owner{uid, gid}, err
}
