package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

func (c *cli) planVerb() *cobra.Command {
	var o engine.Options
	verb := &cobra.Command{
		Use:   "plan JOB...",
		Short: "Tell what a run of jobs would do, and why",
		Long: `plan tells for every session, and every step of its work, whether the next run
would do it or whether what an earlier run did still stands. Of a step that would
be done it names the first thing that differs from the last run, with its old and
its new value. It decides as run does, and writes nothing.

Steps build on each other: of one whose inputs would be made anew the reason is
the step before. What only doing the work can show, such as a session that is
refused for what is in it, a plan does not know.

With --json: {"jobs": [{"job", "file", "items": [{"session", "status", "steps":
[{"step", "status", "reason": {"component", "old", "new"}}]}]}]}.

EXIT STATUS
  0    told
  1    a session would be refused, as far as that can be told
  2    a job has problems, cannot be read, or the command line is wrong`,
		Example: `  precis plan fold.yaml
  precis plan fold.yaml --set budgets.keepRecords=40 --json`,
		Args: atLeastOne("job file"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.plan(cmd.Context(), args, o) },
	}
	addSet(verb, &o.Set)
	addConsent(verb, &o)
	return verb
}

// plannedJob is a job with what a run would do.
type plannedJob struct {
	Job  string `json:"job"`
	File string `json:"file"`
	engine.Plan
}

func (c *cli) plan(ctx context.Context, files []string, o engine.Options) error {
	list, err := c.loadAll(files, o.Set)
	if err != nil {
		return err
	}
	e := c.engine()
	all, code := []plannedJob{}, exitDone
	for _, job := range list {
		p, err := c.planJob(ctx, e, job, o)
		if err != nil {
			return err
		}
		all = append(all, plannedJob{job.Name, job.File, p})
		for _, i := range p.Items {
			if i.Status == step.Refused || i.Status == step.Failed {
				code = exitFailed
			}
		}
	}
	if c.json {
		err = writeJSON(c.out, map[string]any{"jobs": all})
	} else {
		err = c.tellPlans(list, all)
	}
	if err != nil {
		return err
	}
	return ended(code)
}

func (c *cli) planJob(ctx context.Context, e *engine.Engine, job *spec.Job, o engine.Options) (engine.Plan, error) {
	bars := c.watch()
	defer bars.stop()
	o.Sink = bars
	return e.Plan(ctx, job, o)
}

func (c *cli) tellPlans(jobs []*spec.Job, all []plannedJob) error {
	p := c.page()
	for i, planned := range all {
		if len(all) > 1 && !c.quiet {
			c.heading(i, jobs[i])
		}
		p.plan(planned.Items, c.quiet)
	}
	return p.err
}
