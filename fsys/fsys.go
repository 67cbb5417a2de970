// Package fsys is the filesystem precis runs on: afero.Fs, plus the
// capabilities afero lacks and a crash-safe publication needs (exclusive claim
// by hard link, directory sync, locks, symbolic links, same-file identity, other
// processes).
//
// Capabilities are looked up, never assumed: [As] finds one through any number
// of wrappers, so an overlay or a fault injector decides itself what it offers.
// The package knows nothing of jobs or transcripts.
package fsys

import (
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/afero"
)

// Permissions of everything precis creates: transcripts hold secrets.
const (
	FilePerm fs.FileMode = 0o600
	DirPerm  fs.FileMode = 0o700
)

// ErrLocked reports a lock that another holder has.
var ErrLocked = errors.New("locked by another holder")

// Linker makes a hard link and fails with fs.ErrExist when newname exists. It
// is the no-clobber claim of a publication. A volume or an inner filesystem
// without hard links is reported as errors.ErrUnsupported.
type Linker interface {
	Link(oldname, newname string) error
}

// DirSyncer makes the entries of a directory durable.
type DirSyncer interface {
	SyncDir(name string) error
}

// Exchanger swaps what two names of one folder lead to, in one step: neither
// name is missing at any instant, also in a crash. Where the volume or the system
// cannot, the error is errors.ErrUnsupported and nothing was done.
type Exchanger interface {
	Exchange(a, b string) error
}

// Locker takes an exclusive advisory lock on an existing file. It dies with its
// process and belongs to the file, not to its name. A lock held elsewhere is
// reported as [ErrLocked] without waiting.
type Locker interface {
	Lock(name string) (io.Closer, error)
}

// Resolver resolves every symbolic link of a path whose last elements may not
// exist yet, so that "does this lie in a forbidden tree" cannot be fooled.
type Resolver interface {
	Resolve(name string) (string, error)
}

// Identity tells whether two names are one file (hard links, symbolic links,
// case-folding volumes).
type Identity interface {
	SameFile(a, b string) (bool, error)
}

// Owner tells who owns a file.
type Owner interface {
	// Owned tells whether it is the user's own, for what may be shown of it.
	Owned(name string) (bool, error)
	// IDs are the numbers that Chown takes; the error is errors.ErrUnsupported
	// where files have none.
	IDs(name string) (uid, gid int, err error)
}

// Unwrapper is implemented by every layered filesystem.
type Unwrapper interface {
	Unwrap() afero.Fs
}

// As finds the first filesystem in the chain of wrappers that offers T.
func As[T any](f afero.Fs) (T, bool) {
	for f != nil {
		if t, ok := f.(T); ok {
			return t, true
		}
		u, ok := f.(Unwrapper)
		if !ok {
			break
		}
		f = u.Unwrap()
	}
	var zero T
	return zero, false
}
