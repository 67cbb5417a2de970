package memfs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// Name of the filesystem.
func (f *FS) Name() string { return "memfs" }

// Create truncates or creates a file.
func (f *FS) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens for reading.
func (f *FS) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens with the flags of package os; O_CREATE|O_EXCL is atomic.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.open(name, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &file{fs: f, node: n, name: name, flag: flag}, nil
}

func (f *FS) open(name string, flag int, perm fs.FileMode) (*node, error) {
	n, err := f.find(name)
	switch {
	case err == syscall.ENOENT && flag&os.O_CREATE != 0:
		return f.create(name, perm)
	case err != nil:
		return nil, err
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	case n.isDir() && (writes(flag) || flag&os.O_CREATE != 0):
		return nil, syscall.EISDIR
	case writes(flag) && n.mode&0o200 == 0, reads(flag) && n.mode&0o400 == 0:
		return nil, syscall.EACCES
	}
	if flag&os.O_TRUNC != 0 && writes(flag) {
		n.truncate(0)
		n.mtime = f.now()
	}
	return n, nil
}

func (f *FS) create(name string, perm fs.FileMode) (*node, error) {
	dir, base, err := f.writable(name)
	if err != nil {
		return nil, err
	}
	n := &node{mode: perm.Perm(), mtime: f.now()}
	f.change(dir, edit{base, n})
	return n, nil
}

func writes(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR) != 0 }
func reads(flag int) bool  { return flag&os.O_WRONLY == 0 }

// Mkdir makes one directory.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return pathError("mkdir", name, f.mkdir(name, perm))
}

func (f *FS) mkdir(name string, perm fs.FileMode) error {
	if _, err := f.find(name); err != syscall.ENOENT {
		if err == nil {
			err = syscall.EEXIST
		}
		return err
	}
	dir, base, err := f.writable(name)
	if err != nil {
		return err
	}
	f.change(dir, edit{base, newDir(perm, f.now())})
	return nil
}

// MkdirAll makes a directory and its missing parents.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := "/"
	for part := range strings.SplitSeq(clean(name)[1:], "/") {
		at = path.Join(at, part)
		n, err := f.find(at)
		switch {
		case err == syscall.ENOENT:
			err = f.mkdir(at, perm)
		case err == nil && !n.isDir():
			err = syscall.ENOTDIR
		}
		if err != nil {
			return pathError("mkdir", at, err)
		}
	}
	return nil
}

// Remove removes a file or an empty directory.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.writable(name)
	if err == nil {
		n, ok := dir.names[base]
		switch {
		case !ok:
			err = syscall.ENOENT
		case n.isDir() && len(n.names) > 0:
			err = syscall.ENOTEMPTY
		default:
			f.change(dir, edit{name: base})
		}
	}
	return pathError("remove", name, err)
}

// RemoveAll removes a tree; a missing one is no error.
func (f *FS) RemoveAll(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.writable(name)
	switch {
	case err == syscall.ENOENT, err == nil && dir.names[base] == nil:
		return nil
	case err != nil:
		return pathError("removeall", name, err)
	}
	f.change(dir, edit{name: base})
	return nil
}

// Rename gives a file or directory another name. A file replaces a file there,
// never a directory. Within one directory the change is atomic, also in a crash.
func (f *FS) Rename(oldname, newname string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.rename(oldname, newname); err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (f *FS) rename(oldname, newname string) error {
	from, oldBase, err := f.writable(oldname)
	if err != nil {
		return err
	}
	to, newBase, err := f.writable(newname)
	if err != nil {
		return err
	}
	n, ok := from.names[oldBase]
	if !ok {
		return syscall.ENOENT
	}
	there := to.names[newBase]
	switch {
	case there != nil && there.isDir():
		return syscall.EEXIST // as os.Rename, stricter than rename(2)
	case n.isDir() && strings.HasPrefix(clean(newname), clean(oldname)+"/"):
		return syscall.EINVAL
	case there == n:
		return nil // POSIX: two names of one file, nothing is done
	case n.isDir() && there != nil:
		return syscall.ENOTDIR
	}
	if from == to {
		f.change(from, edit{name: oldBase}, edit{newBase, n})
		return nil
	}
	f.change(to, edit{newBase, n})
	f.change(from, edit{name: oldBase})
	return nil
}

// Stat describes a file.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return n.info(path.Base(clean(name))), nil
}

// LstatIfPossible is Stat: there are no symbolic links.
func (f *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	i, err := f.Stat(name)
	return i, true, err
}

// Chmod sets the permission bits.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.edit("chmod", name, func(n *node) { n.mode = n.mode.Type() | mode.Perm() })
}

// Chown records the owner; -1 leaves a number as it is.
func (f *FS) Chown(name string, uid, gid int) error {
	return f.edit("chown", name, func(n *node) {
		if uid != -1 {
			n.uid = uid
		}
		if gid != -1 {
			n.gid = gid
		}
	})
}

// Chtimes sets the modification time; access times are not kept.
func (f *FS) Chtimes(name string, _, mtime time.Time) error {
	return f.edit("chtimes", name, func(n *node) { n.mtime = mtime })
}

func (f *FS) edit(op, name string, change func(*node)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name)
	if err != nil {
		return pathError(op, name, err)
	}
	change(n)
	return nil
}

type info struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (n *node) info(name string) info {
	return info{name, int64(len(n.data)), n.mode, n.mtime}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.mtime }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
