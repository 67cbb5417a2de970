package engine

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

// ledger opens the state directory's ledger.
func (e *Engine) ledger() (*ledger.Ledger, error) {
	return ledger.Open(e.env.FS, filepath.Join(e.env.State, "ledger.jsonl"), e.env.Host)
}

// owned is the SHA-256 that precis last published at a path.
func (r *run) owned(path string) (sha256hex string, ok bool) {
	path, err := r.canonical(path)
	if err != nil {
		return "", false
	}
	return r.ledger.Owned(path)
}

// newRecord is a record of an item for the ledger, without its steps.
func (r *run) newRecord(source string) ledger.Record {
	return ledger.Record{Kind: r.job.Kind, Job: jobName(r.job), Source: source, Run: r.id}
}

// atHome is a step as other runs see it: with the run that has its artifacts.
func (r *run) atHome(d plan.Done) plan.Done {
	d.Home = cmp.Or(d.Home, r.id)
	return d
}

// enter keeps a record for the ledger, which takes many at a time.
func (r *run) enter(rec ledger.Record) error {
	const many = 256
	r.mu.Lock()
	r.fresh = append(r.fresh, rec)
	var ready []ledger.Record
	if len(r.fresh) >= many {
		ready, r.fresh = r.fresh, nil
	}
	r.mu.Unlock()
	return r.append(ready)
}

func (r *run) settleLedger() error {
	r.mu.Lock()
	ready := r.fresh
	r.fresh = nil
	r.mu.Unlock()
	return r.append(ready)
}

func (r *run) append(records []ledger.Record) error {
	if err := r.ledger.Append(records); err != nil {
		return r.breakOff(r.unrecorded(fmt.Errorf("ledger: %w", err)))
	}
	return nil
}

// last is what earlier runs recorded of an item.
func (r *run) last(i step.Item) (*ledger.Record, error) {
	path, err := r.canonical(i.Source)
	if err != nil {
		return nil, err
	}
	return r.ledger.Item(r.job.Kind, jobName(r.job), written(path))
}

// remember reads what earlier runs recorded of the item.
func (t *itemRun) remember(steps []step.Step) (err error) {
	if t.last, err = t.run.last(t.Item); err != nil || !slices.ContainsFunc(steps, func(s step.Step) bool { return s.Asks }) {
		return err
	}
	path, err := t.canonical(t.Source)
	if err != nil {
		return err
	}
	t.answers, err = t.ledger.Item(t.job.Kind, jobName(t.job)+ofAnswers, written(path))
	return err
}

// ofAnswers sets the record of answers apart from that of an item as a whole.
const ofAnswers = " (answers)"

// enterAnswers keeps what was asked for an item that came to no end, for a run that
// begins anew: it may have been paid for.
func (t *itemRun) enterAnswers() error {
	if t.journal == nil {
		return nil
	}
	path, err := t.canonical(t.Source)
	rec := t.newRecord(written(path))
	rec.Job += ofAnswers
	for _, name := range t.order {
		if d := t.done[name]; d.Asked {
			rec.Steps = append(rec.Steps, t.atHome(d))
		}
	}
	if err != nil || len(rec.Steps) == 0 {
		return err
	}
	if err := t.commit(); err != nil {
		return err
	}
	return t.enter(rec)
}

// jobName is what tells two jobs on one session apart. One that replaces sessions is
// another than one that does not: what it left stands where its source was.
func jobName(job *spec.Job) string {
	name := job.Name
	if name == "" {
		name = job.File
	}
	if job.Publish.To == "replace" {
		name += " (replace)"
	}
	return name
}
