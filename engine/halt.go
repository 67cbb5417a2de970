package engine

import (
	"errors"
	"fmt"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// haltError ends a run as a whole: what it did not finish is left open, to be gone on
// with.
type haltError struct {
	class, message, next string
	err                  error
}

func (e *haltError) Error() string { return fmt.Sprintf("%s: %v", e.message, e.err) }
func (e *haltError) Unwrap() error { return e.err }

// As makes errors.As find the refusal that says what to do.
func (e *haltError) As(target any) bool {
	r, ok := target.(**step.Refusal)
	if ok {
		*r = &step.Refusal{Class: e.class, Message: e.message, Next: e.next, Err: e.err}
	}
	return ok
}

func (r *run) unrecorded(err error) *haltError {
	if fsys.IsFull(err) {
		return r.noSpace(err)
	}
	return &haltError{"journal", "the run cannot be recorded", "see that the state directory can be written, then " + r.goOn(), err}
}

func (r *run) noSpace(err error) *haltError {
	return &haltError{"no-space", "the disk is full", "make room, then " + r.goOn(), err}
}

// full halts a run whose disk is full: the other items would only fail too.
func (r *run) full(err error) error {
	var halted *haltError
	if errors.As(err, &halted) || !fsys.IsFull(err) {
		return err
	}
	return r.breakOff(r.noSpace(err))
}

// breakOff halts the run, once; the first cause is given.
func (r *run) breakOff(halted *haltError) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil {
		r.broken = halted
		r.halt(halted)
	}
	return r.broken
}

// brokenOff is how items end that their run leaves open. Why is told once, of the
// run: it is no fault of theirs.
var brokenOff = journal.Outcome{Status: step.Interrupted, Class: "interrupted", Message: "the run was broken off"}

func (e *haltError) outcome() journal.Outcome {
	return journal.Outcome{Status: step.Failed, Class: e.class, Message: written(e.Error()), Next: e.next}
}
