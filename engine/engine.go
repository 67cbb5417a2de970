package engine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/local"
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
	Sink          event.Sink // nil for none
}

// Result is how a run ended.
type Result struct {
	Run   string // "" when none was opened
	Exit  int    // of the process
	Items []ItemResult
}

// ItemResult is how an item ended.
type ItemResult struct {
	Session string // the path the item read
	Source  string // SHA-256 of what was read there, by the kind's facts
	Status  step.Status
	Class   string // of a refusal or failure, kebab-case
	Message string
	Next    string // the next step for the person
	Skip    bool   // refused because there is nothing to work on: no failure
	Place   step.Place
	Outputs []step.Published // what stands, whatever the status
	Facts   map[string]any   // of all steps; of two with one name the later
	Dir     string           // the item's folder; "" when it was not started
}

// Run runs a job. The error is what ended the run as a whole, and is in the last
// event too; what ended single items is in their results. The last event is
// always sent.
func (e *Engine) Run(ctx context.Context, job *spec.Job, o Options) (Result, error) {
	if o.Sink == nil {
		o.Sink = event.Discard{}
	}
	result, err := e.run(ctx, job, o)
	result.Exit = exit(ctx, result.Items, err)
	o.Sink.Emit(result.event(ctx, err))
	return result, err
}

func (e *Engine) run(ctx context.Context, job *spec.Job, o Options) (Result, error) {
	kind := e.kinds[job.Kind]
	if kind == nil {
		known := slices.Sorted(maps.Keys(e.kinds))
		return Result{}, &step.Refusal{
			Class:   "unknown-kind",
			Message: fmt.Sprintf("there is no job kind %q", job.Kind),
			Place:   step.Place{File: job.File},
			Next:    "use one of: " + strings.Join(known, ", "),
		}
	}
	r := newRun(e.env, kind, job, o)
	if err := r.resolve(ctx); err != nil {
		return Result{}, err
	}
	if err := r.open(); err != nil {
		return Result{}, &step.Refusal{
			Class: "state-unwritable", Message: "the state folder cannot be used", Place: step.Place{File: e.env.State},
			Next: "make it writable, or name another one with --state", Err: err,
		}
	}
	defer r.close()
	err := r.execute(ctx)
	return Result{Run: r.id, Items: r.results}, err
}

// resolve finds the items.
func (r *run) resolve(ctx context.Context) (err error) {
	err = local.Protect(func() (err error) {
		r.items, err = r.kind.Items(ctx, r.stepEnv(), r.job)
		return err
	})
	if err != nil {
		return err
	}
	if len(r.items) == 0 {
		return &step.Refusal{
			Class:   "no-sessions",
			Message: "no file matches the job's input",
			Place:   step.Place{File: r.job.File},
			Next:    "check input.sessions and input.exclude; they are relative to the job's folder",
		}
	}
	seen := map[string]bool{}
	for _, i := range r.items {
		if seen[i.ID] || i.ID == "." || !filepath.IsLocal(i.ID) || strings.ContainsAny(i.ID, `/\`) {
			return fmt.Errorf("kind %s: the item id %q is not a name of its own", r.job.Kind, i.ID)
		}
		seen[i.ID] = true
	}
	return nil
}
