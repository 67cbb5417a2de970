package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/jobs"
	"github.com/precis-dev/precis/spec"
)

func (c *cli) runVerb() *cobra.Command {
	var set []string
	var o engine.Options
	var dry bool
	verb := &cobra.Command{
		Use:   "run JOB...",
		Short: "Run jobs",
		Long: `run reads job files and runs them one after the other. If one of them has
problems, none is run.

Each session of a job is an item of its own: one that is refused does not keep the
others from being done. A refusal says what is wrong, where, and what to do; it
has written nothing outside the state folder. A new file is verified before it
appears under its name, complete, or it does not appear. A file that stands there
already is replaced only if precis put it there and nobody changed it since, or
with --force.

What an earlier run did and nothing has changed since is not done again. The
record of the run, with a report for each session, is kept in the state folder;
precis show tells it. A run that was cut short goes on with precis resume.

With --dry-run everything is done in memory, publication included, and what it
would change is listed. Nothing on the disk is touched, not even the state folder.

A job with publish.to: replace puts the new file in the place of the session, and
the session among the backups. It demands --session-closed, your word that no
client has the session open, and refuses a session that is seen to be open all the
same. precis restore puts the backup back.

A job with mode.summary: model has its summaries written by the author that it
names: a person, a command, or a model service. Where the run waits for one it
ends with 4 and says how to go on. --until pack only makes what an author reads;
precis show RUN --pack prints it.

With --json: a JSON line for each event. The last line of a job is
{"event": "run", "run", "exit", "items": [...]}.

EXIT STATUS
  0    every session is done or up to date; an empty one counts as refused and
       changes nothing here (with --json: class absent, skip)
  1    a session was refused or failed; nothing was published for it
  2    a job has problems, cannot be read, or the command line is wrong
  3    a file was changed, but what had to follow failed; of a replaced session
       the receipt is printed
  4    a summary is waited for
  130  interrupted; nothing half-written is left

With several sessions: 0 if all ended in 0, else the smallest other code.`,
		Example: `  precis run fold.yaml --dry-run
  precis run jobs/*.yaml
  precis run fold.yaml --set budgets.tokens=80000 --json > events.jsonl`,
		Args: atLeastOne("job file"),
		RunE: func(cmd *cobra.Command, args []string) error { o.Set = set; return c.run(cmd.Context(), args, o, dry) },
	}
	addSet(verb, &set)
	verb.Flags().StringVar(&o.Until, "until", "", "end after this `STEP` of each session and what it needs, such as pack")
	verb.Flags().BoolVar(&dry, "dry-run", false, "do everything in memory and list what would be changed")
	addConsent(verb, &o)
	return verb
}

// addConsent adds the flags by which a person takes something upon himself.
func addConsent(verb *cobra.Command, o *engine.Options) {
	verb.Flags().BoolVar(&o.Force, "force", false, "replace a file at the output that precis did not write, or a session that seems to be open")
	verb.Flags().BoolVar(&o.SessionClosed, "session-closed", false, "your word that no client has the sessions open")
}

// run runs jobs, once all of them are in order.
func (c *cli) run(ctx context.Context, files []string, o engine.Options, dry bool) error {
	list, err := c.loadAll(files, o.Set)
	if err != nil {
		return err
	}
	e := c.engine()
	code, how := exitDone, running
	if dry {
		how = dryRunning
	}
	for i, job := range list {
		if len(list) > 1 && !c.json && !c.quiet {
			c.heading(i, job)
		}
		result, err := c.execution(ctx, e, o, how, func(o engine.Options) (engine.Result, error) {
			if dry {
				return e.DryRun(ctx, job, o)
			}
			return e.Run(ctx, job, o)
		})
		if err != nil {
			return err
		}
		code = worse(code, result.Exit)
		if ctx.Err() == nil {
			continue
		}
		if i+1 < len(list) && !interrupted(ctx, result, nil) { // too late for this one, in time for the next
			c.fail(ctx.Err())
			code = worse(code, exitInterrupted)
		}
		break
	}
	return ended(code)
}

// engine is the engine with all job kinds, over this process's world.
func (c *cli) engine() *engine.Engine {
	env := engine.OSEnv(c.state, c.log())
	env.FS, env.Command = c.fs, c.command
	return engine.New(env, jobs.Kinds(world())...)
}

// heading sets several jobs apart.
func (c *cli) heading(i int, job *spec.Job) {
	p := c.page()
	if i > 0 {
		p.blank()
	}
	p.title("job "+job.Name+" ("+job.File+")", "")
	p.blank()
}

// loadAll reads the jobs and tells the problems of all of them at once.
func (c *cli) loadAll(files, set []string) ([]*spec.Job, error) {
	var list []*spec.Job
	var all spec.Problems
	for _, file := range files {
		job, err := c.load(file, set)
		problems, err := problemsOf(err)
		if err != nil && c.json {
			return nil, c.tellUnrun(describe(err))
		}
		if err != nil {
			return nil, err
		}
		list, all = append(list, job), append(all, problems...)
	}
	switch {
	case len(all) == 0:
		return list, nil
	case c.json:
		return nil, c.tellProblems(all)
	}
	if err := all.WriteText(c.errOut); err != nil {
		return nil, err
	}
	return nil, exitError(exitUsage)
}

// problemLine is a problem as a line among events.
type problemLine struct {
	Event string `json:"event"`
	spec.Problem
}

func (c *cli) tellProblems(all spec.Problems) error {
	for _, p := range all {
		if err := writeLine(c.out, problemLine{"problem", p}); err != nil {
			return err
		}
	}
	return c.tellUnrun(trouble{
		Class: "spec", Message: counted(len(all), "problem", "problems") + " in the job files; nothing was run",
		Next: "correct them; precis check shows them with their lines",
	})
}

// tellUnrun is the last event where no run was begun.
func (c *cli) tellUnrun(t trouble) error {
	lines := event.NewLines(c.out)
	lines.Emit(event.Run{Exit: exitUsage, Class: t.Class, Message: t.Message, Next: t.Next, Items: []event.Item{}})
	if err := lines.Err(); err != nil {
		return err
	}
	return exitError(exitUsage)
}

// execution watches a run and tells how it ended. The error is of the output alone.
func (c *cli) execution(ctx context.Context, e *engine.Engine, o engine.Options, how task, run func(engine.Options) (engine.Result, error)) (engine.Result, error) {
	bars := c.watch()
	var began atomic.Bool
	sinks := fanOut{bars, logged{c.log()}, onBegin(func() { began.Store(true) })}
	if c.collects {
		sinks = append(sinks, &collector{})
	}
	var lines *event.Lines
	if c.json {
		lines = event.NewLines(c.out)
		sinks = append(sinks, lines)
	}
	o.Sink = sinks
	result, runErr := run(o)
	bars.stop()
	if c.json {
		return result, committed(result, errors.Join(lines.Err(), c.receipts(result)))
	}
	t := teller{cli: c, engine: e, page: c.page(), task: how, began: began.Load(), until: o.Until}
	return result, committed(result, errors.Join(t.run(ctx, result, runErr), c.receipts(result)))
}

// receipts prints the receipts that could not be kept: what was done to a session
// must be told somewhere.
func (c *cli) receipts(result engine.Result) error {
	for _, i := range result.Items {
		if i.Replaced == nil || i.Receipt != "" {
			continue
		}
		if err := writeLine(c.out, i.Replaced); err != nil {
			return err
		}
	}
	return nil
}

// committed is the error of output that could not be written. What was published
// stands all the same, which the exit code must say.
func committed(result engine.Result, err error) error {
	if err == nil {
		return nil
	}
	if slices.ContainsFunc(result.Items, engine.ItemResult.Committed) {
		return errors.Join(err, exitError(exitCommitted))
	}
	return err
}

// fanOut is several sinks as one.
type fanOut []event.Sink

// Emit gives the event to each of them.
func (f fanOut) Emit(e event.Event) {
	for _, s := range f {
		s.Emit(e)
	}
}

// onBegin is called when a run begins to work.
type onBegin func()

// Emit calls it.
func (f onBegin) Emit(e event.Event) {
	if _, ok := e.(event.RunStarted); ok {
		f()
	}
}

// logged is a sink that logs what begins and ends.
type logged struct{ log hclog.Logger }

// Emit logs an event at the level debug.
func (l logged) Emit(e event.Event) {
	switch e := e.(type) {
	case event.RunStarted:
		l.log.Debug("run started", "run", e.Run, "kind", e.Kind, "items", e.Items)
	case event.StepStarted:
		l.log.Debug("step started", "item", e.Item, "step", e.Step)
	case event.StepFinished:
		l.log.Debug("step finished", "item", e.Item, "step", e.Step)
	case event.ItemFinished:
		l.log.Debug("item finished", "item", e.ID, "status", e.Status, "class", e.Class)
	}
}
