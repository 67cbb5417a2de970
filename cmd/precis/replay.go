package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/plan"
)

func (c *cli) replayVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "replay RUN",
		Short: "Do a run again from its record and compare",
		Long: `replay does the steps of a run again, in memory, from the files that the run kept
in its record, and compares the digest of everything they leave. It needs the
state folder alone, which may come from another machine, and writes nothing.

The first thing that differs is named, with what it was and what it is: another
version of precis, or a program that does not give the same bytes twice. RUN is an
id, the beginning of one, or last.

With --json: {"run", "exit", "items": [{"item", "status", "steps", "step",
"difference": {"component", "old", "new"}, "message"}]}.

EXIT STATUS
  0    all is the same
  1    the run cannot be replayed, or nothing was compared
  5    something differs`,
		Example: `  precis replay last
  precis replay last --state from/elsewhere/.precis`,
		Args: between(1, 1, "a run"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.replay(cmd.Context(), args[0]) },
	}
}

func (c *cli) replay(ctx context.Context, id string) error {
	bars := c.watch()
	r, err := c.engine().Replay(ctx, id, bars)
	bars.stop()
	if ctx.Err() != nil { // whatever was told of it
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if c.json {
		err = writeJSON(c.out, r)
	} else {
		err = c.tellReplay(r)
	}
	if err != nil {
		return err
	}
	return ended(r.Exit)
}

func (c *cli) tellReplay(r *engine.Replay) error {
	p := c.page()
	counts := map[engine.ReplayStatus]int{}
	for _, i := range r.Items {
		counts[i.Status]++
		if i.Status != engine.ReplaySame || len(r.Items) <= manyItems && !c.quiet {
			p.replayed(i)
		}
	}
	if !c.quiet {
		p.text(replayTally(counts))
	}
	return p.err
}

func replayTally(counts map[engine.ReplayStatus]int) string {
	var parts []string
	for _, s := range []engine.ReplayStatus{engine.ReplaySame, engine.ReplayDiffers, engine.ReplaySkipped} {
		if n := counts[s]; n > 0 {
			parts = append(parts, count(n)+" "+string(s))
		}
	}
	text := strings.Join(parts, ", ")
	if counts[engine.ReplaySame]+counts[engine.ReplayDiffers] == 0 {
		text += "; nothing was compared"
	}
	return text
}

func (p *page) replayed(i engine.ReplayedItem) {
	p.title(p.near(i.Source), string(i.Status))
	if i.Status == engine.ReplaySame {
		p.row("steps", counted(i.Steps, "step gives", "steps give")+" the same bytes as in the run")
	}
	if d := i.Difference; d != nil {
		p.difference(i, d)
	}
	if i.Message != "" {
		p.row("reason", joined(i.Message))
	}
	p.blank()
}

// difference says where a replay went another way: at which step, in what, and both
// values.
func (p *page) difference(i engine.ReplayedItem, d *plan.Difference) {
	if i.Step != "" {
		p.row("step", i.Step+"; "+counted(i.Steps, "step before it is", "steps before it are")+" the same")
	}
	part, name, _ := strings.Cut(d.Component, ".")
	p.row("differs", strings.TrimSpace(part+" "+name))
	p.row("was", strings.TrimPrefix(d.Old, "sha256:")) // whole, in eighty columns
	p.row("is now", strings.TrimPrefix(d.New, "sha256:"))
}
