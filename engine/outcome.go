package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/publish"
	"github.com/precis-dev/precis/spec"
)

// The exit codes of a run.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCommitted   = 3
	exitWaiting     = 4
	exitDiffers     = 5
	exitInterrupted = 130
)

// outcome is how an error ends an item. The context tells an interruption from
// a failure.
func outcome(ctx context.Context, err error) journal.Outcome {
	var halted *haltError
	var panicked *local.PanicError
	switch {
	case errors.As(err, &halted):
		return brokenOff
	case errors.As(err, &panicked):
		return journal.Outcome{
			Status: step.Failed, Class: "internal-error", Message: panicked.Error(),
			Next: "report this as a bug; the log has the place",
		}
	case errors.Is(err, local.ErrStopped):
		return journal.Outcome{Status: step.Interrupted, Class: "stopped", Message: err.Error()}
	}
	if r := refusal(err); r != nil {
		return refused(r)
	}
	if ctx.Err() != nil {
		return cancelled(context.Cause(ctx))
	}
	return journal.Outcome{Status: step.Failed, Class: "failed", Message: written(err.Error()), Next: "mend what the message names, then run the job again"}
}

// outcome is the item's: what a step published stands, so its item was not
// refused or merely interrupted; and the log gets the place of a panic.
func (t *itemRun) outcome(ctx context.Context, err error) journal.Outcome {
	o := outcome(ctx, err)
	if o.Status == step.Refused && committed(t.result.Outputs) {
		o.Status = step.Failed
	}
	var halted *haltError
	if errors.As(err, &halted) && committed(t.result.Outputs) {
		o := halted.outcome()
		o.Message = "the file stands, but the run was broken off before that was recorded"
		return o
	}
	if r := refusal(err); o.Open && t.journal != nil && r.Resume != nil {
		o.Next = strings.TrimPrefix(o.Next+": ", ": ") + t.env.command("resume", append([]string{t.id}, r.Resume...)...)
	}
	var panicked *local.PanicError
	if errors.As(err, &panicked) {
		name, _ := t.current.Load().(string)
		t.env.Log.Error("panic", "run", t.id, "item", t.ID, "step", name, "stack", string(panicked.Stack))
	}
	return o
}

func cancelled(cause error) journal.Outcome {
	var halted *haltError
	switch {
	case errors.As(cause, &halted):
		return brokenOff
	case errors.Is(cause, local.ErrTimeout):
		return journal.Outcome{Status: step.Failed, Class: "timeout", Message: cause.Error(), Next: "raise run.timeout"}
	}
	return journal.Outcome{Status: step.Interrupted, Class: "interrupted", Message: "the run was interrupted"}
}

// isProblem tells an error of a job file.
func isProblem(err error) bool {
	var p spec.Problems
	return errors.As(err, &p)
}

// refusal finds a refusal of a job or of a publication.
func refusal(err error) *step.Refusal {
	var r *step.Refusal
	if errors.As(err, &r) {
		return r
	}
	var p *publish.Refusal
	if errors.As(err, &p) {
		return &step.Refusal{Class: p.Class, Message: p.Message, Place: step.Place{File: p.Path}, Next: p.Next}
	}
	return nil
}

func refused(r *step.Refusal) journal.Outcome {
	message := r.Message
	if r.Err != nil {
		message += ": " + r.Err.Error()
	}
	place := r.Place
	place.File = written(place.File)
	return journal.Outcome{
		Status: cmp.Or(r.Open, step.Refused), Class: r.Class, Message: written(message), Place: place, Next: r.Next,
		Skip: r.Skip, Open: r.Open != "",
	}
}

// written is a file's name as a journal can hold it: names need not be UTF-8.
func written(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// committed tells whether a file was changed; a backup changes none.
func committed(files []step.Published) bool {
	return slices.ContainsFunc(files, func(p step.Published) bool { return p.Op == step.Create || p.Op == step.Replace })
}

// exit is the process's exit code: that of the items, else that of the error
// that ended the run. A run that was broken off has failed with what it left open.
func exit(ctx context.Context, items []ItemResult, err error) int {
	if halted := new(haltError); errors.As(err, &halted) {
		items = slices.Clone(items)
		for i := range items {
			if items[i].Status == step.Interrupted {
				items[i].Status = step.Failed
			}
		}
	}
	if code := itemsExit(items); code != exitDone || err == nil {
		return code
	}
	r := refusal(err)
	if r != nil && r.Class == notAskedFor {
		return exitFailed // what the run did, it did before
	}
	for _, i := range items {
		if i.Committed() {
			return exitCommitted
		}
	}
	switch {
	case r != nil && r.Class == "unknown-kind", isProblem(err):
		return exitUsage
	case r == nil && ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailed
}

// itemsExit is 0 if all items ended in 0, else the smallest other code.
func itemsExit(items []ItemResult) int {
	code := exitDone
	for _, i := range items {
		if c := i.exit(); c != exitDone && (code == exitDone || c < code) {
			code = c
		}
	}
	return code
}

// Committed tells whether a file of the item was changed, whatever its status.
func (i ItemResult) Committed() bool { return committed(i.Outputs) }

func (i ItemResult) exit() int {
	if i.Skip {
		return exitDone
	}
	switch i.Status {
	case step.Done, step.UpToDate:
		return exitDone
	case step.Waiting:
		return exitWaiting
	case step.Interrupted:
		return exitInterrupted
	}
	if i.Committed() {
		return exitCommitted
	}
	return exitFailed
}
