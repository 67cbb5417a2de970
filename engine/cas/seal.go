package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// OpenWriter opens a pack for reading and writing; the first put makes a missing
// one. Only one writer may be open, by the caller's care. It reads the whole
// pack: what follows the last frame that is right is kept aside in NAME.torn-N
// and cut off, durably; a damaged frame before stays where it is, and its
// artifact can be put again.
func OpenWriter(f afero.Fs, name string) (*Store, error) {
	s := &Store{fs: f, name: name, writer: true, index: map[digest]place{}}
	// The flag of package os, which only fsys may import.
	file, err := f.OpenFile(name, syscall.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		s.file = file
		err = s.seal()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open artifacts: %w", err), s.Close())
	}
	return s, nil
}

// seal makes the pack end with a frame that is right.
func (s *Store) seal() error {
	info, err := s.file.Stat()
	if err == nil {
		err = s.verifyFrames(info.Size())
	}
	if err == nil && s.end < info.Size() {
		err = s.cut(info.Size())
	}
	// Also where nothing was cut: a frame of a process that died before its sync
	// must not be built upon before it is durable.
	if err == nil {
		err = s.flush()
	}
	s.synced = s.end
	return err
}

// verifyFrames indexes the frames that are right.
func (s *Store) verifyFrames(size int64) error {
	if err := s.attach(); err != nil || s.end == 0 {
		return err
	}
	for f, err := range frames(s.file, s.end, size) {
		if err != nil {
			return err
		}
		r, err := newReader(s.file, f.at, f.head)
		if err == nil {
			err = r.verify()
		}
		if err == nil {
			s.add(f)
		} else if !errors.Is(err, ErrCorrupt) {
			return err // of the disk, which may read it the next time
		}
	}
	return nil
}

// cut keeps everything after the last good frame aside, durably, and cuts it off.
func (s *Store) cut(size int64) error {
	if err := s.keepAside(io.NewSectionReader(s.file, s.end, size-s.end)); err != nil {
		return err
	}
	return s.file.Truncate(s.end)
}

// keepAside saves torn bytes under the first free number. What a sealing that
// died before its cut has saved already is saved again in its place: it may not
// be durable.
func (s *Store) keepAside(torn *io.SectionReader) error {
	for n := 1; ; {
		aside := fmt.Sprintf("%s.torn-%d", s.name, n)
		w, err := fsys.CreateNew(s.fs, aside)
		if err == nil {
			return s.save(w, aside, torn)
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		switch same, err := s.same(aside, torn); {
		case err != nil:
			return err
		case same:
			if err := s.fs.Remove(aside); err != nil {
				return err
			}
		default:
			n++
		}
	}
}

// save writes a file durably. After an error it is gone.
func (s *Store) save(w afero.File, name string, torn *io.SectionReader) error {
	_, err := io.Copy(w, torn)
	if err == nil {
		err = w.Sync()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, s.fs.Remove(name))
	}
	return fsys.SyncDir(s.fs, filepath.Dir(name))
}

func (s *Store) same(name string, torn *io.SectionReader) (bool, error) {
	size, sum, err := fsys.Sum(s.fs, name)
	if err != nil || size != torn.Size() {
		return false, err
	}
	h := sha256.New()
	_, err = io.Copy(h, io.NewSectionReader(torn, 0, size))
	return hex.EncodeToString(h.Sum(nil)) == sum, err
}
