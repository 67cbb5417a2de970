package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/applog"
	"github.com/precis-dev/precis/spec"
)

// Resume goes on with a run that was cut short, to the same end that it would have
// had. What it recorded as finished is verified and not done again; what ended
// badly has ended. A job that was changed since is refused, and an item whose
// source was.
//
// A run that is finished is not touched: its result is that of its record.
func (e *Engine) Resume(ctx context.Context, id string, o Options) (Result, error) {
	return e.tell(ctx, o, func(o Options) (Result, error) {
		state, err := e.scan(id, nil)
		if err != nil {
			return Result{}, err
		}
		r, err := e.reopen(state, o)
		if err != nil {
			return Result{}, err
		}
		defer r.close()
		r.brought = newBrought(o.Brought, state)
		if state.Finished == nil {
			err = r.resume(ctx)
		}
		if err == nil {
			err = r.brought.left(r.id, e.env.command("show", r.id)+" tells what the run waits for")
		}
		if err != nil && state.Finished != nil {
			return Result{Run: r.id}, err // nothing was done
		}
		return Result{Run: r.id, Items: r.results}, err
	})
}

// reopen makes a run of its record, without writing anything.
func (e *Engine) reopen(state *journal.State, o Options) (*run, error) {
	opened := state.Run
	job, err := e.sameJob(opened)
	if err != nil {
		return nil, err
	}
	kind, err := e.kind(job.Kind, job.File)
	if err != nil {
		return nil, err
	}
	o.Force, o.SessionClosed, o.Until, o.Set = opened.Force, opened.SessionClosed, opened.Until, opened.Set
	r := &run{
		env: e.env, kind: kind, job: job, opts: o, world: e.env.FS, packs: newPacks(e.env.FS, e.runs()),
		id: opened.Run, dir: filepath.Join(e.runs(), opened.Run),
	}
	if len(state.Items) != opened.Items {
		return nil, &step.Refusal{
			Class: "run-not-begun", Message: fmt.Sprintf("the run ended before it had written down its %d items; it did nothing", opened.Items),
			Place: step.Place{File: r.dir}, Next: e.env.command("run", job.File),
		}
	}
	if r.ledger, err = e.ledger(); err != nil {
		return nil, e.unwritable(err)
	}
	r.remember(state)
	return r, nil
}

// sameJob loads the job of a run again, and refuses one that says something else
// now. Without its file the job is what the run wrote down.
func (e *Engine) sameJob(opened *journal.RunOpened) (*spec.Job, error) {
	frozen, err := e.frozenJob(opened)
	if err != nil {
		return nil, err
	}
	now, err := spec.Load(e.env.FS, opened.File, opened.Set)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return frozen, nil
	case err != nil:
		return nil, err
	case bytes.Equal(now.Canonical(), frozen.Canonical()):
		return now, nil
	}
	d := plan.Compare("job", frozen.Canonical(), now.Canonical())
	return nil, &step.Refusal{
		Class: "job-changed", Message: fmt.Sprintf("the job was changed since the run began: %s was %s and is %s", d.Component, d.Old, d.New),
		Place: step.Place{File: opened.File}, Next: "undo the change to resume, or begin anew with precis run",
	}
}

// frozenJob is the job as the run wrote it down.
func (e *Engine) frozenJob(opened *journal.RunOpened) (*spec.Job, error) {
	name := filepath.Join(e.runs(), opened.Run, "job.json")
	text, err := afero.ReadFile(e.env.FS, name)
	damaged := func(message string, err error) error {
		return &step.Refusal{Class: "record-damaged", Message: message, Place: step.Place{File: name}, Next: "put the file back from a copy, or begin anew with precis run", Err: err}
	}
	if err != nil {
		return nil, damaged("the job of the run cannot be read", err)
	}
	job, err := spec.Parse(opened.File, text, nil)
	if err == nil && job.Digest() != opened.Job {
		return nil, damaged("the file is not the job of the run: its digest is "+job.Digest(), nil)
	}
	return job, err
}

// remember takes the items and their results from the record.
func (r *run) remember(state *journal.State) {
	r.recorded = map[string]*journal.Item{}
	r.results = make([]ItemResult, len(state.Items))
	for i, item := range state.Items {
		again := step.Item{ID: item.ItemOpened.Item, Source: item.Source, Label: item.Label}
		if info, err := r.env.FS.Stat(item.Source); err == nil {
			again.Bytes = info.Size()
		}
		r.items = append(r.items, again)
		if item.Result == nil {
			r.recorded[item.ItemOpened.Item] = item
			continue
		}
		t := r.newItem(i)
		t.result.Outputs, t.result.Sizes = item.Published, item.Sizes
		t.result.set(*item.Result)
		r.results[i] = t.result
	}
}

// resume goes on with a run that was reopened.
func (r *run) resume(ctx context.Context) error {
	err := r.record(r.relearn)
	if err != nil {
		return locked(r.dir, err)
	}
	// The record may have grown before the lock was ours.
	r.items, r.results = nil, nil
	r.remember(r.journal.State())
	if r.journal.State().Finished != nil {
		return nil // by another process, meanwhile
	}
	if err := r.recheck(); err != nil {
		return err
	}
	if err := r.journal.Append(&journal.RunResumed{Owner: r.env.Host}); err != nil {
		return err
	}
	return r.execute(ctx)
}

// locked names the process that has the record of a run.
func locked(dir string, err error) error {
	var other *applog.LockedError
	if !errors.As(err, &other) {
		return err
	}
	return &step.Refusal{
		Class: "run-locked", Message: "the run is not over: " + other.Error(), Place: step.Place{File: dir},
		Next: "wait for it, or end that process",
	}
}

// relearn enters in the ledger what the run finished before it was cut short.
func (r *run) relearn(i *journal.Item) error {
	last := len(i.Steps) - 1
	if i.Same != "" || last < 0 || i.Steps[last].Phase != journal.Finished || !i.Steps[last].Effect && i.Result.Status != step.Done {
		return nil
	}
	rec := r.newRecord(i.Source)
	for _, s := range i.Steps {
		rec.Steps = append(rec.Steps, r.atHome(s.Done))
	}
	r.fresh = append(r.fresh, rec)
	return nil
}

// anew is the command that runs the job again as it was run.
func (r *run) anew(flags ...string) string {
	args := []string{r.job.File}
	for _, s := range r.opts.Set {
		args = append(args, "--set", s)
	}
	return r.env.command("run", append(args, flags...)...)
}

// outdated ends an item whose output is not what was recorded.
func (i *ItemResult) outdated(p step.Published, again string, gone bool) {
	i.Status, i.Class, i.Outputs = step.Failed, "output-changed", nil
	i.Message, i.Next = "what the run published at "+p.Path+" was changed since", again+" --force replaces it"
	if gone {
		i.Message, i.Next = "what the run published at "+p.Path+" is gone", again+" makes it again"
	}
}

// recheck looks whether what the finished items published still stands. An item
// whose output is gone has not come out as recorded, and says so.
func (r *run) recheck() error {
	for i := range r.results {
		if r.results[i].Status != step.Done {
			continue
		}
		t := r.newItem(i)
		for _, p := range r.results[i].Outputs {
			now, err := t.stands(p)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if now != p.SHA256 && p.Result() {
				r.results[i].outdated(p, r.anew(), err != nil)
				break
			}
		}
	}
	return nil
}
