package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// ledger remembers what was last published at each path, so that a later run
// may replace its own output and nothing else. An entry is written after its
// file was verified: a crash in between leaves a file that counts as foreign
// until a run finds the bytes it would write there.
type ledger struct {
	fs  afero.Fs
	dir string
}

type ledgerEntry struct {
	Version int    `json:"version"`
	Path    string `json:"path"` // absolute, without symbolic links
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
	Run     string `json:"run"`
}

const ledgerVersion = 1

// enter records a file, durably.
func (l ledger) enter(run string, p step.Published) error {
	path, err := fsys.Canonical(l.fs, p.Path)
	if err != nil {
		return err
	}
	data, err := json.Marshal(ledgerEntry{ledgerVersion, path, p.SHA256, p.Bytes, run})
	if err != nil {
		return err
	}
	if err := fsys.MkdirAll(l.fs, l.dir); err != nil {
		return err
	}
	return fsys.WriteFile(l.fs, l.file(path), run, append(data, '\n'))
}

// owned gives what was last published at a path. An entry that cannot be read
// owns nothing.
func (l ledger) owned(path string) (sha256hex string, ok bool) {
	path, err := fsys.Canonical(l.fs, path)
	if err != nil {
		return "", false
	}
	data, err := afero.ReadFile(l.fs, l.file(path))
	if err != nil {
		return "", false
	}
	var e ledgerEntry
	if json.Unmarshal(data, &e) != nil || e.Version != ledgerVersion || e.Path != path {
		return "", false
	}
	return e.SHA256, true
}

func (l ledger) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(l.dir, hex.EncodeToString(sum[:])+".json")
}
