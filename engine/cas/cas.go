// Package cas stores artifacts under their SHA-256: DIR/ab/<64 hex digits>.
//
// An artifact is written once, complete, and durable when Put returns; nothing
// under its final name is ever half-written. Every read checks the digest. The
// store removes nothing but its own temporary files (<hex>.tmp-<n>), of which a
// power cut may leave some.
package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// ErrCorrupt reports stored bytes that are not those of their name.
var ErrCorrupt = errors.New("stored bytes do not match their digest")

// Store is an artifact store in a folder. Several may use one folder at once,
// also in different processes.
type Store struct {
	fs  afero.Fs
	dir string
}

// New is the store in dir, which the first Put makes.
func New(f afero.Fs, dir string) *Store { return &Store{fs: f, dir: dir} }

// Put stores bytes. They are durable when it returns. Damaged bytes under the
// same name are replaced.
func (s *Store) Put(data []byte) (step.Artifact, error) {
	a := describe(data)
	if err := s.put(a, data); err != nil {
		return step.Artifact{}, fmt.Errorf("store artifact %s: %w", a.SHA256, err)
	}
	return a, nil
}

func (s *Store) put(a step.Artifact, data []byte) error {
	name := s.path(a)
	dir := filepath.Dir(name)
	if err := fsys.MkdirAll(s.fs, dir); err != nil {
		return err
	}
	if s.Verify(a) == nil {
		return fsys.SyncDir(s.fs, dir) // another writer may not have come so far
	}
	tmp, err := s.stage(name, data)
	if err != nil {
		return err
	}
	if err := s.fs.Rename(tmp, name); err != nil {
		return errors.Join(err, s.fs.Remove(tmp))
	}
	if err := fsys.SyncDir(s.fs, dir); err != nil {
		return err
	}
	return s.Verify(a)
}

// stage writes a temporary file under the first free number.
func (s *Store) stage(name string, data []byte) (string, error) {
	for n := 0; ; n++ {
		tmp := name + ".tmp-" + strconv.Itoa(n)
		if err := fsys.WriteNew(s.fs, tmp, data); !errors.Is(err, fs.ErrExist) {
			return tmp, err
		}
	}
}

// Get reads an artifact and checks it; the error is ErrCorrupt or fs.ErrNotExist
// where it is not what it should be.
func (s *Store) Get(a step.Artifact) ([]byte, error) {
	if err := valid(a); err != nil {
		return nil, err
	}
	data, err := afero.ReadFile(s.fs, s.path(a))
	if err != nil {
		return nil, fmt.Errorf("read artifact %s: %w", a.SHA256, err)
	}
	if describe(data) != a {
		return nil, fmt.Errorf("read artifact %s: %w", a.SHA256, ErrCorrupt)
	}
	return data, nil
}

// Verify is Get without keeping the bytes.
func (s *Store) Verify(a step.Artifact) error {
	if err := valid(a); err != nil {
		return err
	}
	size, sum, err := fsys.Sum(s.fs, s.path(a))
	if err != nil {
		return fmt.Errorf("read artifact %s: %w", a.SHA256, err)
	}
	if size != a.Bytes || sum != a.SHA256 {
		return fmt.Errorf("read artifact %s: %w", a.SHA256, ErrCorrupt)
	}
	return nil
}

func (s *Store) path(a step.Artifact) string {
	return filepath.Join(s.dir, a.SHA256[:2], a.SHA256)
}

func describe(data []byte) step.Artifact {
	sum := sha256.Sum256(data)
	return step.Artifact{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
}

// valid keeps a digest from a damaged record from becoming some other path.
func valid(a step.Artifact) error {
	if sum, err := hex.DecodeString(a.SHA256); err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != a.SHA256 {
		return fmt.Errorf("%q is not a SHA-256 in lower-case hexadecimal", a.SHA256)
	}
	return nil
}
