package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
)

// itemTable is one row for each item that came to an end. On a narrow page the
// tokens give way.
func (p *page) itemTable(items []engine.ItemResult) {
	columns := []column{
		{head: "session", stretch: true}, {head: "status"}, {head: "bytes", right: true}, {head: "after", right: true},
		{head: "change", right: true}, {head: "tokens", right: true}, {head: "after", right: true},
	}
	var rows [][]string
	for _, r := range items {
		if left(r) {
			continue
		}
		row := []string{filepath.Base(r.Session), string(r.Status), "", "", "", "", ""}
		if s := r.Sizes; s != nil {
			copy(row[2:], []string{size(s.Before.Bytes), size(s.After.Bytes), signed(s.Before.Bytes, s.After.Bytes), count(s.Before.Tokens), count(s.After.Tokens)})
		}
		if p.width < plainWidth {
			row = row[:5]
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		p.table(0, columns[:len(rows[0])], rows)
	}
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
	if len(items) > manyItems && !p.first() {
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

// whatNext says where everything is and what to do now.
func (t *teller) whatNext(result engine.Result) {
	t.blank()
	if places := t.places(result.Items); len(result.Items) > manyItems {
		for i, place := range places {
			t.path([]string{"new files", ""}[min(i, 1)], place, "")
		}
	}
	t.path("run", result.Run, "")
	t.path("details", t.command("show", result.Run), "")
	if t.task != restoring && slices.ContainsFunc(result.Items, t.replaced) {
		t.path("undo", t.command("restore", result.Run, "--session-closed"), "")
	}
	if t.until != "" && t.runID != "" && slices.ContainsFunc(result.Items, came) {
		t.row("until", t.until+": what comes behind it was not done")
		if t.until == "pack" {
			t.path("evidence", t.command("show", t.runID, "SESSION", "--pack"), "")
		}
		return
	}
	if text := t.next(result); text != "" {
		t.row("next", text)
	}
}

// came tells whether an item came to the step that was asked for.
func came(i engine.ItemResult) bool { return i.Status == step.Done || i.Status == step.UpToDate }

// places are the folders that have new files.
func (t *teller) places(items []engine.ItemResult) (places []string) {
	for _, i := range items {
		for _, f := range i.Outputs {
			place := filepath.Dir(f.Path)
			if f.Result() && !t.inPlace(f, i.Session) && !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return places
}

// replaced tells whether an item's session was changed.
func (t *teller) replaced(i engine.ItemResult) bool {
	return slices.ContainsFunc(i.Outputs, func(f step.Published) bool { return f.Op == step.Replace && t.inPlace(f, i.Session) })
}

// useNew is how a person goes on from a new file.
const useNew = "The sessions are as they were. To go on from a new file: close the client, move the session out of its project's folder to a place of your own, put the new file there under the session's name, and resume as usual. A job with publish.to: replace does that."

func (t *teller) next(result engine.Result) string {
	open := 0
	for _, i := range result.Items {
		if left(i) {
			open++
		}
	}
	changed := slices.ContainsFunc(result.Items, t.replaced)
	switch {
	case t.task == resuming && !t.began:
		return "Nothing to do: the run had finished. precis run looks at the sessions anew."
	case open > 0 && t.interrupted:
		return "" // the last line says it
	case open > 0:
		return t.command("resume", result.Run) + " does the " + counted(open, "session that is", "sessions that are") + " left."
	case t.task == restoring && changed:
		return "The old sessions are in their places again: resume them as usual. What stood there is kept as the backup that is named above."
	case t.task == restoring:
		return ""
	case changed:
		return "Resume the sessions as usual."
	case len(t.places(result.Items)) > 0:
		return useNew
	case !slices.ContainsFunc(result.Items, func(i engine.ItemResult) bool { return i.Status != step.UpToDate }):
		return "Nothing to do: nothing has changed since the run that did this."
	}
	return ""
}

// effects lists what a dry run would have changed.
func (t *teller) effects(items []engine.ItemResult) {
	t.blank()
	if len(items) > tableItems {
		t.effectTotals(items)
	} else {
		t.effectTable(items)
	}
	if slices.ContainsFunc(items, func(i engine.ItemResult) bool { return i.Open }) {
		t.text("A dry run: nothing was written, and nobody was asked for a summary. The same command without --dry-run does both.")
		return
	}
	t.text("A dry run: nothing was written. The same command without --dry-run does this.")
}

func (t *teller) effectTable(items []engine.ItemResult) {
	var rows [][]string
	for _, i := range items {
		for _, f := range i.Outputs {
			rows = append(rows, []string{string(f.Op), t.near(f.Path), size(f.Bytes), f.SHA256[:min(16, len(f.SHA256))]})
		}
	}
	if len(rows) > 0 {
		t.table(0, []column{{head: "would"}, {head: "file", stretch: true}, {head: "bytes", right: true}, {head: "sha256"}}, rows)
		t.blank()
	}
}

// effectTotals sums up what is too much to list.
func (t *teller) effectTotals(items []engine.ItemResult) {
	files, bytes := map[step.Op]int{}, map[step.Op]int64{}
	for _, i := range items {
		for _, f := range i.Outputs {
			files[f.Op]++
			bytes[f.Op] += f.Bytes
		}
	}
	var rows [][]string
	for _, op := range slices.Sorted(maps.Keys(files)) {
		rows = append(rows, []string{string(op), count(files[op]), size(bytes[op])})
	}
	if len(rows) > 0 {
		t.table(0, []column{{head: "would"}, {head: "files", right: true}, {head: "bytes", right: true}}, rows)
		t.text("With --json each of them is listed, with its digest.")
		t.blank()
	}
}
