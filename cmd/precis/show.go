package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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
summary (its text), answer (what the author wrote); of an author that was asked
several times attempt-1 and check-1 (an answer, and what the check said to it).
What several steps left has the step in front, such as author-2/answer. --pack
prints the evidence that an author of the summary reads. All of them may hold
words of the session.

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
			switch {
			case pack:
				return c.showArtifact(args[0], args[1:], packArtifact, "--pack")
			case artifact != "":
				return c.showArtifact(args[0], args[1:], artifact, "--artifact")
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
			c.detail(p, d.Run, &d.Detail[i])
		}
	}
	c.nextOf(p, d)
	return p.err
}

// packArtifact is the name of an evidence pack; those of parts have a number behind it.
const packArtifact = "pack"

// showArtifact prints what a step left of one item, as a flag asks for.
func (c *cli) showArtifact(id string, items []string, name, flag string) error {
	e := c.engine()
	d, err := e.Show(id, items...)
	if err != nil {
		return err
	}
	if len(d.Detail) != 1 {
		return usagef("name one of the run's sessions", "%s is for one session, not %d", flag, len(d.Detail))
	}
	if i := d.Detail[0]; i.Same != "" { // what was up to date is in the run that did it
		return c.showArtifact(i.Same, []string{i.Item}, name, flag)
	}
	home, a, ok := d.Detail[0].Find(d.Run, name)
	if !ok {
		return c.noArtifact(d, name)
	}
	pack, err := e.Artifacts(home)
	if err != nil {
		return err
	}
	data, err := pack.Get(a)
	switch {
	case err != nil:
	case c.json && !json.Valid(data):
		err = writeJSON(c.out, map[string]string{"artifact": name, "text": string(data)})
	default:
		_, err = c.out.Write(data)
	}
	return errors.Join(err, pack.Close())
}

// noArtifact refuses a name that nothing has.
func (c *cli) noArtifact(d *engine.RunDetail, name string) error {
	i := &d.Detail[0]
	r := &step.Refusal{
		Class: "no-such-artifact", Message: fmt.Sprintf("the session has no artifact %q in this run", name),
		Place: step.Place{File: i.Source}, Next: c.command("show", d.Run, i.Item) + " lists them",
	}
	if _, _, parts := i.Find(d.Run, packArtifact+"-1"); parts && name == packArtifact {
		r.Message = "the evidence is in parts, which have a pack each; the last one is made of their summaries"
		r.Next = c.command("show", d.Run, i.Item, "--artifact", packArtifact+"-1") + " prints the first"
	}
	return r
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

func (c *cli) detail(p *page, run string, d *engine.ItemDetail) {
	p.title(d.Item, statusOf(*d))
	p.path("session", d.Source, "")
	if r := outcomeOf(*d); r != nil && r.Class != "" {
		p.row("reason", r.Class+": "+joined(r.Message))
		if r.Next != "" {
			p.nextStep(r.Next)
		}
	}
	if d.Result == nil {
		c.evidenceOf(p, run, d)
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

// asks tells whether a step of an item asks for a summary: the one that goes into the
// session, or that of a part.
func asks(step string) bool { return step == authorStep || strings.HasPrefix(step, authorStep+"-") }

const authorStep = "author"

// evidenceOf says where a person finds what the summaries that an item waits for are
// written from, and the last answers with what the check said about them.
func (c *cli) evidenceOf(p *page, run string, i *engine.ItemDetail) {
	label := "evidence"
	for _, s := range waiting(i.Steps) {
		flags := []string{"--pack"}
		if number := strings.TrimPrefix(s.Step, authorStep); number != "" {
			flags = []string{"--artifact", packArtifact + number}
		}
		p.path(label, c.command("show", append([]string{run, i.Item}, flags...)...), "")
		if label = ""; c.lastAnswer(p, run, i.Item, s) {
			label = "evidence"
		}
	}
}

// waiting are the steps that have asked and are to ask again, in the order of the
// parts.
func waiting(steps []engine.StepDetail) []engine.StepDetail {
	var list []engine.StepDetail
	for _, s := range steps {
		if asks(s.Step) && s.Phase == journal.Failed && s.Failure.Open {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b engine.StepDetail) int {
		return cmp.Or(cmp.Compare(len(a.Step), len(b.Step)), strings.Compare(a.Step, b.Step))
	})
	return list
}

// lastAnswer says where an author's last answer is, if the check refused it.
func (c *cli) lastAnswer(p *page, run, item string, s engine.StepDetail) bool {
	n := 0
	for s.Kept[fmt.Sprintf("facts-%d", n+1)] != (step.Artifact{}) {
		n++
	}
	if s.Kept[fmt.Sprintf("check-%d", n)] == (step.Artifact{}) {
		return false
	}
	p.path("answer", c.command("show", run, item, "--artifact", fmt.Sprintf("%s/attempt-%d", s.Step, n)), "")
	p.path("check", c.command("show", run, item, "--artifact", fmt.Sprintf("%s/check-%d", s.Step, n)), "")
	return true
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
	case engine.RunWaiting:
		p.path("next", c.command("resume", d.Run, "--summary", "FILE"), "")
		return
	case engine.RunInterrupted, engine.RunOpen:
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
