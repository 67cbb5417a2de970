package memfs

import (
	"io"
	"os"
	"path"
	"syscall"

	"github.com/precis-dev/precis/fsys"
)

// Link gives a file a second name, which must not exist.
func (f *FS) Link(oldname, newname string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.link(oldname, newname); err != nil {
		return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (f *FS) link(oldname, newname string) error {
	n, err := f.find(oldname)
	if err != nil {
		return err
	}
	dir, base, err := f.writable(newname)
	switch {
	case err != nil:
		return err
	case dir.names[base] != nil:
		return syscall.EEXIST
	case n.isDir():
		return syscall.EPERM
	}
	f.change(dir, edit{base, n})
	return nil
}

// Exchange swaps two files of one directory.
func (f *FS) Exchange(a, b string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.exchange(a, b); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

func (f *FS) exchange(a, b string) error {
	dir, _, err := f.writable(a)
	if err != nil {
		return err
	}
	other, _, err := f.writable(b)
	switch {
	case err != nil:
		return err
	case dir != other:
		return syscall.EXDEV
	}
	an, bn := dir.names[path.Base(clean(a))], dir.names[path.Base(clean(b))]
	if an == nil || bn == nil {
		return syscall.ENOENT
	}
	f.change(dir, edit{path.Base(clean(a)), bn}, edit{path.Base(clean(b)), an})
	return nil
}

// SyncDir makes a directory's entries durable.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return pathError("sync", name, err)
	}
	n.sync()
	return nil
}

// Lock takes the lock of a file.
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

// Resolve cleans the name: there are no symbolic links.
func (f *FS) Resolve(name string) (string, error) { return clean(name), nil }

// SameFile tells whether two names lead to one file.
func (f *FS) SameFile(a, b string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	an, err := f.find(a)
	if err != nil {
		return false, pathError("stat", a, err)
	}
	bn, err := f.find(b)
	return an == bn, pathError("stat", b, err)
}

// Owned tells that everything here is the user's own.
func (f *FS) Owned(name string) (bool, error) {
	_, err := f.Stat(name)
	return err == nil, err
}

// IDs are what Chown recorded.
func (f *FS) IDs(name string) (uid, gid int, err error) {
	err = f.edit("stat", name, func(n *node) { uid, gid = n.uid, n.gid })
	return uid, gid, err
}
