package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
)

// manyItems is how many items are told in a table rather than a block each.
const manyItems = 5

// told is an item with its report, if it got that far.
type told struct {
	engine.ItemResult
	*compress.Report
}

// tellRun prints how a run ended; with --quiet, what needs attention.
func (c *cli) tellRun(ctx context.Context, result engine.Result, runErr error) error {
	items := make([]told, len(result.Items))
	for i, r := range result.Items {
		items[i] = told{r, c.report(r)}
	}
	p := c.page()
	if len(items) > manyItems && !c.quiet {
		p.itemTable(items)
	}
	for _, t := range items {
		c.tellItem(p, t, len(items) > manyItems)
	}
	if len(items) > 0 && !c.quiet {
		p.totals(items)
		p.whatNext(filepath.Join(c.state, "runs", result.Run), items)
	}
	c.tellEnd(ctx, runErr)
	return p.err
}

// tellEnd says what ended the run as a whole.
func (c *cli) tellEnd(ctx context.Context, runErr error) {
	switch {
	case ctx.Err() != nil:
		c.complain(trouble{Message: "interrupted; nothing half-written is left", Next: "run the job again: a file that is in place already is kept as it is"})
	case runErr != nil:
		c.complain(describe(runErr))
	}
}

// report reads the report an item left; nil for one that has none.
func (c *cli) report(r engine.ItemResult) *compress.Report {
	path, _ := r.Facts["report"].(string)
	if path == "" {
		return nil
	}
	data, err := afero.ReadFile(c.fs, path)
	if err != nil {
		return nil
	}
	var report compress.Report
	if json.Unmarshal(data, &report) != nil {
		return nil
	}
	return &report
}

func (t told) done() bool {
	return t.ItemResult.Status == step.Done || t.ItemResult.Status == step.UpToDate
}

func (t told) status() string { return string(t.ItemResult.Status) }

// tellItem prints an item's block. Among many only what the table has no room for
// is told.
func (c *cli) tellItem(p *page, t told, many bool) {
	fine := t.done() && (t.Report == nil || len(t.Warnings) == 0)
	if fine && (many || c.quiet) {
		return
	}
	if many {
		p.blank()
	}
	p.title(t.ItemResult.Session, t.status())
	switch {
	case t.Class == "interrupted": // told for the run as a whole
	case !t.done():
		p.refusal(t.ItemResult)
	case t.Report == nil:
	case many || c.quiet:
		p.warnings(t.Warnings)
	default:
		p.report(t)
	}
	if !many && !c.quiet {
		p.blank()
	}
}

// refusal says what is wrong, where, and what to do.
func (p *page) refusal(r engine.ItemResult) {
	p.row("reason", r.Class+": "+r.Message)
	if at := r.Place.String(); at != "" {
		p.path("where", at, "")
	}
	for _, f := range r.Outputs {
		p.path("file", f.Path, " is in place")
	}
	if r.Next != "" {
		p.row("next", r.Next)
	}
}

func (p *page) report(t told) {
	before, after := t.Before, t.After
	p.row("size", fmt.Sprintf("%s → %s, %s", size(before.Bytes), size(after.Bytes), change(before.Bytes, after.Bytes)))
	p.row("tokens", fmt.Sprintf("%s → %s, %s (estimated)", count(before.Tokens), count(after.Tokens), change(before.Tokens, after.Tokens)))
	s := t.Partition
	p.row("records", fmt.Sprintf("%s folded, %s kept raw, %s beside them, %s control", count(s.Summary.Count), count(s.Raw.Count), count(s.Side.Count), count(s.Control.Count)))
	p.row("excluded", fmt.Sprintf("%s of other branches, %s unattributed", count(s.ExcludedBranch.Count), count(s.ExcludedUnattributed.Count)))
	p.row("cut", fmt.Sprintf("line %s is the first that is kept raw", count(t.Cut.Line)))
	p.gates(t.Gates)
	p.warnings(t.Warnings)
	for _, f := range t.Outputs {
		p.path("new file", f.Path, stands(f.Op))
	}
	path, _ := t.Facts["report"].(string)
	p.path("report", path, "")
}

// stands says what publishing did, where it did not simply create a file.
func stands(op string) string {
	switch op {
	case "keep":
		return " (in place already, byte for byte)"
	case "replace":
		return " (replaced)"
	}
	return ""
}

func (p *page) gates(gates []compress.Gate) {
	var texts []string
	for _, g := range gates {
		texts = append(texts, fmt.Sprintf("%s of at most %s %s", count(g.Value), count(g.Limit), g.Name))
	}
	p.rows("gates", texts)
}

func (p *page) warnings(all []compress.Warning) {
	for _, w := range all {
		message, next, _ := strings.Cut(w.Message, "; to keep them: ")
		if w.Line > 0 {
			message = fmt.Sprintf("line %s: %s", count(w.Line), message)
		}
		p.row("warning", message)
		if next != "" {
			p.row("", "to keep them: "+next)
		}
	}
}

// itemTable is one row an item.
func (p *page) itemTable(items []told) {
	columns := []column{
		{head: "session", stretch: true}, {head: "status"}, {head: "bytes", right: true}, {head: "after", right: true},
		{head: "change", right: true}, {head: "tokens", right: true}, {head: "after", right: true},
	}
	rows := make([][]string, len(items))
	for i, t := range items {
		rows[i] = []string{filepath.Base(t.ItemResult.Session), t.status(), "", "", "", "", ""}
		if r := t.Report; r != nil {
			copy(rows[i][2:], []string{size(r.Before.Bytes), size(r.After.Bytes), signed(r.Before.Bytes, r.After.Bytes), count(r.Before.Tokens), count(r.After.Tokens)})
		}
	}
	p.table(0, columns, rows)
}

// signed is a change in size for a column.
func signed(before, after int64) string {
	sign := "-"
	if after > before {
		sign = "+"
	}
	return fmt.Sprintf("%s%d %%", sign, percentage(before, after))
}

// totals is a line over all items.
func (p *page) totals(items []told) {
	counts := map[step.Status]int{}
	var before, after int64
	for _, t := range items {
		counts[t.ItemResult.Status]++
		if t.Report != nil && t.done() {
			before, after = before+t.Before.Bytes, after+t.After.Bytes
		}
	}
	var parts []string
	for _, s := range []step.Status{step.Done, step.UpToDate, step.Refused, step.Failed, step.Waiting, step.Interrupted} {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", count(n), strings.ReplaceAll(string(s), "-", " ")))
		}
	}
	text := strings.Join(parts, ", ")
	if before > 0 {
		text += fmt.Sprintf("; %s → %s, %s", size(before), size(after), change(before, after))
	}
	if len(items) > manyItems {
		p.blank()
	}
	p.text(text)
}

// whatNext says where everything is and how to go on from a new file.
func (p *page) whatNext(folder string, items []told) {
	var places []string
	for _, t := range items {
		for _, f := range t.Outputs {
			if place := filepath.Dir(f.Path); !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	p.blank()
	if len(items) > manyItems {
		for i, place := range places {
			p.path([]string{"new files", ""}[min(i, 1)], place, "")
		}
	}
	p.path("run", folder, "")
	if len(items) > manyItems {
		p.path("reports", filepath.Join("items", "SESSION", "report.json"), " in the folder of the run")
	}
	if len(places) > 0 {
		p.row("next", "The sessions are as they were. To go on from a new file: close the client, move the session out of its project's folder to a place of your own, put the new file there under the session's name, and resume as usual.")
	}
}
