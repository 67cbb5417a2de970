package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/spec"
)

// run is one execution of a job.
type run struct {
	env    Env
	kind   step.Kind
	job    *spec.Job
	opts   Options
	store  *cas.Store
	ledger ledger

	items []step.Item

	id      string
	dir     string
	journal *journal.Journal

	results []ItemResult // each has one writer
	halt    func(error)  // ends all items
	mu      sync.Mutex
	broken  error // the first entry that could not be written
}

func newRun(env Env, kind step.Kind, job *spec.Job, o Options) *run {
	if env.Log == nil {
		env.Log = hclog.NewNullLogger()
	}
	return &run{
		env: env, kind: kind, job: job, opts: o,
		store:  cas.New(env.FS, filepath.Join(env.State, "cas")),
		ledger: ledger{env.FS, filepath.Join(env.State, "published")},
	}
}

// stepEnv is the world that the kind sees before there are items.
func (r *run) stepEnv() step.Env {
	return step.Env{
		FS:            r.env.FS,
		Force:         r.opts.Force,
		SessionClosed: r.opts.SessionClosed,
		Owned:         r.ledger.owned,
		Progress:      func(done, total int64) {},
	}
}

// open makes the run's folder and its journal, with every item in it.
func (r *run) open() error {
	r.id = r.env.NewID()
	r.dir = filepath.Join(r.env.State, "runs", r.id)
	if err := r.makeState(); err != nil {
		return err
	}
	j, err := journal.Open(r.env.FS, filepath.Join(r.dir, "journal.jsonl"), r.env.Host, r.env.Now)
	if err != nil {
		return err
	}
	r.journal = j
	err = j.Append(&journal.RunOpened{
		Run: r.id, Kind: r.job.Kind, Job: r.job.Digest(), Until: r.opts.Until,
		Durability: j.Durability(), Owner: r.env.Host,
	})
	for _, i := range r.items {
		if err == nil {
			err = j.Append(&journal.ItemOpened{Item: i.ID, Source: written(i.Source), Label: written(i.Label)})
		}
	}
	if err != nil {
		r.close()
	}
	return err
}

// makeState makes the state directory and in it the run's folder, which must be
// new.
func (r *run) makeState() error {
	f := r.env.FS
	runs := filepath.Dir(r.dir)
	if err := fsys.MkdirAll(f, runs); err != nil {
		return err
	}
	ignore := filepath.Join(r.env.State, ".gitignore")
	if _, err := f.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := fsys.WriteFile(f, ignore, r.id, []byte("*\n")); err != nil {
			return err
		}
	}
	if err := f.Mkdir(r.dir, fsys.DirPerm); err != nil {
		return err
	}
	if err := fsys.SyncDir(f, runs); err != nil {
		return err
	}
	return fsys.WriteFile(f, filepath.Join(r.dir, "job.json"), r.id, r.job.Canonical())
}

// execute works through the items and ends the run, unless an item is left open.
func (r *run) execute(ctx context.Context) error {
	r.opts.Sink.Emit(event.RunStarted{Run: r.id, Kind: r.job.Kind, Items: len(r.items)})
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	r.halt = halt
	r.results = make([]ItemResult, len(r.items))
	pool := local.Pool{
		Workers: r.job.Run.Workers,
		Timeout: time.Duration(r.job.Run.Timeout),
		Stop:    r.job.Run.OnFailure == "stop",
	}
	errs := pool.Run(ctx, len(r.items), r.item)
	for i, err := range errs {
		if r.results[i].Status == "" { // not started
			r.end(i, r.newItem(i), outcome(ctx, err))
		}
	}
	return r.finish()
}

// finish writes the last entry when every item has ended.
func (r *run) finish() error {
	for _, result := range r.results {
		if result.Status == step.Interrupted {
			return r.failure()
		}
	}
	if err := r.failure(); err != nil {
		return err
	}
	return r.record(&journal.RunFinished{Exit: itemsExit(r.results)})
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// journalError says that something happened which could not be recorded.
type journalError struct{ err error }

func (e *journalError) Error() string { return fmt.Sprintf("the run cannot be recorded: %v", e.err) }
func (e *journalError) Unwrap() error { return e.err }

// record writes an entry. Without its journal a run must not go on.
func (r *run) record(b journal.Body) error {
	err := r.journal.Append(b)
	if err == nil {
		return nil
	}
	broken := &journalError{err}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil {
		r.broken = broken
		r.halt(broken)
	}
	return broken
}

// close gives the journal up. All of it is durable already.
func (r *run) close() {
	if err := r.journal.Close(); err != nil {
		r.env.Log.Warn("journal not closed cleanly", "run", r.id, "error", err)
	}
}
