package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
)

// How many items are told a block each, and in a table; how many that need
// attention have a block, and if there are more, how many of a kind.
const (
	manyItems  = 5
	tableItems = 100
	attention  = 10
	alike      = 3
)

// told is an item with its report, if it got that far.
type told struct {
	engine.ItemResult
	*compress.Report
}

// task is what was done with a run.
type task int

const (
	running task = iota
	dryRunning
	resuming
	restoring
)

// teller prints how runs ended.
type teller struct {
	*cli
	*page
	engine      *engine.Engine
	task        task
	runID       string
	began       bool   // whether there was anything to do
	until       string // the last step that was asked for, "" for all
	interrupted bool
	packs       map[string]*cas.Store // of runs, open
	open        map[string]engine.ItemDetail
}

// run prints how a run ended; with --quiet, what needs attention.
func (t *teller) run(ctx context.Context, result engine.Result, runErr error) error {
	t.packs, t.interrupted = map[string]*cas.Store{}, interrupted(ctx, result, runErr)
	defer t.close()
	if ctx.Err() != nil && t.bars { // the terminal has written ^C
		fmt.Fprintln(t.errOut)
	}
	if t.task == resuming && !t.began && runErr != nil { // not the record, but why it was left alone
		t.end(result, runErr)
		return t.err
	}
	t.runID = result.Run
	if t.task != resuming || t.began {
		t.items(result.Items)
	}
	if len(result.Items) > 0 && !t.quiet {
		t.totals(result.Items)
		if t.task == dryRunning {
			t.effects(result.Items)
		} else {
			t.whatNext(result)
		}
	}
	t.end(result, runErr)
	return t.err
}

// items prints the items: each in a block if they are few, else those that need
// attention.
func (t *teller) items(items []engine.ItemResult) {
	many := len(items) > manyItems
	if many && len(items) <= tableItems && !t.quiet {
		t.itemTable(items)
	}
	if many {
		t.needing(items)
		return
	}
	for _, r := range items {
		i := t.told(r)
		if !t.quiet || i.needs() != "" {
			t.item(i, false)
		}
	}
}

// needing prints those of many items that need attention: no more than a person
// reads, and of the rest how many there are of what.
func (t *teller) needing(items []engine.ItemResult) {
	rest, blocks := map[string]int{}, 0
	most := t.ofAKind(items)
	shown := map[string]int{}
	for _, r := range items {
		i := told{ItemResult: r}
		if r.Status == step.Done {
			i = t.told(r)
		}
		switch need := i.needs(); {
		case need == "":
		case blocks < attention && shown[need] < most:
			t.item(i, true)
			blocks++
			shown[need]++
		default:
			rest[need]++
		}
	}
	t.more(rest)
}

// ofAKind is how many items that need attention for the same have a block.
func (t *teller) ofAKind(items []engine.ItemResult) int {
	n := 0
	for _, r := range items {
		if r.Class != "" && !left(r) {
			n++
		}
	}
	if n > attention {
		return alike
	}
	return attention
}

// more says what had no room.
func (t *teller) more(rest map[string]int) {
	if len(rest) == 0 {
		return
	}
	var parts []string
	more := 0
	for _, need := range slices.Sorted(maps.Keys(rest)) {
		parts = append(parts, count(rest[need])+" "+need)
		more += rest[need]
	}
	t.blank()
	t.text("and " + count(more) + " more: " + strings.Join(parts, ", "))
}

// left tells an item that waits for the run to be resumed.
func left(i engine.ItemResult) bool { return i.Status == step.Interrupted }

func (t *teller) close() {
	for _, pack := range t.packs {
		_ = pack.Close()
	}
}

// interrupted tells whether a run was cut short: a signal may come when all is done.
func interrupted(ctx context.Context, result engine.Result, runErr error) bool {
	return ctx.Err() != nil && (result.Exit == exitInterrupted || runErr == nil && slices.ContainsFunc(result.Items, left))
}

// end says what ended the run as a whole.
func (t *teller) end(result engine.Result, runErr error) {
	switch {
	case t.interrupted && result.Run == "":
		t.complain(trouble{Message: "interrupted; nothing was changed", Next: "run the command again"})
	case t.interrupted:
		t.complain(trouble{Message: "interrupted; nothing half-written is left", Next: t.command("resume", result.Run)})
	case runErr != nil:
		t.complain(describe(runErr))
	}
}

// command is a command that works where this one did.
func (c *cli) command(verb string, args ...string) string {
	words := []string{"precis", verb}
	for _, a := range args {
		words = append(words, quoted(shortRun(a)))
	}
	if c.state != defaultState {
		words = append(words, "--state", quoted(c.state))
	}
	return strings.Join(words, " ")
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// quoted is a word for a POSIX shell.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// shortRun is enough of a run's id to name it by: the time, and of what is random
// as much as two runs in one millisecond need. Other texts stay as they are.
func shortRun(id string) string {
	const whole, enough = len("01234567-89ab-7def-0123-456789abcdef"), len("01234567-89ab-7def")
	if len(id) == whole && id[14] == '7' && strings.Count(id, "-") == 4 {
		return id[:enough]
	}
	return id
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

// told is an item with its report.
func (t *teller) told(r engine.ItemResult) told { return told{r, t.report(r)} }

// needs is what an item needs attention for, "" for nothing.
func (t told) needs() string {
	switch {
	case left(t.ItemResult):
		return "" // told for the run as a whole
	case !t.done():
		return t.Class
	case t.Report != nil && len(t.Warnings) > 0:
		return "done with warnings"
	}
	return ""
}

// item prints an item's block: among many what the table has no room for.
func (t *teller) item(i told, many bool) {
	if many && !t.first() {
		t.blank()
	}
	t.title(t.near(i.ItemResult.Session), i.status())
	switch {
	case i.Class == "interrupted": // told for the run as a whole
	case !i.done():
		t.refusal(i.ItemResult)
		t.evidence(i.ItemResult)
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
	p.row("reason", r.Class+": "+joined(r.Message))
	if at := r.Place.String(); at != "" {
		p.path("where", at, "")
	}
	for _, f := range r.Outputs {
		if f.Op == step.Remove {
			p.path("removed", f.Path, "")
		} else {
			p.path("file", f.Path, " is in place")
		}
	}
	if r.Next != "" {
		p.nextStep(r.Next)
	}
}

// nextStep says what to do. The command at its end has a line of its own, so that it
// can be copied.
func (p *page) nextStep(text string) {
	const resume = "precis resume "
	before, command, found := strings.Cut(text, ": "+resume)
	if !found {
		p.row("next", text)
		return
	}
	p.row("next", before+":")
	p.path("", resume+command, "")
}

// evidence says where a person finds what a summary is written from.
func (t *teller) evidence(r engine.ItemResult) {
	if !r.Open || t.runID == "" {
		return
	}
	if i, ok := t.leftOpen()[r.Item]; ok {
		t.evidenceOf(t.page, t.runID, &i)
	}
}

// leftOpen are the items that the run left open, by id. Its record is read once for all
// of them, when the first is told.
func (t *teller) leftOpen() map[string]engine.ItemDetail {
	if t.open != nil {
		return t.open
	}
	t.open = map[string]engine.ItemDetail{}
	d, err := t.engine.Show(t.runID)
	if err != nil { // the record is told of elsewhere
		return t.open
	}
	for _, i := range d.Detail {
		if i.Result == nil {
			t.open[i.Item] = i
		}
	}
	return t.open
}

func (t *teller) sizes(i told) {
	if s := i.Sizes; s != nil {
		t.row("size", fmt.Sprintf("%s → %s, %s", size(s.Before.Bytes), size(s.After.Bytes), change(s.Before.Bytes, s.After.Bytes)))
		t.row("tokens", fmt.Sprintf("%s → %s, %s (estimated)", count(s.Before.Tokens), count(s.After.Tokens), change(s.Before.Tokens, s.After.Tokens)))
	}
	same := i.ItemResult.Status == step.UpToDate
	if i.Report != nil && !same {
		t.gist(i.Report)
	}
	for _, f := range i.Outputs {
		t.output(f, i.ItemResult.Session, same)
	}
	if i.Receipt != "" {
		t.path("receipt", i.Receipt, "")
	}
}

// gist is what the report says in short.
func (p *page) gist(r *compress.Report) {
	s := r.Partition
	p.row("records", fmt.Sprintf("%s folded, %s kept raw, %s beside them, %s control", count(s.Summary.Count), count(s.Raw.Count), count(s.Side.Count), count(s.Control.Count)))
	p.row("excluded", fmt.Sprintf("%s of other branches, %s unattributed", count(s.ExcludedBranch.Count), count(s.ExcludedUnattributed.Count)))
	p.row("cut", fmt.Sprintf("line %s is the first that is kept raw", count(r.Cut.Line)))
	p.gates(r.Gates)
	p.authors(r.Summary.Authors)
	p.warnings(r.Warnings)
}

// authors says who wrote the summary, and what it took.
func (p *page) authors(all map[string]*compress.Account) {
	last := all["author"]
	if last == nil {
		return
	}
	asked, in, out := 0, int64(0), int64(0)
	for _, a := range all {
		asked, in, out = asked+a.Asked, in+a.InputTokens, out+a.OutputTokens
	}
	text := last.By
	if last.Model != "" {
		text += ", " + last.Model
	}
	switch {
	case last.By == "file" && asked > 1:
		text += ", " + count(asked) + " answers in all"
	case last.By == "file":
	case asked == 1:
		text += ", asked once"
	default:
		text += ", asked " + count(asked) + " times"
	}
	if in+out > 0 {
		text += fmt.Sprintf("; %s tokens read, %s written", count(in), count(out))
	}
	p.row("author", text)
}

// output says what became of a file. The session's own name is the block's title.
func (t *teller) output(f step.Published, session string, same bool) {
	switch {
	case f.Op == step.Backup:
		t.path("backup", f.Path, "")
	case f.Op == step.Remove:
		t.path("removed", f.Path, "")
	case t.inPlace(f, session):
		t.row("session", t.becameOf(f))
	case f.Op == step.Keep && !same:
		t.path("new file", f.Path, " (in place already, byte for byte)")
	case f.Op == step.Replace:
		t.path("new file", f.Path, " (replaced)")
	default:
		t.path("new file", f.Path, "")
	}
}

// becameOf says what stands under a session's name.
func (t *teller) becameOf(f step.Published) string {
	old := t.task == restoring
	switch {
	case f.Op == step.Keep && old:
		return "the old one stands already"
	case f.Op == step.Keep:
		return "as an earlier run left it"
	case t.task == dryRunning:
		return "would be replaced by the new one"
	case old:
		return "the old one is in its place again"
	}
	return "the new one is in its place"
}

// inPlace tells whether a file stands under the session's own name.
func (p *page) inPlace(f step.Published, session string) bool {
	return f.Old != nil || p.whole(f.Path) == p.whole(session)
}

// whole is a path from the root.
func (p *page) whole(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.dir, path)
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
