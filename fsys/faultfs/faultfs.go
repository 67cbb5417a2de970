// Package faultfs wraps a filesystem and makes one chosen operation fail, so
// that a test can sweep a transaction: fail the first operation, then the
// second, and so on until [FS.Hit] says that there was none to fail.
//
// Operations that change something are counted from 1, on files and on the
// capabilities of package fsys alike; operations that only read are counted when
// the plan says so. A stopped world fails every operation from the chosen one
// on, as a process sees it that is about to die; together with a crash clone of
// the memory filesystem below it is a power cut.
package faultfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// ErrStopped is what every operation answers in a stopped world.
var ErrStopped = errors.New("the world has stopped")

// Plan says which operation fails and how.
type Plan struct {
	At    int   // index of the operation, from 1; 0 for none
	Err   error // what it answers; nil for syscall.EIO
	Short bool  // a failing write writes half of its bytes first
	Stop  bool  // this operation and all later ones answer ErrStopped
	Reads bool  // reading operations count too

	// Do runs right before the operation, which then does not fail: another program
	// that comes in between. It must not use this filesystem.
	Do func()
}

// Op is one operation that was counted.
type Op struct {
	Kind Kind
	Path string
	To   string // of a link or rename
}

func (o Op) String() string {
	if o.To != "" {
		return fmt.Sprintf("%s %s -> %s", o.Kind, o.Path, o.To)
	}
	return fmt.Sprintf("%s %s", o.Kind, o.Path)
}

// Kind is the kind of an operation.
type Kind string

// The kinds. Close is counted for files open for writing only.
const (
	Create   Kind = "create" // open that may create or change
	Mkdir    Kind = "mkdir"
	Remove   Kind = "remove"
	Rename   Kind = "rename"
	Chmod    Kind = "chmod"
	Chown    Kind = "chown"
	Chtimes  Kind = "chtimes"
	Link     Kind = "link"
	Exchange Kind = "exchange"
	SyncDir  Kind = "syncdir"
	Lock     Kind = "lock"
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Sync     Kind = "sync"
	Close    Kind = "close"

	Open Kind = "open"
	Stat Kind = "stat"
	Read Kind = "read"
	List Kind = "list"
)

func (k Kind) reads() bool { return k == Open || k == Stat || k == Read || k == List }

// FS is the wrapper, safe for concurrent use.
type FS struct {
	base afero.Fs
	plan Plan

	mu      sync.Mutex
	ops     []Op
	stopped bool
}

var (
	_ afero.Fs       = (*FS)(nil)
	_ afero.Lstater  = (*FS)(nil)
	_ fsys.Unwrapper = (*FS)(nil)
	_ fsys.Linker    = (*FS)(nil)
	_ fsys.DirSyncer = (*FS)(nil)
	_ fsys.Exchanger = (*FS)(nil)
	_ fsys.Locker    = (*FS)(nil)
	_ fsys.Identity  = (*FS)(nil)
)

// New wraps base.
func New(base afero.Fs, plan Plan) *FS { return &FS{base: base, plan: plan} }

// Unwrap gives the filesystem below.
func (f *FS) Unwrap() afero.Fs { return f.base }

// Name of the filesystem.
func (f *FS) Name() string { return "faultfs(" + f.base.Name() + ")" }

// Ops is the operations counted so far.
func (f *FS) Ops() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Op(nil), f.ops...)
}

// Hit tells whether the planned operation came.
func (f *FS) Hit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.plan.At > 0 && len(f.ops) >= f.plan.At
}

// op counts an operation and says how it fails.
func (f *FS) op(k Kind, path, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return &fs.PathError{Op: string(k), Path: path, Err: ErrStopped}
	}
	if k.reads() && !f.plan.Reads {
		return nil
	}
	f.ops = append(f.ops, Op{k, path, to})
	if len(f.ops) != f.plan.At {
		return nil
	}
	if f.plan.Do != nil {
		f.plan.Do()
		return nil
	}
	f.stopped = f.plan.Stop
	return &fs.PathError{Op: string(k), Path: path, Err: f.plan.err()}
}

func (p Plan) err() error {
	switch {
	case p.Stop:
		return ErrStopped
	case p.Err != nil:
		return p.Err
	}
	return syscall.EIO
}

// do runs an operation that gives nothing but an error.
func (f *FS) do(k Kind, path, to string, run func() error) error {
	if err := f.op(k, path, to); err != nil {
		return err
	}
	return run()
}

// Create is OpenFile.
func (f *FS) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open is OpenFile.
func (f *FS) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens through the plan.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	kind := Open
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0
	if writes {
		kind = Create
	}
	if err := f.op(kind, name, ""); err != nil {
		return nil, err
	}
	h, err := f.base.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{File: h, fs: f, writes: writes}, nil
}

// Mkdir through the plan.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	return f.do(Mkdir, name, "", func() error { return f.base.Mkdir(name, perm) })
}

// MkdirAll through the plan, as one operation.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	return f.do(Mkdir, name, "", func() error { return f.base.MkdirAll(name, perm) })
}

// Remove through the plan.
func (f *FS) Remove(name string) error {
	return f.do(Remove, name, "", func() error { return f.base.Remove(name) })
}

// RemoveAll through the plan, as one operation.
func (f *FS) RemoveAll(name string) error {
	return f.do(Remove, name, "", func() error { return f.base.RemoveAll(name) })
}

// Rename through the plan.
func (f *FS) Rename(oldname, newname string) error {
	return f.do(Rename, oldname, newname, func() error { return f.base.Rename(oldname, newname) })
}

// Chmod through the plan.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.do(Chmod, name, "", func() error { return f.base.Chmod(name, mode) })
}

// Chown through the plan.
func (f *FS) Chown(name string, uid, gid int) error {
	return f.do(Chown, name, "", func() error { return f.base.Chown(name, uid, gid) })
}

// Chtimes through the plan.
func (f *FS) Chtimes(name string, atime, mtime time.Time) error {
	return f.do(Chtimes, name, "", func() error { return f.base.Chtimes(name, atime, mtime) })
}

// Stat through the plan.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.op(Stat, name, ""); err != nil {
		return nil, err
	}
	return f.base.Stat(name)
}

// LstatIfPossible through the plan.
func (f *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if err := f.op(Stat, name, ""); err != nil {
		return nil, true, err
	}
	if l, ok := fsys.As[afero.Lstater](f.base); ok {
		return l.LstatIfPossible(name)
	}
	info, err := f.base.Stat(name)
	return info, false, err
}

// Link through the plan.
func (f *FS) Link(oldname, newname string) error {
	l, ok := fsys.As[fsys.Linker](f.base)
	if !ok {
		return fmt.Errorf("link %s: %w", newname, errors.ErrUnsupported)
	}
	return f.do(Link, oldname, newname, func() error { return l.Link(oldname, newname) })
}

// Exchange through the plan.
func (f *FS) Exchange(a, b string) error {
	x, ok := fsys.As[fsys.Exchanger](f.base)
	if !ok {
		return fmt.Errorf("exchange %s: %w", a, errors.ErrUnsupported)
	}
	return f.do(Exchange, a, b, func() error { return x.Exchange(a, b) })
}

// SyncDir through the plan.
func (f *FS) SyncDir(name string) error {
	d, ok := fsys.As[fsys.DirSyncer](f.base)
	if !ok {
		return fmt.Errorf("sync %s: %w", name, errors.ErrUnsupported)
	}
	return f.do(SyncDir, name, "", func() error { return d.SyncDir(name) })
}

// Lock through the plan. Giving a lock up cannot fail: a dying process does.
func (f *FS) Lock(name string) (io.Closer, error) {
	l, ok := fsys.As[fsys.Locker](f.base)
	if !ok {
		return nil, fmt.Errorf("lock %s: %w", name, errors.ErrUnsupported)
	}
	if err := f.op(Lock, name, ""); err != nil {
		return nil, err
	}
	return l.Lock(name)
}

// SameFile through the plan.
func (f *FS) SameFile(a, b string) (bool, error) {
	i, ok := fsys.As[fsys.Identity](f.base)
	if !ok {
		return false, fmt.Errorf("compare %s: %w", a, errors.ErrUnsupported)
	}
	if err := f.op(Stat, a, b); err != nil {
		return false, err
	}
	return i.SameFile(a, b)
}
