package compress

import (
	"context"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/author"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/spec"
)

// The version domains. A change of one does not imply a change of the others.
const (
	EngineVersion = "v10"
	PackVersion   = 11
	ReportVersion = 1
)

// Kind is the job kind. Its zero value asks no author.
type Kind struct {
	Authors author.World // with which authors are asked
}

// Name is the kind's name in a job file.
func (Kind) Name() string { return "compress" }

// Items are the sessions of the job, sorted by path.
func (Kind) Items(_ context.Context, env step.Env, job *spec.Job) ([]step.Item, error) {
	if err := acknowledged(env, job); err != nil {
		return nil, err
	}
	return sessions.Find(env.FS, job, env.State)
}

// Steps wires the graph of one session.
func (k Kind) Steps(env step.Env, job *spec.Job, item step.Item) ([]step.Step, error) {
	f := &fold{env: env, job: job, item: item, authors: k.Authors}
	var err error
	if f.texts, err = ReadTexts(env.FS, job); err != nil {
		return nil, err
	}
	steps := []step.Step{
		{Name: "read", Version: 1, Params: readParams{job.Input.Agent}, Observe: f.observeSource, Run: f.readStep},
		{Name: "select", Version: 1, Needs: []string{"read"}, Params: newSelectParams(job), Run: f.selectStep},
	}
	steps = append(steps, f.folding()...)
	steps = append(steps,
		step.Step{Name: "compose", Version: 1, Needs: []string{"fold"}, Run: f.composeStep},
		step.Step{Name: "report", Version: ReportVersion, Needs: f.needs([]string{"pack", "author", "fold"}, "compose"), Params: reportParams{job.Name, f.output()}, Run: f.reportStep},
	)
	switch job.Publish.To {
	case "candidate":
		steps = append(steps, f.publication(f.publishable, f.publishStep, f.intendCandidate, f.settleCandidate))
	case "replace":
		steps = append(steps, f.publication(f.idle, f.replaceStep, f.intendReplacement, f.settleReplacement))
	}
	return steps, nil
}

// folding are the steps that write the summary: one, or those that make the
// evidence, ask the author, and take the answer.
func (f *fold) folding() []step.Step {
	if !f.asksModel() {
		return []step.Step{{Name: "fold", Version: 2, Needs: []string{"select"}, Params: newFoldParams(f.job), Observe: f.observeTexts, Run: f.foldStep}}
	}
	return []step.Step{
		{Name: "pack", Version: 1, Needs: []string{"select"}, Params: f.packParams(), Observe: f.observeTexts, Expand: f.parts, Run: f.packStep},
		f.asking(""),
		{Name: "fold", Version: 1, Needs: []string{"select", "pack", "author"}, Params: textParams{textMode{f.job.Mode.Embed}}, Observe: f.observeTexts, Run: f.foldStep},
	}
}

// needs are the steps among some that a later one reads artifacts of: a summary that
// was asked for is not made again.
func (f *fold) needs(asked []string, others ...string) []string {
	if f.asksModel() {
		return append(asked, others...)
	}
	return others
}

// publication is the item's last step. Where it keeps backups and how long it
// waits is no part of what it publishes.
func (f *fold) publication(check func() error, run runner, intend intender, settle settler) step.Step {
	p := f.job.Publish
	return step.Step{
		Name: "publish", Version: 1, Needs: f.needs([]string{"fold"}, "compose", "report"), Params: publishParams{p.To, p.Path},
		Effect: true, Check: check, Run: run, Intend: intend, Settle: settle,
	}
}

type (
	runner   func(context.Context, step.Input) (step.Output, error)
	intender func(context.Context, step.Input) ([]step.Published, error)
	settler  func(context.Context, []step.Published) (step.Output, bool, error)
)

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
