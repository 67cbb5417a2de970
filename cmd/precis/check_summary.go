package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
)

func (c *cli) checkSummaryVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "check-summary RUN FILE [SESSION...]",
		Short: "Check a summary against the evidence pack it was written from",
		Long: `check-summary holds a summary against the rules of its evidence pack and tells
everything that is wrong with it, with the line, the rule, and what would satisfy
it. The comment at the beginning of the summary says which of the run's packs it
is of; sessions may be named to look only there. FILE may be - for standard input.
Nothing is changed: precis resume RUN --summary FILE goes on with a summary that
passes.

With --json: {"ok", "session", "pack", "problems": [{"rule", "line", "column",
"message", "fix", "anchors", "quote"}]}.

EXIT STATUS
  0    the summary passes
  1    it does not, or there is no such run or pack
  2    the file cannot be read, or the command line is wrong`,
		Example: `  precis check-summary last summary.md`,
		Args:    atLeastOne("run and a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("name the file with the summary", "the summary is missing")
			}
			return c.checkSummary(args[0], args[1], args[2:])
		},
	}
}

// packOf is an evidence pack of a run, as a summary is checked against it.
type packOf struct {
	item, name string
	*compress.Expected
}

// checkedSummary is what is wrong with a summary.
type checkedSummary struct {
	OK       bool               `json:"ok"`
	Session  string             `json:"session"`
	Pack     string             `json:"pack"` // the artifact
	Problems []compress.Problem `json:"problems"`
}

func (c *cli) checkSummary(run, file string, items []string) error {
	text, err := c.readText(file)
	if err != nil {
		return err
	}
	packs, err := c.packsOf(run, items)
	if err != nil {
		return err
	}
	p, err := c.packFor(packs, file, text)
	if err != nil {
		return err
	}
	problems, report, err := p.Check(text)
	if err != nil {
		return err
	}
	ok := len(problems) == 0
	switch {
	case c.json:
		err = writeJSON(c.out, checkedSummary{ok, p.item, p.name, append([]compress.Problem{}, problems...)})
	case !ok:
		_, err = fmt.Fprint(c.out, visibleLines(report))
	case !c.quiet:
		_, err = fmt.Fprintf(c.out, "%s: passes (%s, %s)\n", visible(file), p.item, p.name)
	}
	if err == nil && !ok {
		err = exitError(exitFailed)
	}
	return err
}

// visibleLines escapes what a terminal would take for a command, line by line.
func visibleLines(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		body, found := strings.CutSuffix(line, "\n")
		if lines[i] = visible(body); found {
			lines[i] += "\n"
		}
	}
	return strings.Join(lines, "")
}

// maxSummary bounds a file that is said to be a summary.
const maxSummary = 64 << 20

// readText reads a text that a person names.
func (c *cli) readText(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, maxSummary))
	}
	info, err := c.fs.Stat(file)
	const next = "name the text file that holds the summary, or - for standard input"
	switch {
	case err != nil:
		return nil, usagef(next, "the summary cannot be read: %s", err.Error())
	case !info.Mode().IsRegular():
		return nil, usagef(next, "%s is no regular file", file)
	case info.Size() > maxSummary:
		return nil, usagef(next, "%s is larger than 64 MiB", file)
	}
	r, err := c.fs.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxSummary))
}

// packsOf are the evidence packs of a run.
func (c *cli) packsOf(run string, items []string) ([]packOf, error) {
	e := c.engine()
	d, err := e.Show(run, items...)
	if err != nil {
		return nil, err
	}
	var packs []packOf
	for _, i := range d.Detail {
		for _, s := range i.Steps {
			for name := range s.Artifacts {
				number, is := strings.CutPrefix(name, "expect")
				if !is {
					continue
				}
				expected, err := c.expected(e, &i, d.Run, s.Step+"/"+name)
				if err != nil {
					return nil, err
				}
				packs = append(packs, packOf{i.Item, s.Step + "/pack" + number, expected})
			}
		}
	}
	slices.SortFunc(packs, func(a, b packOf) int { return strings.Compare(a.item+a.name, b.item+b.name) })
	return packs, nil
}

func (c *cli) expected(e *engine.Engine, i *engine.ItemDetail, run, name string) (*compress.Expected, error) {
	home, a, _ := i.Find(run, name)
	store, err := e.Artifacts(home)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	data, err := store.Get(a)
	if err != nil {
		return nil, err
	}
	return compress.ParseExpected(data)
}

// packFor is the pack that a summary is of: the one that it names, or the only one.
func (c *cli) packFor(packs []packOf, file string, text []byte) (packOf, error) {
	// The last of those that it names: a pack of parts stands for the same records.
	for _, p := range slices.Backward(packs) {
		if p.Names(text) {
			return p, nil
		}
	}
	if len(packs) == 1 {
		return packs[0], nil
	}
	message, next := "the text names none of the "+counted(len(packs), "evidence pack", "evidence packs")+" of the run", "begin it with the comment of its pack, copied letter for letter; or name the session"
	if len(packs) == 0 {
		message, next = "the run has no evidence pack", "a job with mode.summary: model makes them"
	}
	return packOf{}, &step.Refusal{Class: "no-such-pack", Message: message, Place: step.Place{File: file}, Next: next}
}
