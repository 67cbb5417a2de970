package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis/jobs/inspect"
)

// shownBranches and shownNames bound lists; the JSON has all of them.
const (
	shownBranches = 10
	shownNames    = 12
)

// inspection prints what is in a file, the most telling first; words says whether
// text of it may be shown.
func (p *page) inspection(r *inspect.Report, words bool) {
	p.title(r.File, "")
	p.framing(r)
	p.blank()
	p.chain(r)
	p.clients(r, words)
	p.branches(r.Branches)
	p.blank()
	if r.Chain.Status == "valid" {
		p.partition(r.Partition)
	}
	p.tools(r)
	p.blank()
	p.types(r)
	p.causes(r)
	p.secrets(r.Secrets)
	p.findings(r)
}

func (p *page) framing(r *inspect.Report) {
	p.row("file", fmt.Sprintf("%s, %s, sha256 %.16s", size(r.Bytes), counted(r.Records, "record", "records"), r.SHA256))
	p.row("agent", strings.TrimSpace(r.Agent+" "+strings.Join(r.Versions, ", ")))
	text := fmt.Sprintf("%s, the longest has %s", counted(r.Lines.Count, "line", "lines"), size(int64(r.Lines.Longest)))
	for _, odd := range []struct {
		is   bool
		what string
	}{
		{r.Lines.Blank > 0, counted(r.Lines.Blank, "blank line", "blank lines")},
		{r.Lines.BOM, "a byte order mark"},
		{r.Lines.CRLF, "CRLF line ends"},
	} {
		if odd.is {
			text += ", " + odd.what
		}
	}
	p.row("lines", text)
}

// chainWords says what a status of the chain means for a person.
var chainWords = map[string]string{
	"valid":            "the conversation can be resumed as it stands",
	"absent":           "the file does not say where the conversation ends",
	"malformed":        "the last pointer names no message",
	"dangling":         "a record that the conversation needs is not in the file",
	"loop":             "records of the conversation are their own ancestors",
	"duplicate-uuid":   "two records have one uuid, so references are ambiguous",
	"refused":          "the client would not resume the session",
	"malformed-parent": "a record's link to its parent is no uuid",
	"non-monotonic":    "a record stands before its parent",
	"session-mismatch": "records of different sessions are mixed",
}

func (p *page) chain(r *inspect.Report) {
	c := r.Chain
	words := chainWords[c.Status]
	if d := c.Differs; d != nil {
		words = fmt.Sprintf("by the file's own pointer; client %s resumes otherwise, by %s and %s", d.Client, counted(d.Messages, "message", "messages"), counted(d.Turns, "turn", "turns"))
		if d.Refused != "" {
			words = fmt.Sprintf("by the file's own pointer; client %s would not resume it", d.Client)
		}
	}
	p.row("chain", strings.TrimSuffix(c.Status+": "+words, ": "))
	if c.Status != "valid" {
		p.brokenChain(r)
	} else {
		p.row("", fmt.Sprintf("%s, %s tokens (estimated); it ends at line %s", counted(c.Length, "record", "records"), count(r.Tokens), count(c.LeafLine)))
	}
	if c.Recovered > 0 {
		p.row("", counted(c.Recovered, "record", "records")+" of parallel tool calls beside the plain walk belong to it")
	}
	if c.Sessions > 1 {
		p.row("", fmt.Sprintf("it goes through %d sessions", c.Sessions))
	}
	if c.Leaf != "" {
		p.row("leaf", c.Leaf)
	}
	p.pointers(r.Pointers)
	p.rows("uuids", c.UUIDs)
}

// brokenChain says how far the chain goes; the findings say what to do.
func (p *page) brokenChain(r *inspect.Report) {
	if r.Chain.Reached > 0 {
		p.row("", counted(r.Chain.Reached, "record hangs", "records hang")+" together up to the break")
	}
	for _, f := range r.Findings {
		if f.Rule == r.Chain.Status && f.Fix != "" {
			p.row("", "what to do: "+f.Fix)
			return
		}
	}
	p.row("", "what to do: see the errors below")
}

func (p *page) pointers(ptr inspect.Pointers) {
	if ptr.Count == 0 {
		return
	}
	text := fmt.Sprintf("%s, the last at line %s", count(ptr.Count), count(ptr.Line))
	if ptr.After > 0 {
		text += ", " + counted(ptr.After, "message goes", "messages go") + " on after it"
	}
	p.row("pointers", text)
}

func (p *page) branches(all []inspect.Branch) {
	if len(all) == 0 {
		return
	}
	p.row("branches", count(len(all))+" beside the conversation")
	for _, b := range all[:min(len(all), shownBranches)] {
		origin := "with a root of its own"
		if b.Fork > 0 {
			origin = "from line " + count(b.Fork)
		}
		kind := ""
		if b.Kind != "branch" {
			kind = b.Kind + " "
		}
		p.row("", fmt.Sprintf("%sto line %s, %s, %s", kind, count(b.Line), counted(b.Records, "record", "records"), origin))
	}
	if more := len(all) - shownBranches; more > 0 {
		p.row("", fmt.Sprintf("and %s more", count(more)))
	}
}

func (p *page) partition(s inspect.Partition) {
	p.row("partition", fmt.Sprintf("a job with default budgets would fold %s, keep %s raw, carry %s beside them and %s",
		count(s.Summary), count(s.Raw), count(s.Side), counted(s.Control, "control record", "control records")))
	p.row("", fmt.Sprintf("excluded: %s of other branches, %s unattributed", count(s.ExcludedBranch), count(s.ExcludedUnattributed)))
}

func (p *page) tools(r *inspect.Report) {
	text := fmt.Sprintf("%s, %s", counted(r.Tools.Uses, "call", "calls"), counted(r.Tools.Results, "result", "results"))
	if r.Tools.Partial > 0 {
		text += fmt.Sprintf(", %s of them partial", count(r.Tools.Partial))
	}
	p.row("tools", text)
	var names []string
	for _, n := range r.Tools.Names[:min(len(r.Tools.Names), shownNames)] {
		names = append(names, fmt.Sprintf("%s %s", n.Name, count(n.Calls)))
	}
	if more := len(r.Tools.Names) - shownNames; more > 0 {
		names = append(names, fmt.Sprintf("and %s more", count(more)))
	}
	if len(names) > 0 {
		p.row("", strings.Join(names, ", "))
	}
	p.row("usage", fmt.Sprintf("%s, %s output tokens by the service's count", counted(r.Usage.Messages, "answer", "answers"), count(r.Usage.OutputTokens)))
	if r.Errors > 0 {
		p.row("", counted(r.Errors, "error row", "error rows")+" of the client itself, which cost no tokens")
	}
}

func (p *page) types(r *inspect.Report) {
	columns := []column{
		{head: "type", stretch: true}, {head: "records", right: true}, {head: "bytes", right: true},
		{head: "share", right: true}, {}, {head: "tokens", right: true},
	}
	rows := make([][]string, len(r.Types))
	for i, t := range r.Types {
		part := share(t.Bytes, r.Bytes)
		cells := bar(part, 12)
		rows[i] = []string{t.Type, count(t.Records), count(t.Bytes), fmt.Sprintf("%.1f %%", part*100), cells + pad(cells, 12), count(t.Tokens)}
	}
	p.table(2, columns, rows)
}

// cause is what makes a file large without being conversation.
type cause struct {
	bytes int64
	what  string
}

func causes(r *inspect.Report) []cause {
	c := r.Causes
	twice := "tool output that stands twice in its record"
	if r.Double != nil {
		twice += fmt.Sprintf(", the most at line %s", count(r.Double.Line))
	}
	list := []cause{
		{c.ToolUseResult, "toolUseResult: structured copies of tool output, never sent"},
		{c.DoubleOutput, twice},
		{c.Images, "images and documents"},
		{c.Signatures, "signatures of thinking"},
		{c.ProgressPayload, "progress records"},
		{c.NormalizedCopy, "normalizedMessages: copies of messages in progress records"},
		{c.Snapshots, "file history snapshots"},
	}
	list = slices.DeleteFunc(list, func(c cause) bool { return c.bytes == 0 })
	slices.SortStableFunc(list, func(a, b cause) int { return cmp.Compare(b.bytes, a.bytes) })
	return list
}

func (p *page) causes(r *inspect.Report) {
	var texts []string
	for _, c := range causes(r) {
		texts = append(texts, fmt.Sprintf("%s of %s", size(c.bytes), c.what))
	}
	p.part("causes", texts)
}

// part is rows set apart, if there are any.
func (p *page) part(label string, texts []string) {
	if len(texts) > 0 {
		p.blank()
	}
	p.rows(label, texts)
}

func (p *page) secrets(all []inspect.Secret) {
	var texts []string
	for _, s := range all {
		lines := make([]string, len(s.Lines))
		for i, n := range s.Lines {
			lines[i] = count(n)
		}
		texts = append(texts, fmt.Sprintf("%s × %s, line %s", count(s.Count), s.Kind, strings.Join(lines, ", ")))
	}
	p.part("secrets", texts)
}

// findings tells each rule that was broken once, with its first place; validate
// lists every one.
func (p *page) findings(r *inspect.Report) {
	times := map[string]int{}
	for _, f := range r.Findings {
		times[f.Rule]++
	}
	if len(times) > 0 {
		p.blank()
	}
	for _, f := range r.Findings {
		n := times[f.Rule]
		if delete(times, f.Rule); n == 0 {
			continue
		}
		text := f.Rule + ": " + f.Message
		if f.Line > 0 {
			text = fmt.Sprintf("line %s: %s", count(f.Line), text)
		}
		if n > 1 {
			text += fmt.Sprintf(" (and %s more of these)", count(n-1))
		}
		p.row(string(f.Severity), text)
		if f.Fix != "" && f.Rule != r.Chain.Status { // told with the chain
			p.row("", "fix: "+f.Fix)
		}
	}
}
