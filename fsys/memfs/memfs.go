// Package memfs is a filesystem in memory that is as strict as a POSIX disk, so
// that code which passes on it also works on one: a missing parent is an error,
// names are case-sensitive, O_EXCL is atomic, a rename replaces its target, the
// owner's permission bits are enforced, an open file outlives its name.
//
// It keeps what was synced apart from what was not. [FS.CrashClone] is the disk
// after a power cut: of file content and directory entries that were not synced,
// a part chosen by a seed is gone. Content is made durable by File.Sync, the
// entries a create, link, rename or remove changed by SyncDir, separately for
// each directory and never by syncing the file, which is all POSIX promises.
//
// Names are slash-separated; a relative one is relative to the root. There are
// no symbolic links. Metadata (mode, owner, times) is durable at once. It does
// not model a full disk; see faultfs for errors.
package memfs

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// FS is a filesystem in memory, safe for concurrent use.
type FS struct {
	now   func() time.Time
	mu    sync.Mutex
	root  *node
	alive map[int]bool // the processes there are
}

var (
	_ afero.Fs       = (*FS)(nil)
	_ afero.Lstater  = (*FS)(nil)
	_ fsys.Linker    = (*FS)(nil)
	_ fsys.DirSyncer = (*FS)(nil)
	_ fsys.Exchanger = (*FS)(nil)
	_ fsys.Locker    = (*FS)(nil)
	_ fsys.Owner     = (*FS)(nil)
	_ fsys.Resolver  = (*FS)(nil)
	_ fsys.Identity  = (*FS)(nil)
	_ fsys.Processes = (*FS)(nil)
	_ afero.File     = (*file)(nil)
)

// New is an empty filesystem; modification times come from now.
func New(now func() time.Time) *FS {
	return &FS{now: now, root: newDir(fs.ModePerm, now())}
}

// node is a file or directory, apart from its names.
type node struct {
	mode     fs.FileMode
	mtime    time.Time
	uid, gid int
	locked   bool
	open     []int // processes that have it open, in order
	content
	*entries // nil for a file
}

func (n *node) isDir() bool { return n.entries != nil }

// content is the bytes of a file.
type content struct {
	data   []byte
	synced []byte
	shared bool // data and synced share memory
}

// entries is the names in a directory: as they are, as they are on the disk,
// and the changes in between, in order.
type entries struct {
	names   map[string]*node
	durable map[string]*node
	pending []change
}

// change is one atomic change of a directory; a nil node removes the name.
type change []edit

type edit struct {
	name string
	node *node
}

func newDir(perm fs.FileMode, now time.Time) *node {
	return &node{
		mode:    fs.ModeDir | perm.Perm(),
		mtime:   now,
		entries: &entries{names: map[string]*node{}, durable: map[string]*node{}},
	}
}

// change applies edits to a directory at once.
func (f *FS) change(dir *node, edits ...edit) {
	apply(dir.names, edits)
	dir.pending = append(dir.pending, edits)
	dir.mtime = f.now()
}

func apply(names map[string]*node, edits change) {
	for _, e := range edits {
		if e.node == nil {
			delete(names, e.name)
		} else {
			names[e.name] = e.node
		}
	}
}

// clean gives the absolute slash-separated form of a name.
func clean(name string) string { return path.Clean("/" + filepath.ToSlash(name)) }

// find walks to a node.
func (f *FS) find(name string) (*node, error) {
	n := f.root
	for part := range strings.SplitSeq(clean(name)[1:], "/") {
		if part == "" {
			break
		}
		if !n.isDir() {
			return nil, syscall.ENOTDIR
		}
		next, ok := n.names[part]
		if !ok {
			return nil, syscall.ENOENT
		}
		n = next
	}
	return n, nil
}

// parent walks to the directory that holds a name, which must not be the root.
func (f *FS) parent(name string) (*node, string, error) {
	dir, base := path.Split(clean(name))
	if base == "" {
		return nil, "", syscall.EBUSY
	}
	n, err := f.find(dir)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	return n, base, err
}

// writable is parent for a change of the directory's entries.
func (f *FS) writable(name string) (*node, string, error) {
	dir, base, err := f.parent(name)
	if err == nil && dir.mode&0o200 == 0 {
		err = syscall.EACCES
	}
	return dir, base, err
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
