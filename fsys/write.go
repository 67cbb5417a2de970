package fsys

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/afero"
)

// SyncDir makes the entries of a directory durable where the filesystem can;
// elsewhere durability is what the filesystem gives, and SyncDir succeeds.
func SyncDir(f afero.Fs, name string) error {
	s, ok := As[DirSyncer](f)
	if !ok {
		return nil
	}
	if err := s.SyncDir(name); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sync folder %s: %w", name, err)
	}
	return nil
}

// Lstat is Stat that does not follow a symbolic link in the last element.
func Lstat(f afero.Fs, name string) (fs.FileInfo, error) {
	if l, ok := As[afero.Lstater](f); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return f.Stat(name)
}

// Canonical is the one name under which a path is recorded: resolved where the
// filesystem can, else cleaned.
func Canonical(f afero.Fs, name string) (string, error) {
	if r, ok := As[Resolver](f); ok {
		return r.Resolve(name)
	}
	return filepath.Clean(name), nil
}

// MkdirAll makes a directory and its missing parents, for the owner only. It is
// durable when MkdirAll returns, whoever made it: parents are synced before
// anything is made in them, and the folder that holds an existing one is synced
// again, since its maker may not have come so far.
func MkdirAll(f afero.Fs, name string) error {
	parent := filepath.Dir(name)
	info, err := f.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return syncReadable(f, parent)
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist) || parent == name:
		return err
	}
	if err := MkdirAll(f, parent); err != nil {
		return err
	}
	// Another process may be making the same folder.
	if err := f.Mkdir(name, DirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(f, parent)
}

// syncReadable is SyncDir for a folder that may be closed to us, in which we
// have made nothing.
func syncReadable(f afero.Fs, name string) error {
	if err := SyncDir(f, name); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// CreateNew creates a file that must not exist, for the owner only. Neither its
// content nor its name is durable yet.
func CreateNew(f afero.Fs, name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, FilePerm)
}

// LockFile takes the lock of a file that is there for nothing else; it is created
// when it is missing, and stays.
func LockFile(f afero.Fs, name string) (io.Closer, error) {
	l, ok := As[Locker](f)
	if !ok {
		return nil, fmt.Errorf("lock %s: %w", name, errors.ErrUnsupported)
	}
	if _, err := f.Stat(name); errors.Is(err, fs.ErrNotExist) {
		w, err := CreateNew(f, name)
		if err == nil {
			err = w.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return l.Lock(name)
}

// WriteNew writes a file that must not exist. Its content is durable when it
// returns, its name once the folder is synced. After an error the file is gone.
func WriteNew(f afero.Fs, name string, data []byte) error {
	w, err := CreateNew(f, name)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	if err == nil {
		err = w.Sync()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, f.Remove(name))
	}
	return nil
}

// Remove removes a file. One that is not there is no error.
func Remove(f afero.Fs, name string) error {
	if err := f.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// WriteFile puts data at name, all or nothing, replacing what is there. Content
// and name are durable when it returns. The token names the temporary file and
// must be unique among live writers of this name; a leftover with the same
// token is removed.
func WriteFile(f afero.Fs, name, token string, data []byte) error {
	dir, base := filepath.Split(name)
	tmp := filepath.Join(dir, "."+base+".tmp-"+token)
	if err := Remove(f, tmp); err != nil {
		return err
	}
	if err := WriteNew(f, tmp, data); err != nil {
		return err
	}
	if err := f.Rename(tmp, name); err != nil {
		return errors.Join(err, f.Remove(tmp))
	}
	return SyncDir(f, filepath.Dir(name))
}

// Sum is the size and the hexadecimal SHA-256 of a file's content.
func Sum(f afero.Fs, name string) (size int64, sha256hex string, err error) {
	r, err := f.Open(name)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return 0, "", err
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}
