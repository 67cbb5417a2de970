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
	return sessions.Find(env.FS, job, env.State)
}

// Steps wires the graph of one session.
func (Kind) Steps(env step.Env, job *spec.Job, item step.Item) ([]step.Step, error) {
	f := &fold{env: env, job: job, item: item}
	if err := f.readHandoff(); err != nil {
		return nil, err
	}
	steps := []step.Step{
		{Name: "read", Version: 1, Params: readParams{job.Input.Agent}, Observe: f.observeSource, Run: f.readStep},
		{Name: "select", Version: 1, Needs: []string{"read"}, Params: newSelectParams(job), Run: f.selectStep},
		{Name: "fold", Version: 1, Needs: []string{"select"}, Params: newFoldParams(job), Observe: f.observeHandoff, Run: f.foldStep},
		{Name: "compose", Version: 1, Needs: []string{"fold"}, Run: f.composeStep},
		{Name: "report", Version: ReportVersion, Needs: []string{"compose"}, Params: reportParams{job.Name, f.output()}, Run: f.reportStep},
	}
	switch job.Publish.To {
	case "candidate":
		steps = append(steps, f.publication(f.publishable, f.publishStep, f.intendCandidate, f.settleCandidate))
	case "replace":
		steps = append(steps, f.publication(f.idle, f.replaceStep, f.intendReplacement, f.settleReplacement))
	}
	return steps, nil
}

// publication is the item's last step. Where it keeps backups and how long it
// waits is no part of what it publishes.
func (f *fold) publication(check func() error, run runner, intend intender, settle settler) step.Step {
	p := f.job.Publish
	return step.Step{
		Name: "publish", Version: 1, Needs: []string{"compose", "report"}, Params: publishParams{p.To, p.Path},
		Effect: true, Check: check, Run: run, Intend: intend, Settle: settle,
	}
}

type (
	runner   func(context.Context, step.Input) (step.Output, error)
	intender func(context.Context, step.Input) ([]step.Published, error)
	settler  func(context.Context, []step.Published) (step.Output, bool, error)
)

// Check refuses what a job may say and this version cannot do yet.
func (Kind) Check(job *spec.Job) error {
	var missing []error
	for _, c := range []struct {
		path, value, missing, next string
	}{
		{"mode.summary", job.Mode.Summary, "model", "use deterministic"},
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
		Place: place(job, "publish.to"), Next: "end the client, and add --session-closed; or use publish.to: candidate",
	}
}
