package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/plan"
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
	world  afero.Fs // what the steps see
	ledger *ledger.Ledger
	packs  *packs

	items []step.Item

	id      string
	dir     string
	store   *cas.Store
	journal *journal.Journal // nil where nothing is recorded

	// Of a run that is resumed, by the item's id: what it recorded of items that
	// are not finished.
	recorded map[string]*journal.Item

	each    func(*itemRun) // gives an item a world of its own; nil for that of the run
	results []ItemResult   // each has one writer
	halt    func(error)    // ends all items
	onces   sync.Map       // by the keys of [step.Env.Once]
	brought *brought       // nil for nothing
	folders sync.Map       // resolved folders, by name
	mu      sync.Mutex
	broken  *haltError // why the run was broken off
	fresh   []ledger.Record
}

// resolve finds the items.
func (r *run) resolve(ctx context.Context) (err error) {
	err = local.Protect(func() (err error) {
		r.items, err = r.kind.Items(ctx, r.stepEnv(), r.job)
		return err
	})
	if err != nil {
		return err
	}
	if len(r.items) == 0 {
		return &step.Refusal{
			Class:   "no-sessions",
			Message: "no file matches the job's input",
			Place:   step.Place{File: r.job.File},
			Next:    "check input.sessions and input.exclude; they are relative to the job's folder",
		}
	}
	seen := map[string]bool{}
	for _, i := range r.items {
		if seen[i.ID] || i.ID == "." || !filepath.IsLocal(i.ID) || strings.ContainsAny(i.ID, `/\`) {
			return fmt.Errorf("kind %s: the item id %q is not a name of its own", r.job.Kind, i.ID)
		}
		seen[i.ID] = true
	}
	return nil
}

// stepEnv is the world that the kind sees before there are items.
func (r *run) stepEnv() step.Env {
	return step.Env{
		FS:            r.world,
		State:         r.env.State,
		Force:         r.opts.Force,
		SessionClosed: r.opts.SessionClosed,
		Owned:         r.owned,
		Now:           r.env.Now,
		Progress:      func(done, total int64) {},
		Cleanup:       func(func() error) {},
		Once:          r.once,
		Brought:       r.brought.take,
	}
}

// once does something for a key the first time it is asked to; who asks meanwhile
// waits for it.
func (r *run) once(key string, do func() error) error {
	v, _ := r.onces.LoadOrStore(key, sync.OnceValue(do))
	return v.(func() error)()
}

// canonical is [fsys.Canonical] for many files of few folders.
func (r *run) canonical(path string) (string, error) {
	dir, base := filepath.Split(path)
	info, err := fsys.Lstat(r.env.FS, path)
	plain := errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0
	if !plain || base == "" || !filepath.IsLocal(base) {
		return fsys.Canonical(r.env.FS, path)
	}
	real, ok := r.folders.Load(dir)
	if !ok {
		found, err := fsys.Canonical(r.env.FS, dir)
		if err != nil {
			return "", err
		}
		real, _ = r.folders.LoadOrStore(dir, found)
	}
	return filepath.Join(real.(string), base), nil
}

// open makes the run's folder and its journal, with every item in it.
func (r *run) open() error {
	r.id = r.env.NewID()
	r.dir = filepath.Join(r.env.State, "runs", r.id)
	if err := r.makeState(); err != nil {
		return err
	}
	if err := r.record(nil); err != nil {
		return err
	}
	file, err := fsys.Canonical(r.env.FS, r.job.File)
	if err != nil {
		return err
	}
	err = r.journal.Append(&journal.RunOpened{
		Run: r.id, Kind: r.job.Kind, Name: r.job.Name, Job: r.job.Digest(), File: written(file),
		Set: r.opts.Set, Until: r.opts.Until, Force: r.opts.Force, SessionClosed: r.opts.SessionClosed,
		Items: len(r.items), Durability: r.journal.Durability(), Owner: r.env.Host,
	})
	for _, i := range r.items {
		if err == nil {
			err = r.openItem(i)
		}
	}
	return errors.Join(err, r.journal.Commit())
}

func (r *run) openItem(i step.Item) error {
	path, err := r.canonical(i.Source)
	if err != nil {
		return err
	}
	return r.journal.Append(&journal.ItemOpened{Item: i.ID, Source: written(path), Label: written(i.Label)})
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
	ctx, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	r.halt = halt
	if r.results == nil {
		r.results = make([]ItemResult, len(r.items))
	}
	r.opts.Sink.Emit(r.started())
	defer r.tick()()
	pool := r.pool()
	pool.Stop = r.job.Run.OnFailure == "stop"
	errs := pool.Run(ctx, len(r.items), r.item)
	for i, err := range errs {
		if r.results[i].Status == "" { // not started
			r.end(i, r.newItem(i), outcome(ctx, err))
		}
	}
	return r.finish()
}

// pool is how the job wants its items worked through.
func (r *run) pool() local.Pool {
	const small = 4 << 20
	return local.Pool{
		Workers: r.job.Run.Workers,
		Small:   func(i int) bool { return r.items[i].Bytes > 0 && r.items[i].Bytes < small },
		Timeout: time.Duration(r.job.Run.Timeout),
	}
}

// started tells of what there is to do: of a run that is resumed, the rest.
func (r *run) started() event.RunStarted {
	e := event.RunStarted{Run: r.id, Kind: r.job.Kind}
	for i := range r.items {
		if r.results == nil || r.results[i].Status == "" {
			e.Items, e.Bytes = e.Items+1, e.Bytes+r.items[i].Bytes
		}
	}
	return e
}

// finish enters what was finished in the ledger, and writes the last entry when every
// item has ended: a run that is over is not gone on with.
func (r *run) finish() error {
	if r.journal == nil {
		return r.failure()
	}
	open := false
	for _, result := range r.results {
		open = open || result.Status == step.Interrupted || result.Open
	}
	if err := r.failure(); err != nil {
		return err
	}
	err := r.settleLedger()
	if err == nil && !open {
		err = r.note(&journal.RunFinished{Exit: itemsExit(r.results)})
	}
	if e := r.commit(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := r.ledger.Tidy(); err != nil { // it works as it is
		r.env.Log.Warn("ledger not tidied", "error", err)
	}
	return nil
}

// close gives up what the run holds. What counts of it is durable already.
func (r *run) close() {
	var errs []error
	if r.journal != nil {
		errs = append(errs, r.journal.Close(), r.store.Close())
	}
	errs = append(errs, r.packs.close(), r.ledger.Close())
	if err := errors.Join(errs...); err != nil {
		r.env.Log.Warn("run not closed cleanly", "run", r.id, "error", err)
	}
}

// steps of an item, in the order in which they run.
func (r *run) steps(env step.Env, item step.Item) ([]step.Step, error) {
	steps, err := r.kind.Steps(env, r.job, item)
	if err != nil {
		return nil, err
	}
	if steps, err = plan.Order(steps); err != nil {
		return nil, fmt.Errorf("kind %s: %w", r.job.Kind, err)
	}
	if r.opts.Until == "" {
		return steps, nil
	}
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.Name
	}
	steps, err = plan.Until(steps, r.opts.Until)
	if err != nil {
		return nil, &step.Refusal{Class: "unknown-step", Message: err.Error(), Next: "name one of " + strings.Join(names, ", ")}
	}
	return steps, nil
}
