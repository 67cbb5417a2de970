package engine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

// Engine runs jobs of the kinds it was given.
type Engine struct {
	env   Env
	kinds map[string]step.Kind
}

// New is an engine for some kinds. Two of one name are a mistake in the program.
func New(env Env, kinds ...step.Kind) *Engine {
	if env.Log == nil {
		env.Log = hclog.NewNullLogger()
	}
	e := &Engine{env: env, kinds: map[string]step.Kind{}}
	for _, k := range kinds {
		if e.kinds[k.Name()] != nil {
			panic(fmt.Sprintf("engine: two job kinds are called %q", k.Name()))
		}
		e.kinds[k.Name()] = k
	}
	return e
}

// Options of one run.
type Options struct {
	Force         bool       // replace an output that is not ours
	SessionClosed bool       // the person says that the session is closed
	Until         string     // the last step to run; "" for all
	Set           []string   // the assignments that the job was loaded with, for a resume
	Brought       []Brought  // what a person brings for steps that wait, for a resume
	Sink          event.Sink // nil for none
}

// Brought is a text that a person brings, and what it is called.
type Brought struct {
	Name string
	Text []byte
}

// Result is how a run ended.
type Result struct {
	Run   string // "" when none was opened
	Exit  int    // of the process
	Items []ItemResult
	// Effects are the files that a dry run would have changed.
	Effects []step.Published
}

// ItemResult is how an item ended.
type ItemResult struct {
	Item    string
	Session string // the path the item read
	Source  string // SHA-256 of what was read there
	Status  step.Status
	Class   string // of a refusal or failure, kebab-case
	Message string
	Next    string // the next step for the person
	Skip    bool   // refused because there is nothing to work on: no failure
	Open    bool   // waiting or failed, and to be resumed
	Place   step.Place
	Outputs []step.Published // what stands, whatever the status
	Sizes   *step.Sizes
	Report  step.Artifact // zero when the item did not come so far
	Home    string        // the run whose artifacts have the report
	Receipt string        // path of the receipt of a replaced session
	// Replaced is that receipt, also when it could not be written.
	Replaced *Receipt
}

// Run runs a job. The error is what ended the run as a whole, and is in the last
// event too; what ended single items is in their results. The last event is
// always sent.
func (e *Engine) Run(ctx context.Context, job *spec.Job, o Options) (Result, error) {
	return e.tell(ctx, o, func(o Options) (Result, error) {
		r, err := e.newRun(ctx, job, o)
		if err != nil {
			return Result{}, err
		}
		defer r.close()
		if err := r.open(); err != nil {
			return Result{}, e.unwritable(err)
		}
		err = r.execute(ctx)
		return Result{Run: r.id, Items: r.results}, err
	})
}

// tell does work whose outcome is the last event.
func (e *Engine) tell(ctx context.Context, o Options, work func(Options) (Result, error)) (Result, error) {
	if o.Sink == nil {
		o.Sink = event.Discard{}
	}
	result, err := work(o)
	result.Exit = exit(ctx, result.Items, err)
	o.Sink.Emit(result.event(ctx, err))
	return result, err
}

// newRun resolves a job to a run that is not open yet.
func (e *Engine) newRun(ctx context.Context, job *spec.Job, o Options) (*run, error) {
	kind, err := e.kind(job.Kind, job.File)
	if err != nil {
		return nil, err
	}
	r := &run{env: e.env, kind: kind, job: job, opts: o, world: e.env.FS}
	if r.ledger, err = e.ledger(); err != nil {
		return nil, e.unwritable(err)
	}
	r.packs = newPacks(e.env.FS, e.runs())
	if err := r.resolve(ctx); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (e *Engine) kind(name, file string) (step.Kind, error) {
	if k := e.kinds[name]; k != nil {
		return k, nil
	}
	known := slices.Sorted(maps.Keys(e.kinds))
	return nil, &step.Refusal{
		Class:   "unknown-kind",
		Message: fmt.Sprintf("there is no job kind %q", name),
		Place:   step.Place{File: file},
		Next:    "use one of: " + strings.Join(known, ", "),
	}
}

// runs is the folder of all runs.
func (e *Engine) runs() string { return filepath.Join(e.env.State, "runs") }

func (e *Engine) unwritable(err error) error {
	return &step.Refusal{
		Class: "state-unwritable", Message: "the state folder cannot be used", Place: step.Place{File: e.env.State},
		Next: "make it writable, or name another one with --state", Err: err,
	}
}
