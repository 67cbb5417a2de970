package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
)

func (c *cli) showVerb() *cobra.Command {
	var artifact string
	var pack bool
	verb := &cobra.Command{
		Use:   "show RUN [SESSION...]",
		Short: "Show a run: its sessions, steps, files and what to do next",
		Long: `show tells what became of a run and of each of its sessions; of those that are
named, also the steps with their times and digests, and what they left. RUN is an
id, the beginning of one, or last.

--artifact prints something that a step left of the session: report (as JSON),
summary (its text), answer (what the author wrote). What several steps left has
the step in front, such as author-2/answer. --pack prints the evidence that an
author of the summary reads. All of them may hold words of the session.

With --json: {"run", "status", "file", "opened", "exit", "detail": [{"item",
"source", "result", "published", "steps": [...]}]}.

EXIT STATUS
  0    shown
  1    there is no such run, or its record cannot be read`,
		Example: `  precis show last
  precis show last 3f2a9c1e-session
  precis show last 3f2a9c1e-session --artifact report`,
		Args: atLeastOne("run"),
		RunE: func(_ *cobra.Command, args []string) error {
			if pack {
				artifact = "pack"
			}
			if artifact != "" {
				return c.showArtifact(args[0], args[1:], artifact)
			}
			return c.show(args[0], args[1:])
		},
	}
	verb.Flags().StringVar(&artifact, "artifact", "", "print this artifact of a session, `NAME`")
	verb.Flags().BoolVar(&pack, "pack", false, "print the evidence pack of a session")
	verb.MarkFlagsMutuallyExclusive("artifact", "pack")
	return verb
}

func (c *cli) show(id string, items []string) error {
	d, err := c.engine().Show(id, items...)
	if err != nil {
		return err
	}
	if c.json {
		return writeJSON(c.out, d)
	}
	p := c.page()
	p.runInfo(d)
	if len(d.Detail) > manyItems && len(items) == 0 {
		p.detailTable(d.Detail)
	} else {
		for i := range d.Detail {
			p.detail(&d.Detail[i])
		}
	}
	c.nextOf(p, d)
	return p.err
}

// showArtifact prints what a step left of one item.
func (c *cli) showArtifact(id string, items []string, name string) error {
	e := c.engine()
	d, err := e.Show(id, items...)
	if err != nil {
		return err
	}
	if len(d.Detail) != 1 {
		return usagef("name one of the run's sessions", "--artifact is for one session, not %d", len(d.Detail))
	}
	if i := d.Detail[0]; i.Same != "" { // what was up to date is in the run that did it
		return c.showArtifact(i.Same, []string{i.Item}, name)
	}
	home, a, ok := d.Detail[0].Find(d.Run, name)
	if !ok {
		return &step.Refusal{Class: "no-such-artifact", Message: fmt.Sprintf("the session has no artifact %q in this run", name), Place: step.Place{File: d.Detail[0].Source}, Next: c.command("show", d.Run, d.Detail[0].Item) + " lists them"}
	}
	pack, err := e.Artifacts(home)
	if err != nil {
		return err
	}
	r, err := pack.Open(a)
	if err == nil {
		_, err = io.Copy(c.out, r)
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, pack.Close())
}

func (p *page) runInfo(d *engine.RunDetail) {
	p.title("run "+d.Run, string(d.Status))
	p.path("job", d.File, "")
	p.row("digest", brief(d.Job))
	p.row("begun", moment(d.Opened))
	if d.Resumed > 0 {
		p.row("resumed", counted(d.Resumed, "time", "times"))
	}
	p.row("last entry", moment(d.Ended))
	if d.Status == engine.RunRunning {
		p.row("by", d.Owner.String())
	}
	p.row("sessions", summary(d.RunInfo))
	p.row("record", "durable to "+string(d.Durability))
	p.blank()
}

func (p *page) detailTable(items []engine.ItemDetail) {
	rows := make([][]string, len(items))
	for i, d := range items {
		rows[i] = []string{d.Item, statusOf(d), "", ""}
		if s := d.Sizes; s != nil {
			rows[i][2] = signed(s.Before.Bytes, s.After.Bytes)
		}
		if o := outcomeOf(d); o != nil {
			rows[i][3] = o.Class
		}
	}
	p.table(0, []column{{head: "session", stretch: true}, {head: "status"}, {head: "change", right: true}, {head: "reason"}}, rows)
	p.blank()
}

// outcomeOf is how an item ended, or why it was left open; nil for neither.
func outcomeOf(d engine.ItemDetail) *journal.Outcome { return cmp.Or(d.Result, d.Left) }

func statusOf(d engine.ItemDetail) string {
	if o := outcomeOf(d); o != nil {
		return string(o.Status)
	}
	return "open"
}

func (p *page) detail(d *engine.ItemDetail) {
	p.title(d.Item, statusOf(*d))
	p.path("session", d.Source, "")
	if r := outcomeOf(*d); r != nil && r.Class != "" {
		p.row("reason", r.Class+": "+joined(r.Message))
		if r.Next != "" {
			p.row("next", r.Next)
		}
	}
	if d.Same != "" {
		p.row("done by", "run "+d.Same)
	}
	if s := d.Sizes; s != nil {
		p.row("size", fmt.Sprintf("%s → %s, %s", size(s.Before.Bytes), size(s.After.Bytes), change(s.Before.Bytes, s.After.Bytes)))
	}
	p.files("replaced", d.Source, d.Published)
	p.files("put back", d.Source, d.Restored)
	p.steps(d.Steps)
	p.blank()
}

// files lists what was published; the session itself is told by what was done to it.
func (p *page) files(done, session string, files []step.Published) {
	for _, f := range files {
		digest := "sha256:" + f.SHA256[:min(12, len(f.SHA256))]
		switch {
		case f.Op == step.Backup:
			p.path("backup", f.Path, "  "+digest)
		case f.Op == step.Remove:
			p.path("removed", f.Path, "  "+digest)
		case p.inPlace(f, session):
			p.row(done, digest)
		default:
			p.path("new file", f.Path, "  "+digest)
		}
	}
}

func (p *page) steps(steps []engine.StepDetail) {
	var rows [][]string
	for _, s := range steps {
		row := []string{s.Step, phase(s), "", brief(s.Key), artifactNames(s)}
		switch {
		case s.Home != "":
			row[2] = "earlier run"
		case !s.Ended.IsZero():
			row[2] = s.Ended.Sub(s.Began).Round(time.Millisecond).String()
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		p.table(2, []column{{head: "step"}, {head: "phase"}, {head: "time", right: true}, {head: "key"}, {head: "artifacts", stretch: true}}, rows)
	}
}

// phase is how far a step came: one that failed says how.
func phase(s engine.StepDetail) string {
	if s.Phase == journal.Failed && s.Failure.Open {
		return string(s.Failure.Status)
	}
	return string(s.Phase)
}

// nextOf says what can be done about a run.
func (c *cli) nextOf(p *page, d *engine.RunDetail) {
	switch d.Status {
	case engine.RunRunning:
		p.row("next", "wait for it; or end that process, and then")
		p.path("", c.command("resume", d.Run), "")
		return
	case engine.RunInterrupted, engine.RunWaiting, engine.RunOpen:
		p.path("next", c.command("resume", d.Run), "")
		return
	}
	if slices.ContainsFunc(d.Detail, bad) {
		p.row("next", "mend what the reasons name, and then")
		p.path("", c.command("run", p.near(filepath.Clean(d.File))), "")
	}
	if slices.ContainsFunc(d.Detail, replacedStill) {
		p.path("undo", c.command("restore", d.Run, "--session-closed"), "")
	}
	p.path("replay", c.command("replay", d.Run), "")
}

// bad tells an item that a person has to do something about.
func bad(i engine.ItemDetail) bool {
	r := i.Result
	return r != nil && (r.Status == step.Refused && !r.Skip || r.Status == step.Failed)
}

// replacedStill tells an item whose session was replaced and not put back.
func replacedStill(i engine.ItemDetail) bool {
	replaced := func(f step.Published) bool { return f.Op == step.Replace && f.Old != nil }
	return slices.ContainsFunc(i.Published, replaced) && len(i.Restored) == 0
}

func artifactNames(s engine.StepDetail) string {
	return strings.Join(append(slices.Sorted(maps.Keys(s.Artifacts)), slices.Sorted(maps.Keys(s.Kept))...), ", ")
}
