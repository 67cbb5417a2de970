package compress

import (
	"context"
	"errors"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/spec"
)

// The version domains. A change of one does not imply a change of the others.
const (
	EngineVersion = "v10"
	PackVersion   = 11
	ReportVersion = 1
)

// Kind is the job kind.
type Kind struct{}

// Name is the kind's name in a job file.
func (Kind) Name() string { return "compress" }

// Items are the sessions of the job, sorted by path.
func (Kind) Items(_ context.Context, env step.Env, job *spec.Job) ([]step.Item, error) {
	if err := acknowledged(env, job); err != nil {
		return nil, err
	}
	if err := (Kind{}).Check(job); err != nil {
		return nil, err
	}
	return sessions.Find(env.FS, job)
}

// Steps wires the graph of one session.
func (Kind) Steps(env step.Env, job *spec.Job, item step.Item) ([]step.Step, error) {
	f := &fold{env: env, job: job, item: item}
	if err := f.readHandoff(); err != nil {
		return nil, err
	}
	return []step.Step{
		{Name: "read", Version: 1, Params: map[string]any{"agent": job.Input.Agent}, Run: f.step(f.readStep)},
		{Name: "select", Version: 1, Needs: []string{"read"}, Params: job.Mode, Run: f.step(f.selectStep)},
		{Name: "fold", Version: 1, Needs: []string{"select"}, Params: map[string]any{"request": f.request()}, Run: f.step(f.foldStep)},
		{Name: "compose", Version: 1, Needs: []string{"fold"}, Run: f.step(f.composeStep)},
		{Name: "publish", Version: 1, Needs: []string{"compose"}, Params: job.Publish, Effect: true, Run: f.step(f.publishStep)},
		{Name: "report", Version: 1, Needs: []string{"read", "select", "fold", "compose", "publish"}, Run: f.step(f.reportStep)},
	}, nil
}

// runner is the work of one step.
type runner func(context.Context, step.Input) (step.Output, error)

// step runs a step and, when it fails, releases the session: it is the item's
// last step then. The report step releases it otherwise.
func (f *fold) step(run runner) runner {
	return func(ctx context.Context, in step.Input) (step.Output, error) {
		out, err := run(ctx, in)
		if err != nil && f.session != nil {
			err = errors.Join(err, f.session.Close())
		}
		return out, err
	}
}

// Check refuses what a job may say and this version cannot do yet.
func (Kind) Check(job *spec.Job) error {
	var missing []error
	for _, c := range []struct {
		path, value, missing, next string
	}{
		{"mode.summary", job.Mode.Summary, "model", "use deterministic"},
		{"publish.to", job.Publish.To, "replace", "use candidate, and move the file yourself"},
	} {
		if c.value == c.missing {
			missing = append(missing, &step.Refusal{Class: step.NotAvailable, Message: c.missing + " is not available in this version", Place: place(job, c.path), Next: c.next})
		}
	}
	return errors.Join(missing...)
}

// place is where a job says something.
func place(job *spec.Job, path string) step.Place {
	line, col := job.Position(path)
	return step.Place{File: job.File, Line: line, Column: col, Path: path}
}

// acknowledged demands the person's word that the sessions are closed before
// any of them may be replaced.
func acknowledged(env step.Env, job *spec.Job) error {
	if job.Publish.To != "replace" || env.SessionClosed {
		return nil
	}
	return &step.Refusal{
		Class: "session-closed-required", Message: "replacing a live session needs your word, --session-closed, that no client has it open",
		Place: place(job, "publish.to"), Next: "use publish.to: candidate",
	}
}
