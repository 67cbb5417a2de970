package engine

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/journal"
)

// record opens the run's journal and the pack that is durable before it.
func (r *run) record(each func(*journal.Item) error) error {
	j, err := journal.Open(r.env.FS, filepath.Join(r.dir, "journal.jsonl"), r.env.Host, r.env.Now, each)
	if err != nil {
		return err
	}
	store, err := cas.OpenWriter(r.env.FS, filepath.Join(r.dir, packName))
	if err != nil {
		return errors.Join(err, j.Close())
	}
	r.journal, r.store = j, store
	j.Before = store.Sync
	return nil
}

// often is how long an entry waits at most before others can read it.
const often = time.Second

// tick commits the journal now and then, for those who look at it while a step
// takes long.
func (r *run) tick() (stop func()) {
	if r.journal == nil {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		t := time.NewTicker(often)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				_ = r.commit()
			case <-done:
				return
			}
		}
	})
	return func() { close(done); ended.Wait() }
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil {
		return nil
	}
	return r.broken
}

// note adds an entry to the journal. Without its journal a run must not go on.
func (r *run) note(b journal.Body) error {
	if r.journal == nil {
		return nil
	}
	if err := r.journal.Append(b); err != nil {
		return r.breakOff(r.unrecorded(err))
	}
	return nil
}

// commit makes durable what was noted.
func (r *run) commit() error {
	if r.journal == nil {
		return nil
	}
	if err := r.journal.Commit(); err != nil {
		return r.breakOff(r.unrecorded(err))
	}
	return nil
}
