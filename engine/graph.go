package engine

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// through finishes the steps in their order, as the graph unfolds.
func (t *itemRun) through(ctx context.Context, steps []step.Step) error {
	for len(steps) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.all = len(t.order) + len(steps)
		n := together(steps)
		if err := t.sideBySide(ctx, steps[:n]); err != nil {
			return err
		}
		var err error
		if steps, err = t.unfold(steps, n); err != nil {
			return err
		}
	}
	return nil
}

// unfold is what is left of the steps when the first n are done: the rest, behind
// those that they give.
func (t *itemRun) unfold(steps []step.Step, n int) ([]step.Step, error) {
	rest := steps[n:]
	for _, s := range steps[:n] {
		var err error
		if rest, err = t.expand(rest, s, t.done[s.Name]); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// expand puts what a step gives in front of the rest. The last step that was asked
// for gives nothing.
func (t *itemRun) expand(rest []step.Step, s step.Step, d plan.Done) ([]step.Step, error) {
	if s.Expand == nil || s.Name == t.opts.Until {
		return rest, nil
	}
	more, err := s.Expand(d.Artifacts)
	if err != nil {
		return nil, err
	}
	for _, m := range more {
		if slices.Contains(t.order, m.Name) {
			return nil, &plan.DuplicateError{Step: m.Name}
		}
	}
	return plan.Insert(rest, s.Name, more)
}

// known is the whole graph, as far as the run recorded it before it was resumed.
func (t *itemRun) known(steps []step.Step) (all []step.Step, err error) {
	for len(steps) > 0 {
		s := steps[0]
		all, steps = append(all, s), steps[1:]
		st := t.attempted(s.Name)
		if st == nil || st.Phase != journal.Finished {
			continue
		}
		if steps, err = t.expand(steps, s, st.Done); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// together is how many of the first steps can run side by side: those that ask, for
// they wait for others most of their time.
func together(steps []step.Step) int {
	n := 1
	for n < len(steps) && steps[0].Asks && steps[n].Asks && !needsAny(steps[n], steps[:n]) {
		n++
	}
	return n
}

func needsAny(s step.Step, others []step.Step) bool {
	return slices.ContainsFunc(others, func(o step.Step) bool { return slices.Contains(s.Needs, o.Name) })
}

// mostAsked is how many steps of an item ask at once: services limit it too.
const mostAsked = 4

// sideBySide finishes steps that do not need each other. One that fails does not
// keep the others from their end: what they get was paid for.
func (t *itemRun) sideBySide(ctx context.Context, steps []step.Step) error {
	if len(steps) == 1 {
		return t.advance(ctx, steps[0])
	}
	errs := make([]error, len(steps))
	slots := make(chan struct{}, mostAsked)
	var busy sync.WaitGroup
	for i, s := range steps {
		slots <- struct{}{}
		busy.Go(func() {
			defer func() { <-slots }()
			if errs[i] = context.Cause(ctx); errs[i] == nil { // or it would be asked for nothing
				errs[i] = local.Protect(func() error { return t.advance(ctx, s) })
			}
		})
	}
	busy.Wait()
	return gravest(errs)
}

// gravest is the error that says most about an item: what ends it, then what failed,
// then what waits.
func gravest(errs []error) (worst error) {
	rank := func(err error) int {
		var r *step.Refusal
		switch {
		case err == nil:
			return 0
		case !errors.As(err, &r) || r.Open == "":
			return 3
		case r.Open == step.Waiting:
			return 1
		}
		return 2
	}
	for _, err := range errs {
		if rank(err) > rank(worst) {
			worst = err
		}
	}
	return worst
}

// unasked ends a dry run where it would have to ask.
func unasked(s step.Step) error {
	return &step.Refusal{
		Class: "not-asked", Message: "a dry run asks nobody, so it ends before the step " + s.Name,
		Next: "run the job without --dry-run", Open: step.Waiting,
	}
}
