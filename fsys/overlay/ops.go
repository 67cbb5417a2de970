package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// Name of the filesystem.
func (f *FS) Name() string { return "overlay(" + f.base.Name() + ")" }

// Create truncates or creates a file.
func (f *FS) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens for reading.
func (f *FS) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens with the flags of package os; O_CREATE|O_EXCL is atomic. A file
// of base that is opened for writing is read into memory first.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.open(name, flag, perm)
	h := &file{fs: f, node: n, name: name, flag: flag}
	if err == nil && n.inBase() && !n.isDir() {
		h.below, err = f.base.Open(n.base)
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return h, nil
}

func (f *FS) open(name string, flag int, perm fs.FileMode) (*node, error) {
	exclusive := flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0
	w, err := f.walk(name, !exclusive)
	if err != nil {
		return nil, err
	}
	n := w.last().node
	switch {
	case n == nil && flag&os.O_CREATE != 0:
		return f.create(w, &node{content: &content{}, attr: &attr{perm.Perm(), f.now()}})
	case n == nil:
		return nil, syscall.ENOENT
	case exclusive:
		return nil, syscall.EEXIST
	case n.isDir() && (writes(flag) || flag&os.O_CREATE != 0):
		return nil, syscall.EISDIR
	case !n.isDir() && n.kind != 0:
		return nil, errors.ErrUnsupported
	}
	return n, f.prepare(n, flag)
}

// prepare checks that a file may be opened and makes its content ready.
func (f *FS) prepare(n *node, flag int) error {
	a, err := f.attributes(n)
	switch {
	case err != nil:
		return err
	case writes(flag) && a.mode&0o200 == 0, reads(flag) && a.mode&0o400 == 0:
		return syscall.EACCES
	case !writes(flag):
		return nil
	}
	truncate := flag&os.O_TRUNC != 0
	if err := f.own(n, truncate); err != nil || !truncate {
		return err
	}
	n.content.truncate(0)
	return f.touch(n)
}

// create puts a new node where there is none.
func (f *FS) create(w way, n *node) (*node, error) {
	if err := f.writable(w.dir()); err != nil {
		return nil, err
	}
	return n, f.put(w.dir(), w.last().name, n)
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
	w, err := f.walk(name, false)
	if err == nil && w.last().node != nil {
		err = syscall.EEXIST
	}
	if err != nil {
		return err
	}
	_, err = f.create(w, &node{
		kind:  fs.ModeDir,
		names: map[string]*node{},
		attr:  &attr{fs.ModeDir | perm.Perm(), f.now()},
	})
	return err
}

// MkdirAll makes a directory and its missing parents.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return pathError("mkdir", name, f.mkdirAll(filepath.Clean(name), perm))
}

func (f *FS) mkdirAll(name string, perm fs.FileMode) error {
	n, err := f.find(name, true)
	switch {
	case err == nil && !n.isDir():
		return syscall.ENOTDIR
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if parent := filepath.Dir(name); parent != name {
		if err := f.mkdirAll(parent, perm); err != nil {
			return err
		}
	}
	return f.mkdir(name, perm)
}

// Remove removes a file or an empty directory.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.slot(name)
	if err == nil {
		err = f.remove(w)
	}
	return pathError("remove", name, err)
}

func (f *FS) remove(w way) error {
	n := w.last().node
	if n == nil {
		return syscall.ENOENT
	}
	if n.isDir() {
		list, err := f.list(n)
		if err != nil {
			return err
		}
		if len(list) > 0 {
			return syscall.ENOTEMPTY
		}
	}
	return f.put(w.dir(), w.last().name, nil)
}

// RemoveAll removes a tree; a missing one is no error.
func (f *FS) RemoveAll(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, err := f.slot(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && w.last().node == nil:
		return nil
	case err == nil:
		err = f.put(w.dir(), w.last().name, nil)
	}
	return pathError("removeall", name, err)
}

// Rename gives a file or directory another name. A file replaces a file there,
// never a directory.
func (f *FS) Rename(oldname, newname string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return linkError("rename", oldname, newname, f.rename(oldname, newname))
}

func (f *FS) rename(oldname, newname string) error {
	from, err := f.slot(oldname)
	if err != nil {
		return err
	}
	to, err := f.slot(newname)
	if err != nil {
		return err
	}
	n, there := from.last().node, to.last().node
	switch {
	case n == nil:
		return syscall.ENOENT
	case there != nil && there.isDir():
		return syscall.EEXIST // as os.Rename, stricter than rename(2)
	case to.enters(n) && n.isDir():
		return syscall.EINVAL
	}
	if there != nil {
		same, err := f.same(n, there)
		switch {
		case same || err != nil:
			return err // POSIX: of two names of one file, both stay
		case n.isDir():
			return syscall.ENOTDIR
		}
	}
	if err := f.put(to.dir(), to.last().name, n); err != nil {
		return err
	}
	return f.put(from.dir(), from.last().name, nil)
}

// Stat describes a file.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return f.stat("stat", name, true)
}

// LstatIfPossible describes a file, or the symbolic link that leads to it.
func (f *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := f.stat("lstat", name, false)
	return info, true, err
}

func (f *FS) stat(op, name string, follow bool) (info fs.FileInfo, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name, follow)
	if err == nil {
		info, err = f.info(n, filepath.Base(name))
	}
	return info, pathError(op, name, err)
}

// ReadlinkIfPossible is the target of a symbolic link of base.
func (f *FS) ReadlinkIfPossible(name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name, false)
	if err == nil && n.kind != fs.ModeSymlink {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", pathError("readlink", name, err)
	}
	return n.target, nil
}

// Chmod sets the permission bits.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.on("chmod", name, func(n *node) error {
		return f.edit(n, func(a *attr) { a.mode = a.mode.Type() | mode.Perm() })
	})
}

// Chtimes sets the modification time; access times are not kept.
func (f *FS) Chtimes(name string, _, mtime time.Time) error {
	return f.on("chtimes", name, func(n *node) error {
		return f.edit(n, func(a *attr) { a.mtime = mtime })
	})
}

// Chown records the owner; -1 leaves a number as it is.
func (f *FS) Chown(name string, uid, gid int) error {
	return f.on("chown", name, func(n *node) error {
		o, err := f.ids(n)
		if err != nil {
			return err
		}
		if uid != -1 {
			o.uid = uid
		}
		if gid != -1 {
			o.gid = gid
		}
		n.owner = &o
		return nil
	})
}

// on does something to the file a name leads to.
func (f *FS) on(op, name string, do func(*node) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.find(name, true)
	if err == nil {
		err = do(n)
	}
	return pathError(op, name, err)
}

// list describes what is in a folder, by name.
func (f *FS) list(dir *node) ([]fs.FileInfo, error) {
	var list []fs.FileInfo
	if dir.base != "" {
		below, err := afero.ReadDir(f.base, dir.base)
		if err != nil {
			return nil, err
		}
		for _, i := range below {
			if _, known := dir.names[i.Name()]; !known {
				list = append(list, describe(i, i.Name()))
			}
		}
	}
	for name, n := range dir.names {
		if n == nil {
			continue
		}
		info, err := f.info(n, name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone from base meanwhile
		case err != nil:
			return nil, err
		default:
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}
