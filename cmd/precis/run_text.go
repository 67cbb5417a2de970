package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/cas"
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

// teller prints how runs ended.
type teller struct {
	*cli
	*page
	engine *engine.Engine
	dry    bool
	packs  map[string]*cas.Store // of runs, open
}

// run prints how a run ended; with --quiet, what needs attention.
func (t *teller) run(ctx context.Context, result engine.Result, runErr error) error {
	t.packs = map[string]*cas.Store{}
	defer t.close()
	many := len(result.Items) > manyItems
	if many && !t.quiet {
		t.itemTable(result.Items)
	}
	for _, i := range result.Items {
		t.item(i, many)
	}
	if len(result.Items) > 0 && !t.quiet {
		t.totals(result.Items)
		if t.dry {
			t.effects(result.Items)
		} else {
			t.whatNext(result)
		}
	}
	t.end(ctx, result, runErr)
	return t.err
}

func (t *teller) close() {
	for _, pack := range t.packs {
		_ = pack.Close()
	}
}

// end says what ended the run as a whole.
func (t *teller) end(ctx context.Context, result engine.Result, runErr error) {
	switch {
	case ctx.Err() != nil && result.Run == "":
		t.complain(trouble{Message: "interrupted; nothing was changed", Next: "run the command again"})
	case ctx.Err() != nil:
		t.complain(trouble{Message: "interrupted; nothing half-written is left", Next: t.command("resume", result.Run)})
	case runErr != nil:
		t.complain(describe(runErr))
	}
}

// command is a command that works where this one did.
func (c *cli) command(verb string, args ...string) string {
	words := append([]string{"precis", verb}, args...)
	if c.state != defaultState {
		words = append(words, "--state", c.state)
	}
	return strings.Join(words, " ")
}

// report reads the report an item left; nil for one that has none.
func (t *teller) report(i engine.ItemResult) *compress.Report {
	if i.Report == (step.Artifact{}) {
		return nil
	}
	pack := t.packs[i.Home]
	if pack == nil {
		opened, err := t.engine.Artifacts(i.Home)
		if err != nil {
			return nil
		}
		t.packs[i.Home], pack = opened, opened
	}
	data, err := pack.Get(i.Report)
	var report compress.Report
	if err != nil || json.Unmarshal(data, &report) != nil {
		return nil
	}
	return &report
}

func (t told) done() bool {
	return t.ItemResult.Status == step.Done || t.ItemResult.Status == step.UpToDate
}

func (t told) status() string { return string(t.ItemResult.Status) }

// item prints an item's block. Among many only what the table has no room for is
// told.
func (t *teller) item(r engine.ItemResult, many bool) {
	i := told{ItemResult: r}
	if !many || r.Status == step.Done {
		i.Report = t.report(r)
	}
	if fine := i.done() && (i.Report == nil || len(i.Warnings) == 0); fine && (many || t.quiet) {
		return
	}
	if many {
		t.blank()
	}
	t.title(t.near(r.Session), i.status())
	switch {
	case i.Class == "interrupted": // told for the run as a whole
	case !i.done():
		t.refusal(r)
	case many || t.quiet:
		t.warnings(i.Warnings)
	default:
		t.sizes(i)
	}
	if !many && !t.quiet {
		t.blank()
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

func (p *page) sizes(t told) {
	if s := t.Sizes; s != nil {
		p.row("size", fmt.Sprintf("%s → %s, %s", size(s.Before.Bytes), size(s.After.Bytes), change(s.Before.Bytes, s.After.Bytes)))
		p.row("tokens", fmt.Sprintf("%s → %s, %s (estimated)", count(s.Before.Tokens), count(s.After.Tokens), change(s.Before.Tokens, s.After.Tokens)))
	}
	if t.Report != nil {
		p.report(t.Report)
	}
	for _, f := range t.Outputs {
		p.path(outputLabel(f), f.Path, stands(f))
	}
}

func (p *page) report(r *compress.Report) {
	s := r.Partition
	p.row("records", fmt.Sprintf("%s folded, %s kept raw, %s beside them, %s control", count(s.Summary.Count), count(s.Raw.Count), count(s.Side.Count), count(s.Control.Count)))
	p.row("excluded", fmt.Sprintf("%s of other branches, %s unattributed", count(s.ExcludedBranch.Count), count(s.ExcludedUnattributed.Count)))
	p.row("cut", fmt.Sprintf("line %s is the first that is kept raw", count(r.Cut.Line)))
	p.gates(r.Gates)
	p.warnings(r.Warnings)
}

func outputLabel(f step.Published) string {
	switch {
	case f.Op == step.Backup:
		return "backup"
	case f.Old != nil:
		return "session"
	}
	return "new file"
}

// stands says what publishing did, where it did not simply create a file.
func stands(f step.Published) string {
	switch f.Op {
	case step.Keep:
		return " (in place already, byte for byte)"
	case step.Replace:
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
func (p *page) itemTable(items []engine.ItemResult) {
	columns := []column{
		{head: "session", stretch: true}, {head: "status"}, {head: "bytes", right: true}, {head: "after", right: true},
		{head: "change", right: true}, {head: "tokens", right: true}, {head: "after", right: true},
	}
	rows := make([][]string, len(items))
	for i, r := range items {
		rows[i] = []string{filepath.Base(r.Session), string(r.Status), "", "", "", "", ""}
		if s := r.Sizes; s != nil {
			copy(rows[i][2:], []string{size(s.Before.Bytes), size(s.After.Bytes), signed(s.Before.Bytes, s.After.Bytes), count(s.Before.Tokens), count(s.After.Tokens)})
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
func (p *page) totals(items []engine.ItemResult) {
	counts := map[step.Status]int{}
	var before, after int64
	for _, i := range items {
		counts[i.Status]++
		if i.Sizes != nil && (i.Status == step.Done || i.Status == step.UpToDate) {
			before, after = before+i.Sizes.Before.Bytes, after+i.Sizes.After.Bytes
		}
	}
	text := tally(counts)
	if before > 0 {
		text += fmt.Sprintf("; %s → %s, %s", size(before), size(after), change(before, after))
	}
	if len(items) > manyItems {
		p.blank()
	}
	p.text(text)
}

// tally counts items by status.
func tally(counts map[step.Status]int) string {
	var parts []string
	for _, s := range []step.Status{step.Done, step.UpToDate, step.WouldRun, step.Refused, step.Failed, step.Waiting, step.Interrupted} {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", count(n), strings.ReplaceAll(string(s), "-", " ")))
		}
	}
	return strings.Join(parts, ", ")
}

// whatNext says where everything is and how to go on from a new file.
func (t *teller) whatNext(result engine.Result) {
	var places []string
	replaced := false
	for _, i := range result.Items {
		for _, f := range i.Outputs {
			replaced = replaced || f.Old != nil
			if place := filepath.Dir(f.Path); !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	t.blank()
	if len(result.Items) > manyItems && !replaced {
		for i, place := range places {
			t.path([]string{"new files", ""}[min(i, 1)], place, "")
		}
	}
	t.path("run", result.Run, "")
	t.path("details", t.command("show", result.Run), "")
	switch {
	case replaced:
		t.path("undo", t.command("restore", result.Run), "")
		t.row("next", "Resume the sessions as usual.")
	case len(places) > 0:
		t.row("next", "The sessions are as they were. To go on from a new file: close the client, move the session out of its project's folder to a place of your own, put the new file there under the session's name, and resume as usual. A job with publish.to: replace does that.")
	}
}

// effects lists what a dry run would have changed.
func (t *teller) effects(items []engine.ItemResult) {
	var rows [][]string
	for _, i := range items {
		for _, f := range i.Outputs {
			rows = append(rows, []string{string(f.Op), t.near(f.Path), size(f.Bytes), "sha256:" + f.SHA256[:16]})
		}
	}
	t.blank()
	if len(rows) > 0 {
		t.table(0, []column{{head: "would"}, {head: "file", stretch: true}, {head: "bytes", right: true}, {head: "digest"}}, rows)
		t.blank()
	}
	t.text("A dry run: nothing was written. The same command without --dry-run does this.")
}
