package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// itemRun is one item under way.
type itemRun struct {
	*run
	step.Item
	fs      afero.Fs
	store   *cas.Store
	current atomic.Value // the name of the step at work

	last     *ledger.Record             // of an earlier run, nil for none
	answers  *ledger.Record             // of earlier runs that came to no end, likewise
	recorded *journal.Item              // of this run, when it is resumed
	observed map[string][]step.Observed // by step, as they were when they were asked
	done     map[string]plan.Done       // finished steps
	order    []string                   // their names
	all      int                        // how many steps there are, as far as is known
	mu       sync.Mutex                 // of all that steps side by side change; not held while they run
	replaced bool                       // the source is what an earlier run put in its place
	result   ItemResult
	leaving  sync.Mutex // of cleanup, which steps add to as they run
	cleanup  []func() error
}

func (r *run) newItem(i int) *itemRun {
	item := r.items[i]
	t := &itemRun{
		run: r, Item: item, fs: r.world, store: r.store, recorded: r.recorded[item.ID],
		observed: map[string][]step.Observed{}, done: map[string]plan.Done{},
		result: ItemResult{Item: item.ID, Session: written(item.Source)},
	}
	if r.each != nil {
		r.each(t)
	}
	return t
}

// item runs one item and gives the error that counts as its failure.
func (r *run) item(ctx context.Context, i int) error {
	if r.results[i].Status != "" {
		return nil // finished before the run was resumed
	}
	t := r.newItem(i)
	defer t.release()
	err := r.full(local.Protect(func() error { return t.work(ctx) }))
	o := journal.Outcome{Status: t.result.Status}
	if err != nil {
		o = t.outcome(ctx, err)
	}
	r.end(i, t, o)
	if o.Skip || o.Status == step.Waiting {
		return nil
	}
	return err
}

// end records and tells how an item ended. An interrupted one stays open, and one
// whose step is to be tried again.
func (r *run) end(i int, t *itemRun, o journal.Outcome) {
	if r.failure() == nil {
		end := t.finish
		if o.Status == step.Interrupted || o.Open {
			end = func(journal.Outcome) error { return t.enterAnswers() }
		}
		if err := r.full(end(o)); err != nil {
			o = t.outcome(context.Background(), err)
		}
	}
	if o.Status == step.Interrupted && o.Next == "" {
		o.Next = r.goOn()
	}
	t.result.set(o)
	r.results[i] = t.result
	r.opts.Sink.Emit(event.ItemFinished{ID: t.ID, Bytes: t.Bytes, Item: t.result.event()})
}

// goOn says how an interrupted item is gone on with.
func (r *run) goOn() string {
	if r.journal == nil {
		return "run the command again"
	}
	return r.env.command("resume", r.id)
}

// finish records the item's end; it is durable for all that left something. An item
// whose steps are all finished has a result for later runs, even if it failed after
// that.
func (t *itemRun) finish(o journal.Outcome) error {
	entry := &journal.ItemFinished{Item: t.ID, Outcome: o}
	if o.Status == step.UpToDate && len(t.order) == 0 {
		entry.Same = t.last.Run
		return t.note(entry) // nothing was done that could be lost
	}
	if err := t.abandon(o); err != nil {
		return err
	}
	if err := t.note(entry); err != nil {
		return err
	}
	if err := t.commit(); err != nil {
		return err
	}
	if t.journal == nil || t.opts.Until != "" || len(t.order) == 0 || len(t.order) < t.all {
		return t.enterAnswers()
	}
	rec, err := t.entry(t.order)
	if err != nil {
		return err
	}
	if err := t.enter(rec); err != nil || t.result.Replaced == nil {
		return err
	}
	return t.settleLedger() // a run that began anew would take the new session for an old one
}

// abandon ends the attempts that an earlier process began, of an item that ends
// before it comes to them again.
func (t *itemRun) abandon(o journal.Outcome) error {
	if t.recorded == nil || t.journal == nil {
		return nil
	}
	for _, st := range t.recorded.Steps {
		if st.Phase != journal.Started {
			continue
		}
		if err := t.note(&journal.StepFailed{Item: t.ID, Step: st.StepStarted.Step, Outcome: o}); err != nil {
			return err
		}
	}
	return nil
}

// entry is the ledger's record of some of the item's steps.
func (t *itemRun) entry(names []string) (ledger.Record, error) {
	path, err := t.canonical(t.Source)
	rec := t.newRecord(written(path))
	for _, name := range names {
		rec.Steps = append(rec.Steps, t.atHome(t.done[name]))
	}
	return rec, err
}

// work brings the item to its end.
func (t *itemRun) work(ctx context.Context) error {
	steps, err := t.steps(t.stepEnv(), t.Item)
	if err != nil {
		return err
	}
	t.all = len(steps)
	t.opts.Sink.Emit(event.ItemStarted{Item: t.ID, Session: written(t.Source), Label: written(t.Label), Bytes: t.Bytes, Steps: len(steps)})
	if err := t.remember(steps); err != nil {
		return err
	}
	if t.recorded == nil {
		same, err := t.upToDate(ctx, steps)
		if err != nil || same {
			return err
		}
	}
	if settled, err := t.settle(ctx, steps); err != nil || settled {
		return err
	}
	if err := check(steps); err != nil {
		return err
	}
	if err := t.through(ctx, steps); err != nil {
		return err
	}
	t.result.Status = t.status()
	return nil
}

// check refuses an item before its first step.
func check(steps []step.Step) error {
	for _, s := range steps {
		if s.Check == nil {
			continue
		}
		if err := s.Check(); err != nil {
			return err
		}
	}
	return nil
}

// status of an item all of whose steps are finished: what it publishes may have
// stood there already.
func (t *itemRun) status() step.Status {
	if len(t.result.Outputs) == 0 || committed(t.result.Outputs) {
		return step.Done
	}
	return step.UpToDate
}

// stepEnv is the world that the item's steps see.
func (t *itemRun) stepEnv() step.Env {
	env := t.run.stepEnv()
	env.FS = t.fs
	token := sha256.Sum256([]byte(t.id + "/" + t.ID))
	env.Token = hex.EncodeToString(token[:8])
	env.Progress = t.progress()
	if t.fs != t.world { // what another item does is not seen in this one's world
		env.Once = func(_ string, do func() error) error { return do() }
	}
	env.Cleanup = func(c func() error) {
		t.leaving.Lock()
		defer t.leaving.Unlock()
		t.cleanup = append(t.cleanup, c)
	}
	return env
}

// release gives up what the steps hold, the last first.
func (t *itemRun) release() {
	for _, c := range slices.Backward(t.cleanup) {
		if err := c(); err != nil {
			t.env.Log.Warn("not released", "run", t.id, "item", t.ID, "error", err)
		}
	}
	t.cleanup = nil
}

// progress tells how far a step is, once a percent.
func (t *itemRun) progress() func(done, total int64) {
	var told atomic.Int64
	told.Store(-1)
	return func(done, total int64) {
		percent := int64(100)
		if total > 0 {
			percent = done * 100 / total
		}
		if told.Swap(percent) == percent {
			return
		}
		name, _ := t.current.Load().(string)
		t.opts.Sink.Emit(event.Progress{Item: t.ID, Step: name, Done: done, Total: total})
	}
}

// advance finishes a step: from the record, or by running it.
func (t *itemRun) advance(ctx context.Context, s step.Step) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := t.attempted(s.Name); st != nil && st.Phase == journal.Finished {
		return t.trust(ctx, s, st.Done)
	}
	d, why, err := t.earlier(ctx, s)
	if err != nil {
		return err
	}
	if why == nil {
		return t.reuse(d)
	}
	return t.step(ctx, s)
}

// reuse takes a step from an earlier run.
func (t *itemRun) reuse(d plan.Done) error {
	if err := t.note(&journal.StepFinished{Item: t.ID, Done: d}); err != nil {
		return err
	}
	t.take(d)
	return nil
}

// take enters a finished step.
func (t *itemRun) take(d plan.Done) {
	t.done[d.Step] = d
	t.order = append(t.order, d.Step)
	t.result.add(d, t.id)
}

func changed(path string, err error) error {
	return &step.Refusal{
		Class: "source-changed", Message: "the file changed while the job ran; nothing was published",
		Place: step.Place{File: path}, Next: "close the session and run the job again", Err: err,
	}
}
