package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// itemRun is one item under way.
type itemRun struct {
	*run
	step.Item
	dir     string
	current atomic.Value // the name of the step at work
	outputs map[string]step.Output
	result  ItemResult
}

func (r *run) newItem(i int) *itemRun {
	item := r.items[i]
	return &itemRun{
		run: r, Item: item,
		dir:     filepath.Join(r.dir, "items", item.ID),
		outputs: map[string]step.Output{},
		result:  ItemResult{Session: written(item.Source), Facts: map[string]any{}},
	}
}

// item runs one item and gives the error that counts as its failure.
func (r *run) item(ctx context.Context, i int) error {
	t := r.newItem(i)
	err := local.Protect(func() error { return t.work(ctx) })
	if err == nil && t.result.Status == "" {
		t.result.Status = step.Done
	}
	o := journal.Outcome{Status: t.result.Status}
	if err != nil {
		o = t.outcome(ctx, err)
	}
	r.end(i, t, o)
	if o.Skip {
		return nil
	}
	return err
}

// end records and tells how an item ended. An interrupted one stays open.
func (r *run) end(i int, t *itemRun, o journal.Outcome) {
	if o.Status != step.Interrupted && r.failure() == nil {
		if err := r.record(&journal.ItemFinished{Item: t.ID, Outcome: o}); err != nil {
			o = broken(err)
		}
	}
	if o.Status == step.Interrupted && o.Next == "" {
		o.Next = "run the job again: what is in place already is kept"
	}
	t.result.set(o)
	r.results[i] = t.result
	r.opts.Sink.Emit(event.ItemFinished{ID: t.ID, Item: t.result.event()})
}

// work runs the item's steps in order.
func (t *itemRun) work(ctx context.Context) error {
	if err := fsys.MkdirAll(t.env.FS, t.dir); err != nil {
		return err
	}
	t.result.Dir = t.dir
	steps, err := t.graph()
	if err != nil {
		return err
	}
	t.opts.Sink.Emit(event.ItemStarted{Item: t.ID, Session: written(t.Source), Label: written(t.Label), Steps: len(steps)})
	for _, s := range steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		out, err := t.step(ctx, s)
		if err != nil {
			return err
		}
		if out.Facts["status"] == string(step.UpToDate) {
			t.result.Status = step.UpToDate
			return nil
		}
	}
	return nil
}

func (t *itemRun) graph() ([]step.Step, error) {
	steps, err := t.kind.Steps(t.stepEnv(), t.job, t.Item)
	if err != nil {
		return nil, err
	}
	if steps, err = plan.Order(steps); err != nil {
		return nil, fmt.Errorf("kind %s: %w", t.job.Kind, err)
	}
	if t.opts.Until == "" {
		return steps, nil
	}
	steps, err = plan.Until(steps, t.opts.Until)
	if err != nil {
		return nil, &step.Refusal{Class: "unknown-step", Message: err.Error(), Next: "name a step of the job's kind"}
	}
	return steps, nil
}

// stepEnv is the world that the item's steps see.
func (t *itemRun) stepEnv() step.Env {
	env := t.run.stepEnv()
	env.Dir = t.dir
	token := sha256.Sum256([]byte(t.id + "/" + t.ID))
	env.Token = hex.EncodeToString(token[:8])
	env.Progress = t.progress()
	return env
}

// progress tells how far a step is, once a percent.
func (t *itemRun) progress() func(done, total int64) {
	told := int64(-1)
	return func(done, total int64) {
		percent := int64(100)
		if total > 0 {
			percent = done * 100 / total
		}
		if percent == told {
			return
		}
		told = percent
		name, _ := t.current.Load().(string)
		t.opts.Sink.Emit(event.Progress{Item: t.ID, Step: name, Done: done, Total: total})
	}
}

// step runs one step: recorded as started before, as finished once all it leaves
// is durable and verified.
func (t *itemRun) step(ctx context.Context, s step.Step) (step.Output, error) {
	c, err := plan.Describe(s, t.outputs)
	if err != nil {
		return step.Output{}, err
	}
	key, err := c.Key()
	if err != nil {
		return step.Output{}, err
	}
	if err := t.record(&journal.StepStarted{Item: t.ID, Step: s.Name, Effect: s.Effect, Key: key, Components: c}); err != nil {
		return step.Output{}, err
	}
	t.current.Store(s.Name)
	t.opts.Sink.Emit(event.StepStarted{Item: t.ID, Step: s.Name})
	out, err := t.attempt(ctx, s)
	t.result.add(out)
	if err != nil {
		return out, t.failed(ctx, s, out, err)
	}
	t.outputs[s.Name] = out
	if err := t.record(&journal.StepFinished{
		Item: t.ID, Step: s.Name, Artifacts: out.Artifacts, Published: out.Published, Facts: out.Facts,
	}); err != nil {
		return out, err
	}
	t.opts.Sink.Emit(event.StepFinished{Item: t.ID, Step: s.Name})
	return out, nil
}

// attempt runs the step and checks what it left.
func (t *itemRun) attempt(ctx context.Context, s step.Step) (out step.Output, err error) {
	in := step.Input{Artifacts: t.needs(s), Open: t.store.Get, Put: t.store.Put}
	err = local.Protect(func() (err error) {
		out, err = s.Run(ctx, in)
		return err
	})
	if err != nil {
		return out, err
	}
	return out, t.settle(out)
}

func (t *itemRun) needs(s step.Step) map[string]step.Artifact {
	in := map[string]step.Artifact{}
	for _, need := range s.Needs {
		for name, a := range t.outputs[need].Artifacts {
			in[need+"/"+name] = a
		}
	}
	return in
}

// settle verifies a step's output and enters its files in the ledger.
func (t *itemRun) settle(out step.Output) error {
	for _, name := range slices.Sorted(maps.Keys(out.Artifacts)) {
		if err := t.store.Verify(out.Artifacts[name]); err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
	}
	for _, p := range out.Published {
		size, sum, err := fsys.Sum(t.env.FS, p.Path)
		if err != nil {
			return fmt.Errorf("verify published file: %w", err)
		}
		if size != p.Bytes || sum != p.SHA256 {
			return fmt.Errorf("verify published file %s: the bytes are not those published", p.Path)
		}
		if err := t.ledger.enter(t.id, p); err != nil {
			return fmt.Errorf("record publication of %s: %w", p.Path, err)
		}
	}
	return nil
}

// failed records a failed attempt and gives the error that ends the item.
func (t *itemRun) failed(ctx context.Context, s step.Step, out step.Output, err error) error {
	entry := &journal.StepFailed{Item: t.ID, Step: s.Name, Published: out.Published, Outcome: t.outcome(ctx, err)}
	if err := t.record(entry); err != nil {
		return err
	}
	return err
}
