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

// remember reads what earlier runs recorded of the item.
func (t *itemRun) remember(steps []step.Step) error {
	path, err := t.canonical(t.Source)
	if err != nil {
		return err
	}
	t.last, err = t.ledger.Item(t.job.Kind, jobName(t.job), written(path))
	if err == nil && slices.ContainsFunc(steps, func(s step.Step) bool { return s.Asks }) {
		t.answers, err = t.ledger.Item(t.job.Kind, jobName(t.job)+ofAnswers, written(path))
	}
	return err
}

// ofAnswers sets the record of answers apart from that of an item as a whole.
const ofAnswers = " (answers)"

// enterAnswers keeps what was asked for an item that came to no end, for a run that
// begins anew: it may have been paid for.
func (t *itemRun) enterAnswers() error {
	answered := slices.DeleteFunc(slices.Clone(t.order), func(name string) bool { return !t.done[name].Asked })
	if t.journal == nil || len(answered) == 0 {
		return nil
	}
	rec, err := t.entry(answered)
	if err != nil {
		return err
	}
	rec.Job += ofAnswers
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
