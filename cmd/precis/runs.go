package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
)

func (c *cli) runsVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the state folder",
		Long: `runs lists the runs on record in the state folder, the newest last.

With --json: {"runs": [{"run", "status", "name", "file", "opened", "exit",
"items", "count", ...}]}.

EXIT STATUS
  0    listed
  1    the state folder cannot be read`,
		Example: `  precis runs
  precis runs --state nightly/.precis --json`,
		Args: between(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return c.runs() },
	}
}

func (c *cli) runs() error {
	list, err := c.engine().Runs()
	if err != nil {
		return err
	}
	if c.json {
		return writeJSON(c.out, map[string]any{"runs": list})
	}
	p := c.page()
	if len(list) == 0 {
		if !c.quiet {
			p.text("There are no runs in " + c.state + ".")
		}
		return p.err
	}
	p.runTable(list)
	for _, r := range list {
		if r.Problem != "" {
			p.unreadable(r)
		}
	}
	return p.err
}

// runTable is a row for each run. On a narrow page the time gives way: the runs
// are in its order.
func (p *page) runTable(list []engine.RunInfo) {
	ids := shortIDs(list)
	columns := []column{{head: "run"}, {head: "status"}, {head: "begun"}, {head: "job", stretch: true}, {head: "sessions", stretch: true}}
	rows := make([][]string, len(list))
	for i, r := range list {
		rows[i] = []string{ids[i], string(r.Status), minute(r.Opened), r.Name, summary(r)}
	}
	if p.width < plainWidth {
		columns = slices.Delete(columns, 2, 3)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
	}
	p.table(0, columns, rows)
}

// unreadable says what is wrong with the record of a run.
func (p *page) unreadable(r engine.RunInfo) {
	p.blank()
	p.title("run "+r.Run, string(r.Status))
	p.row("reason", joined(r.Problem))
	p.row("next", "Nothing was touched. What the run published stands where it is; precis run does what is missing.")
}

// shortIDs are the beginnings of ids by which runs can be named: the time in them,
// and more where it does not tell them apart.
func shortIDs(list []engine.RunInfo) []string {
	const least = len("01234567-89ab")
	ids := make([]string, len(list))
	for i := range list {
		n := least
		for _, other := range neighbours(list, i) {
			n = max(n, common(list[i].Run, other)+1)
		}
		ids[i] = list[i].Run[:min(n, len(list[i].Run))]
	}
	return ids
}

// neighbours are the ids beside one in the list, which is sorted.
func neighbours(list []engine.RunInfo, i int) (ids []string) {
	for _, n := range []int{i - 1, i + 1} {
		if n >= 0 && n < len(list) {
			ids = append(ids, list[n].Run)
		}
	}
	return ids
}

// common is the length of what two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// summary counts a run's items by how they ended.
func summary(r engine.RunInfo) string {
	if r.Problem != "" { // what could be read of it says less than it seems
		return ""
	}
	ended := 0
	for _, n := range r.Count {
		ended += n
	}
	text := tally(r.Count)
	if open := r.Items - ended; open > 0 {
		if text != "" {
			text += ", "
		}
		text += count(open) + " open"
	}
	return text
}

func minute(t time.Time) string { return stamp(t, "2006-01-02 15:04") }

func moment(t time.Time) string { return stamp(t, "2006-01-02 15:04:05") }

func stamp(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(layout)
}
