package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// step runs one step: recorded as started before, as finished once all it leaves
// is verified, which is made durable before anything builds on it outside.
func (t *itemRun) step(ctx context.Context, s step.Step) error {
	if s.Asks && t.journal == nil {
		return unasked(s)
	}
	if err := t.begin(ctx, s); err != nil {
		return err
	}
	t.current.Store(s.Name)
	t.opts.Sink.Emit(event.StepStarted{Item: t.ID, Step: s.Name})
	out, err := t.attempt(ctx, s)
	if err != nil && !t.stood(s, out) {
		t.result.Outputs = append(t.result.Outputs, out.Published...)
		return t.failed(ctx, s, out, err)
	}
	if e := t.finished(s, out); e != nil {
		t.result.Outputs = append(t.result.Outputs, out.Published...)
		return errors.Join(err, e)
	}
	t.opts.Sink.Emit(event.StepFinished{Item: t.ID, Step: s.Name})
	return err
}

// stood tells whether an effect that failed had done what it was for: then its
// result counts, lest the next run does it twice, and the item has failed all the
// same.
func (t *itemRun) stood(s step.Step, out step.Output) bool {
	return s.Effect && committed(out.Published) && t.verify(out) == nil
}

// begin records that a step starts. Before an effect that is durable, with what
// the effect is about to do and with the files that it is made from.
func (t *itemRun) begin(ctx context.Context, s step.Step) error {
	entry := &journal.StepStarted{Item: t.ID, Step: s.Name, Effect: s.Effect}
	if !s.Effect {
		return t.note(entry)
	}
	if s.Intend != nil {
		intent, err := s.Intend(ctx, t.input(s))
		if err != nil {
			return err
		}
		entry.Intent = intent
	}
	if err := t.freeze(); err != nil {
		return err
	}
	if err := t.note(entry); err != nil {
		return err
	}
	return t.commit()
}

// freeze keeps the files that the item was made from, so that the run can be
// replayed without them.
func (t *itemRun) freeze() error {
	if t.journal == nil {
		return nil
	}
	for _, name := range t.order {
		for _, o := range t.done[name].Observed {
			if err := t.keep(o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *itemRun) keep(o step.Observed) error {
	if t.store.Has(o.Artifact) {
		return nil
	}
	file, err := t.fs.Open(o.Path)
	if err != nil {
		return changed(o.Path, err)
	}
	err = t.store.PutFrom(file, o.Artifact)
	if err = errors.Join(err, file.Close()); errors.Is(err, cas.ErrCorrupt) {
		return changed(o.Path, nil)
	}
	return err
}

// attempt runs the step and checks what it left.
func (t *itemRun) attempt(ctx context.Context, s step.Step) (out step.Output, err error) {
	in := t.input(s)
	t.mu.Unlock()
	err = local.Protect(func() (err error) {
		out, err = s.Run(ctx, in)
		return err
	})
	t.mu.Lock()
	if err != nil {
		return out, err
	}
	if before, ok := t.observed[s.Name]; ok && s.Observe != nil && !slices.Equal(before, out.Observed) {
		return out, changed(t.Source, nil)
	}
	if s.Observe != nil {
		t.observed[s.Name] = out.Observed
	}
	return out, t.verify(out)
}

func (t *itemRun) input(s step.Step) step.Input {
	in := step.Input{Artifacts: map[string]step.Artifact{}, Put: t.store.Put, Kept: map[string]step.Artifact{}}
	in.Keep = func(parts map[string][]byte) error { return t.keepPart(s, in.Kept, parts) }
	homes := map[step.Artifact]string{}
	for _, need := range s.Needs {
		for name, a := range t.done[need].Artifacts {
			in.Artifacts[need+"/"+name] = a
			homes[a] = t.done[need].Home
		}
	}
	if st := t.attempted(s.Name); st != nil {
		maps.Copy(in.Kept, st.Kept)
	}
	in.Open = func(a step.Artifact) ([]byte, error) {
		store, err := t.home(homes[a])
		if err != nil {
			return nil, err
		}
		return store.Get(a)
	}
	return in
}

// keepPart puts what a step has gained so far on record, durably.
func (t *itemRun) keepPart(s step.Step, kept map[string]step.Artifact, parts map[string][]byte) error {
	now := make(map[string]step.Artifact, len(parts))
	for name, data := range parts {
		a, err := t.store.Put(data)
		if err != nil {
			return err
		}
		now[name] = a
	}
	if err := t.note(&journal.StepKept{Item: t.ID, Step: s.Name, Artifacts: now}); err != nil {
		return err
	}
	maps.Copy(kept, now)
	return t.commit()
}

// home is the store that has the artifacts of a run, "" for those of this one.
func (t *itemRun) home(run string) (*cas.Store, error) {
	if run == "" {
		return t.store, nil
	}
	return t.packs.of(run)
}

// verify checks that what a step left is what it says.
func (t *itemRun) verify(out step.Output) error {
	for _, name := range slices.Sorted(maps.Keys(out.Artifacts)) {
		if !t.store.Has(out.Artifacts[name]) {
			return fmt.Errorf("output %q was not stored", name)
		}
	}
	for _, p := range out.Published {
		if p.Op == step.Remove {
			continue
		}
		now, err := t.stands(p)
		if err != nil {
			return fmt.Errorf("verify published file: %w", err)
		}
		if now != p.SHA256 {
			return fmt.Errorf("verify published file %s: the bytes are not those published", p.Path)
		}
	}
	return nil
}

// finished records a step that ended well.
func (t *itemRun) finished(s step.Step, out step.Output) error {
	c, err := plan.Describe(s, out.Observed, t.done)
	if err != nil {
		return err
	}
	key, err := c.Key()
	if err != nil {
		return err
	}
	d := plan.Done{
		Step: s.Name, Key: key, Components: c, Observed: out.Observed, Artifacts: out.Artifacts,
		Published: out.Published, Facts: out.Facts, Asked: s.Asks, Sizes: out.Sizes,
	}
	if err := t.absolute(&d); err != nil {
		return err
	}
	if err := t.note(&journal.StepFinished{Item: t.ID, Done: d}); err != nil {
		return err
	}
	t.take(d)
	return t.receipt(d)
}

// absolute gives a record names that do not depend on the folder the program was
// started in.
func (t *itemRun) absolute(d *plan.Done) (err error) {
	d.Observed, d.Published = slices.Clone(d.Observed), slices.Clone(d.Published)
	for i := range d.Observed {
		if d.Observed[i].Path, err = t.canonical(d.Observed[i].Path); err != nil {
			return err
		}
	}
	for i := range d.Published {
		if d.Published[i].Path, err = t.canonical(d.Published[i].Path); err != nil {
			return err
		}
	}
	return nil
}

// failed records a failed attempt and gives the error that ends the item.
func (t *itemRun) failed(ctx context.Context, s step.Step, out step.Output, err error) error {
	entry := &journal.StepFailed{Item: t.ID, Step: s.Name, Published: out.Published, Outcome: t.outcome(ctx, err)}
	if err := t.note(entry); err != nil {
		return err
	}
	return err
}

// stands is the SHA-256 of what is at a published path.
func (t *itemRun) stands(p step.Published) (string, error) {
	size, sum, err := fsys.Sum(t.fs, p.Path)
	if err == nil && size != p.Bytes {
		sum = ""
	}
	return sum, err
}
