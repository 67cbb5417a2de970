package engine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
)

// packName is the pack of a run's artifacts, in the run's folder.
const packName = "artifacts.pack"

// packs opens the packs of earlier runs, each once.
type packs struct {
	fs   afero.Fs
	runs string // the folder of all runs

	mu   sync.Mutex
	open map[string]*cas.Store
}

func newPacks(f afero.Fs, runs string) *packs {
	return &packs{fs: f, runs: runs, open: map[string]*cas.Store{}}
}

// of is the pack of a run; that of a run which is gone is empty.
func (p *packs) of(run string) (*cas.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.open[run]; s != nil {
		return s, nil
	}
	s, err := cas.Open(p.fs, filepath.Join(p.runs, filepath.Base(run), packName))
	if err == nil {
		p.open[run] = s
	}
	return s, err
}

func (p *packs) close() error {
	var errs []error
	for _, s := range p.open {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// missing tells what is wrong with an artifact that does not verify.
func missing(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "(gone)"
	}
	return "(damaged)"
}
