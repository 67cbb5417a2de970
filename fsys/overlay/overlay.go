// Package overlay is a filesystem for dry runs: what it is asked to change is
// changed in memory, and base, which it reads from, stays as it is. Nothing but
// opening for reading, describing, listing and resolving is ever called on base.
//
// It is as strict as the memory filesystem (package memfs): a missing parent is
// an error, O_EXCL is atomic, a rename replaces its target, the owner's
// permission bits are enforced whoever runs the program, an open file outlives
// its name. Files of base that are renamed, linked, exchanged, chmod'ed or
// chown'ed remain references to base; only what is opened for writing is copied
// into memory.
//
// Base may change meanwhile: content is read when it is asked for. But a name
// that was seen in base is taken to stay a file, a folder or a symbolic link,
// and on a volume that folds case a changed file is found by the spelling it was
// changed under. Two hard links that are in base already are told to be one file
// until one of them is written to, then they are two. Devices and pipes cannot
// be opened.
package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// FS is the overlay, safe for concurrent use. It offers every capability that
// works in memory, whether base does or not, and does not lead to base: what
// [fsys.As] finds is the overlay's own.
type FS struct {
	base afero.Fs
	now  func() time.Time

	mu    sync.Mutex
	roots map[string]*node // by volume; the only one is "" but on Windows
}

var (
	_ afero.Fs         = (*FS)(nil)
	_ afero.Lstater    = (*FS)(nil)
	_ afero.LinkReader = (*FS)(nil)
	_ fsys.Linker      = (*FS)(nil)
	_ fsys.DirSyncer   = (*FS)(nil)
	_ fsys.Exchanger   = (*FS)(nil)
	_ fsys.Locker      = (*FS)(nil)
	_ fsys.Resolver    = (*FS)(nil)
	_ fsys.Identity    = (*FS)(nil)
	_ fsys.Owner       = (*FS)(nil)
	_ fsys.Processes   = (*FS)(nil)
	_ afero.File       = (*file)(nil)
)

// New is an overlay in which nothing has been changed yet. Modification times of
// what is changed come from now.
func New(base afero.Fs, now func() time.Time) *FS {
	return &FS{base: base, now: now, roots: map[string]*node{}}
}

// node is a file, folder or symbolic link, apart from its names.
type node struct {
	base   string           // its path in base; empty for what was made here
	kind   fs.FileMode      // the type bits
	target string           // of a symbolic link
	names  map[string]*node // of a folder, what is known of it: nil where a name of base is gone

	attr    *attr    // nil as long as base's are true
	owner   *owner   // nil as long as base's is true
	content *content // nil as long as base's is true, and of a folder
	locked  bool
}

type attr struct {
	mode  fs.FileMode
	mtime time.Time
}

type owner struct{ uid, gid int }

func (n *node) isDir() bool { return n.kind == fs.ModeDir }

// inBase tells whether the content is still base's.
func (n *node) inBase() bool { return n.base != "" && n.content == nil }

// load finds what base has at a path; nil for nothing.
func (f *FS) load(path string) (*node, error) {
	info, err := fsys.Lstat(f.base, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	n := &node{base: path, kind: info.Mode().Type()}
	switch n.kind {
	case fs.ModeDir:
		n.names = map[string]*node{}
	case fs.ModeSymlink:
		n.target, err = f.readlink(path)
	}
	return n, err
}

func (f *FS) readlink(path string) (string, error) {
	l, ok := fsys.As[afero.LinkReader](f.base)
	if !ok {
		return "", errors.ErrUnsupported
	}
	return l.ReadlinkIfPossible(path)
}

// child finds a name in a folder; nil for nothing. It gives the same node each
// time, so that what is done to it stays.
func (f *FS) child(dir *node, name string) (*node, error) {
	if !dir.isDir() {
		return nil, syscall.ENOTDIR
	}
	if n, known := dir.names[name]; known || dir.base == "" {
		return n, nil
	}
	n, err := f.load(filepath.Join(dir.base, name))
	if n == nil || err != nil {
		return nil, err
	}
	dir.names[name] = n
	return n, nil
}

// put makes a name of a folder lead to a node; to nothing when it is nil.
func (f *FS) put(dir *node, name string, n *node) error {
	if err := f.touch(dir); err != nil {
		return err
	}
	if n == nil && dir.base == "" {
		delete(dir.names, name)
	} else {
		dir.names[name] = n
	}
	return nil
}

// touch sets the modification time to now.
func (f *FS) touch(n *node) error {
	return f.edit(n, func(a *attr) { a.mtime = f.now() })
}

// edit changes attributes, which are base's until then.
func (f *FS) edit(n *node, change func(*attr)) error {
	a, err := f.attributes(n)
	if err == nil {
		change(&a)
		n.attr = &a
	}
	return err
}

func (f *FS) attributes(n *node) (attr, error) {
	if n.attr != nil {
		return *n.attr, nil
	}
	info, err := fsys.Lstat(f.base, n.base)
	if err != nil {
		return attr{}, err
	}
	return attr{info.Mode(), info.ModTime()}, nil
}

// own takes a file's content into memory; what is about to be truncated need
// not be read.
func (f *FS) own(n *node, truncate bool) error {
	if n.content != nil {
		return nil
	}
	a, err := f.attributes(n)
	if err != nil {
		return err
	}
	var data []byte
	if !truncate {
		data, err = afero.ReadFile(f.base, n.base)
	}
	if err == nil {
		n.attr, n.content = &a, &content{data}
	}
	return err
}

// info describes a node under a name.
func (f *FS) info(n *node, name string) (fs.FileInfo, error) {
	i := info{name: name}
	if n.content != nil {
		i.size = int64(len(n.content.data))
	}
	if n.inBase() {
		below, err := fsys.Lstat(f.base, n.base)
		if err != nil {
			return nil, err
		}
		i = describe(below, name)
	}
	if n.attr != nil {
		i.attr = *n.attr
	}
	return i, nil
}

type info struct {
	name string
	size int64
	attr
}

// describe is what base says of a file, under the name it has here.
func describe(below fs.FileInfo, name string) info {
	return info{name, below.Size(), attr{below.Mode(), below.ModTime()}}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.mtime }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// pathError reports an error under the name the caller used: base's own error
// may name another path.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: cause(err)}
}

func linkError(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: cause(err)}
}

func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
