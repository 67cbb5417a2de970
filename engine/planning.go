package engine

import (
	"context"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/spec"
)

// Plan is what a run would do now.
type Plan struct {
	Items []PlannedItem `json:"items"`
}

// PlannedItem is what a run would do with an item: nothing, if it is up to date;
// run some of its steps; or refuse it, as far as that can be told without running
// a step.
type PlannedItem struct {
	Session string        `json:"session"`
	Status  step.Status   `json:"status"` // up-to-date | would-run | refused | failed
	Class   string        `json:"class,omitempty"`
	Message string        `json:"message,omitempty"`
	Next    string        `json:"next,omitempty"`
	Same    string        `json:"same,omitempty"` // the run that did it
	Steps   []PlannedStep `json:"steps"`
}

// PlannedStep is what a run would do with a step, and why.
type PlannedStep struct {
	Step   string           `json:"step"`
	Status step.Status      `json:"status"` // up-to-date | would-run
	Reason *plan.Difference `json:"reason,omitempty"`
}

// Plan tells what a run of the job would do, by the same decisions, on a
// filesystem that cannot be written to. A step that runs because an earlier one
// does is told by that one's key.
func (e *Engine) Plan(ctx context.Context, job *spec.Job, o Options) (Plan, error) {
	if o.Sink == nil {
		o.Sink = event.Discard{}
	}
	looking := *e
	looking.env.FS = fsys.ReadOnly(e.env.FS)
	r, err := looking.newRun(ctx, job, o)
	if err != nil {
		return Plan{}, err
	}
	defer r.close()
	o.Sink.Emit(r.started())
	p := Plan{Items: make([]PlannedItem, len(r.items))}
	for i, err := range r.pool().Run(ctx, len(r.items), func(ctx context.Context, i int) error {
		t := r.newItem(i)
		defer t.release()
		p.Items[i] = t.plan(ctx)
		o.Sink.Emit(event.ItemFinished{ID: t.ID, Bytes: t.Bytes})
		return nil
	}) {
		if err != nil && p.Items[i].Status == "" {
			p.Items[i] = r.newItem(i).unplanned(outcome(ctx, err))
		}
	}
	return p, context.Cause(ctx)
}

func (t *itemRun) plan(ctx context.Context) PlannedItem {
	item := PlannedItem{Session: t.result.Session, Status: step.UpToDate, Steps: []PlannedStep{}}
	steps, err := t.steps(t.stepEnv(), t.Item)
	if err == nil {
		err = t.remember(steps)
	}
	same := false
	if err == nil {
		same, err = t.upToDate(ctx, steps)
	}
	if err == nil && !same {
		err = check(steps)
	}
	for err == nil && len(steps) > 0 {
		p := PlannedStep{Step: steps[0].Name, Status: step.UpToDate}
		if !same {
			p, err = t.planStep(ctx, steps[0])
		}
		if p.Status == step.WouldRun {
			item.Status = step.WouldRun
		}
		item.Steps = append(item.Steps, p)
		if err == nil {
			steps, err = t.unfold(steps, 1)
		}
	}
	if err != nil {
		return t.unplanned(t.outcome(ctx, err))
	}
	if item.Status == step.UpToDate {
		item.Same = t.last.Run
	}
	return item
}

func (t *itemRun) unplanned(o journal.Outcome) PlannedItem {
	return PlannedItem{Session: t.result.Session, Status: o.Status, Class: o.Class, Message: o.Message, Next: o.Next, Steps: []PlannedStep{}}
}

// planStep decides about a step; what it would leave is taken to be what its key
// says.
func (t *itemRun) planStep(ctx context.Context, s step.Step) (PlannedStep, error) {
	last := t.last.Find(s.Name)
	if last == nil { // what it reads may be missing, which a run would refuse
		if err := t.observe(ctx, s); err != nil {
			return PlannedStep{}, err
		}
	}
	d, why, err := t.earlier(ctx, s)
	if err != nil {
		return PlannedStep{}, err
	}
	if why == nil {
		t.done[s.Name] = d
		return PlannedStep{Step: s.Name, Status: step.UpToDate}, nil
	}
	p := PlannedStep{Step: s.Name, Status: step.WouldRun, Reason: why}
	if last == nil {
		return p, nil
	}
	c, err := t.describe(ctx, s)
	if err != nil {
		return p, err
	}
	if d.Key, err = c.Key(); err != nil {
		return p, err
	}
	switch {
	case s.Asks:
		d = plan.Done{Key: d.Key} // nobody knows the answer
	case d.Key == last.Key:
		d = *last
	}
	t.done[s.Name] = d
	return p, nil
}
