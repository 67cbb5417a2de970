package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// NoRecord is the component that differs where there is no earlier run.
const NoRecord = "record"

// decide tells whether an earlier result of a step can stand for it: nil, and the
// result; or the first difference. A run and a plan both decide by it.
func (t *itemRun) decide(ctx context.Context, s step.Step, last *plan.Done) (plan.Done, *plan.Difference, error) {
	if last == nil {
		return plan.Done{}, &plan.Difference{Component: NoRecord, Old: "(none)", New: "first run"}, nil
	}
	c, err := t.describe(ctx, s)
	if err != nil {
		return plan.Done{}, nil, err
	}
	if diff := c.Differ(last.Components); diff != nil {
		return plan.Done{}, diff, nil
	}
	diff, err := t.lost(*last)
	return *last, diff, err
}

// earlier is [itemRun.decide] by all that is known: the last run, and for a step that
// asks the answers of runs that came to no end. The difference is the last run's.
func (t *itemRun) earlier(ctx context.Context, s step.Step) (plan.Done, *plan.Difference, error) {
	d, why, err := t.decide(ctx, s, t.last.Find(s.Name))
	if err != nil || why == nil || !s.Asks {
		return d, why, err
	}
	answer, differs, err := t.decide(ctx, s, t.answers.Find(s.Name))
	if err != nil || differs != nil {
		return d, why, err
	}
	return answer, nil, nil
}

// describe collects a step's components as they are now.
func (t *itemRun) describe(ctx context.Context, s step.Step) (plan.Components, error) {
	if err := t.observe(ctx, s); err != nil {
		return plan.Components{}, err
	}
	return plan.Describe(s, t.observed[s.Name], t.done)
}

// observe looks at what a step reads, once.
func (t *itemRun) observe(ctx context.Context, s step.Step) error {
	if _, asked := t.observed[s.Name]; asked || s.Observe == nil {
		return nil
	}
	observed, err := s.Observe(ctx)
	if err == nil {
		t.observed[s.Name] = observed
	}
	return err
}

// lost finds the first thing of an earlier result that is no longer there.
func (t *itemRun) lost(d plan.Done) (*plan.Difference, error) {
	diff, err := t.lostArtifact(d)
	if err != nil || diff != nil {
		return diff, err
	}
	return t.lostFile(d)
}

// lostArtifact finds the first artifact. Those of a session that was replaced are
// not asked for: what they were made from is gone.
func (t *itemRun) lostArtifact(d plan.Done) (*plan.Difference, error) {
	if t.replaced {
		return nil, nil
	}
	store, err := t.home(d.Home)
	if err != nil {
		return nil, err
	}
	return lostFrom(store, d), nil
}

// lostFrom finds the first artifact of a step that a store does not have whole.
func lostFrom(store *cas.Store, d plan.Done) *plan.Difference {
	for _, name := range slices.Sorted(maps.Keys(d.Artifacts)) {
		if err := store.Verify(d.Artifacts[name]); err != nil {
			return &plan.Difference{Component: "artifacts." + name, Old: "sha256:" + d.Artifacts[name].SHA256, New: missing(err)}
		}
	}
	return nil
}

// lostFile finds the first published file.
func (t *itemRun) lostFile(d plan.Done) (*plan.Difference, error) {
	for _, p := range d.Published {
		if !p.Result() {
			continue
		}
		now, err := t.stands(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if now != p.SHA256 {
			return &plan.Difference{Component: "published." + p.Path, Old: "sha256:" + p.SHA256, New: digestOr(now, "(gone)", err)}, nil
		}
	}
	return nil, nil
}

func digestOr(sum, gone string, err error) string {
	switch {
	case err != nil:
		return gone
	case sum == "":
		return "(other bytes)"
	}
	return "sha256:" + sum
}

// upToDate tells whether an earlier run did all that the item asks for. A session
// that this job replaced counts as the one that it was made from, as long as
// nobody went on with it.
func (t *itemRun) upToDate(ctx context.Context, steps []step.Step) (bool, error) {
	if t.last == nil {
		return false, nil
	}
	var names []string
	for len(steps) > 0 {
		s := steps[0]
		last := t.last.Find(s.Name)
		if last == nil {
			return t.forget(), nil
		}
		if err := t.observe(ctx, s); err != nil {
			return false, err
		}
		now := t.observed[s.Name]
		then := t.before(now, last.Observed)
		t.replaced = t.replaced || !slices.Equal(now, then)
		t.observed[s.Name] = then
		d, why, err := t.decide(ctx, s, last)
		t.observed[s.Name] = now
		if err != nil {
			return false, err
		}
		if why != nil {
			return t.forget(), nil
		}
		t.done[s.Name] = d
		names = append(names, s.Name)
		if steps, err = t.unfold(steps, 1); err != nil {
			return false, err
		}
	}
	for _, name := range names {
		t.result.add(t.done[name], t.id)
	}
	t.result.keep()
	t.result.Status = step.UpToDate
	return true, nil
}

// forget undoes what upToDate took for finished.
func (t *itemRun) forget() bool {
	clear(t.done)
	t.replaced = false
	return false
}

// before puts the files that a replaced session was made from in its place.
func (t *itemRun) before(now, last []step.Observed) []step.Observed {
	out := slices.Clone(now)
	for i, o := range out {
		path, err := t.canonical(o.Path)
		if err != nil {
			continue // then nothing is known of it
		}
		p := t.last.Published(path)
		if p != nil && p.Op == step.Replace && p.Old != nil && p.SHA256 == o.SHA256 && i < len(last) {
			out[i] = last[i]
		}
	}
	return out
}

// attempted is what this run recorded of a step before it was resumed.
func (t *itemRun) attempted(name string) *journal.Step {
	if t.recorded == nil {
		return nil
	}
	return t.recorded.Step(name)
}

// trust takes a step that this run finished before it was interrupted, if all of
// it is as it was. What is not is named, and ends the item: to go on would mix two
// states of the world.
func (t *itemRun) trust(ctx context.Context, s step.Step, d plan.Done) error {
	c, err := t.describe(ctx, s)
	if err != nil {
		return err
	}
	diff := c.Differ(d.Components)
	if diff == nil {
		if diff, err = t.lost(d); err != nil {
			return err
		}
	}
	if diff != nil {
		return t.moved(diff)
	}
	t.take(d)
	return nil
}

// moved refuses to go on with an item whose ground has moved.
func (t *itemRun) moved(d *plan.Difference) error {
	class, what := "changed-since", d.Component
	for _, o := range t.observedAll() {
		if d.Component == "inputs."+o.Name {
			class, what = o.Name+"-changed", o.Path
		}
	}
	return &step.Refusal{
		Class: class, Message: "the run cannot be gone on with: " + what + " was " + d.Old + " and is " + d.New,
		Place: step.Place{File: t.Source}, Next: t.anew() + " begins anew",
	}
}

func (t *itemRun) observedAll() (all []step.Observed) {
	for _, name := range slices.Sorted(maps.Keys(t.observed)) {
		all = append(all, t.observed[name]...)
	}
	return all
}

// settle finds out what an effect did that was begun and not recorded as ended.
// One that says itself what it did ends the item; another is simply run again.
func (t *itemRun) settle(ctx context.Context, steps []step.Step) (bool, error) {
	steps, err := t.known(steps)
	if err != nil {
		return false, err
	}
	if done, err := t.complete(ctx, steps); err != nil || done {
		return done, err
	}
	for _, s := range steps {
		st := t.attempted(s.Name)
		if st == nil || s.Settle == nil || st.Phase == journal.Finished || len(st.Intent) == 0 {
			continue
		}
		out, done, err := s.Settle(ctx, st.Intent)
		if err != nil || !done {
			return false, err
		}
		return true, t.found(s, st, out)
	}
	return false, nil
}

// complete ends an item that only its last entry is missing of. What it published
// may stand where its source was, so the source is not asked for.
func (t *itemRun) complete(ctx context.Context, steps []step.Step) (bool, error) {
	for _, s := range steps {
		if st := t.attempted(s.Name); st == nil || st.Phase != journal.Finished {
			return false, nil
		}
	}
	for _, s := range steps {
		st := t.attempted(s.Name)
		if err := t.still(ctx, s, st); err != nil {
			return false, err
		}
		if err := t.receipt(st.Done); err != nil { // its file comes after the record
			return false, err
		}
	}
	t.all = len(t.order)
	t.result.Status = t.status()
	return true, nil
}

// still takes a finished step if what it left is still there. An effect that was
// found to have come off may have left things to tidy.
func (t *itemRun) still(ctx context.Context, s step.Step, st *journal.Step) error {
	if s.Settle != nil && len(st.Intent) > 0 {
		if _, _, err := s.Settle(ctx, st.Intent); err != nil {
			return err
		}
	}
	diff, err := t.lost(st.Done)
	if err != nil {
		return err
	}
	if diff != nil {
		return t.moved(diff)
	}
	t.take(st.Done)
	return nil
}

// found records an effect that was found done, behind the steps before it.
func (t *itemRun) found(s step.Step, st *journal.Step, out step.Output) error {
	for _, earlier := range t.recorded.Steps {
		if earlier.Phase == journal.Finished {
			t.take(earlier.Done)
		}
	}
	if st.Phase == journal.Failed {
		if err := t.note(&journal.StepStarted{Item: t.ID, Step: s.Name, Effect: true, Intent: st.Intent}); err != nil {
			return err
		}
	}
	t.all = len(t.order) + 1
	// What stands has been looked at, and may have been gone on with.
	if err := t.finished(s, out); err != nil {
		return err
	}
	t.result.Status = t.status()
	return nil
}
