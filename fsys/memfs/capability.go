package memfs

import (
	"io"
	"os"
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

// Lock takes the lock of a file, which it creates when it is missing.
func (f *FS) Lock(name string) (io.Closer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.open(name, os.O_RDWR|os.O_CREATE, fsys.FilePerm)
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
