// Package pairing checks that every tool call of a conversation has its result
// where a model's server wants it: in the user message right after the call's
// message. A session that breaks this is refused by the server at every further
// prompt.
//
// The fragments of one message.id count as one message, and so do the results
// that follow it, in whatever order they were written.
package pairing

import (
	"fmt"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Rules of this package.
const (
	UseWithoutResult = "tool-use-without-result"
	ResultWithoutUse = "tool-result-without-use"
	ResultMisplaced  = "tool-result-misplaced"
	DuplicateUse     = "duplicate-tool-use-id"
	DuplicateResult  = "duplicate-tool-result-id"
	MalformedID      = "malformed-tool-id"
	TextBeforeResult = "text-before-tool-result"
	PartialResults   = "partial-tool-results"
)

// Report is the outcome for one conversation.
type Report struct {
	Uses, Results int
	// Partial counts calls without a result in a turn that has other results: the
	// client leaves such a call out.
	Partial  int
	Findings []finding.Finding
}

// message is one API message: the records of one turn's side.
type message struct {
	id        transcript.Sym // message.id of an assistant message
	assistant bool
	records   []int
	text      bool // holds something else than tool results
}

// checker carries one check.
type checker struct {
	x      *transcript.Index
	report Report
	use    map[transcript.Sym]int  // message position of a call
	result map[transcript.Sym]bool // answered calls
}

// Check checks the active records, in their order.
func Check(x *transcript.Index, active []int) Report {
	c := &checker{x: x, use: map[transcript.Sym]int{}, result: map[transcript.Sym]bool{}}
	messages := merge(x, active)
	for pos, m := range messages {
		for _, r := range m.records {
			c.record(messages, pos, r)
		}
	}
	for _, m := range messages {
		c.open(m)
	}
	finding.Sort(c.report.Findings)
	return c.report
}

// merge builds the API messages. Fragments of one message.id are one message
// even when results stand between them; so are the user records in a row.
func merge(x *transcript.Index, active []int) []message {
	var ms []message
	assistant := map[transcript.Sym]int{}
	for _, r := range active {
		rec := &x.Records[r]
		command := rec.Type == transcript.System && x.Name(rec.Subtype) == "local_command" // sent as the person's words
		if !command && (!rec.API() || rec.ErrorRow()) {
			continue
		}
		n := len(ms)
		if rec.Type == transcript.Assistant {
			at, seen := assistant[rec.Message]
			if seen && rec.Message != 0 && (at == n-1 || at == n-2 && !ms[n-1].text) {
				ms[at].records = append(ms[at].records, r)
				continue
			}
			assistant[rec.Message] = n
			ms = append(ms, message{id: rec.Message, assistant: true, records: []int{r}})
			continue
		}
		text := !x.HasTool(r, transcript.Result) || rec.Has(transcript.OtherBlock)
		if n > 0 && !ms[n-1].assistant {
			ms[n-1].records = append(ms[n-1].records, r)
			ms[n-1].text = ms[n-1].text || text
			continue
		}
		ms = append(ms, message{records: []int{r}, text: text})
	}
	return ms
}

// record books the blocks of one record.
func (c *checker) record(ms []message, pos, r int) {
	if c.x.Records[r].Has(transcript.LateResult) {
		c.fault(r, TextBeforeResult, "a tool result stands behind another block of its record", "")
	}
	for _, t := range c.x.ToolsOf(r) {
		switch t.Kind {
		case transcript.Use:
			c.bookUse(ms, pos, r, t)
		case transcript.Result:
			c.bookResult(ms, pos, r, t)
		}
	}
}

func (c *checker) bookUse(ms []message, pos, r int, t transcript.Tool) {
	c.report.Uses++
	_, seen := c.use[t.ID]
	switch {
	case t.ID == 0 || !ms[pos].assistant:
		c.fault(r, MalformedID, "a tool call without a usable id", "")
	case seen:
		c.fault(r, DuplicateUse, "the id of this tool call was used before", c.x.Name(t.ID))
	default:
		c.use[t.ID] = pos
	}
}

func (c *checker) bookResult(ms []message, pos, r int, t transcript.Tool) {
	c.report.Results++
	at, called := c.use[t.ID]
	switch {
	case t.ID == 0 || ms[pos].assistant:
		c.fault(r, MalformedID, "a tool result without a usable id", "")
	case c.result[t.ID]:
		c.fault(r, DuplicateResult, "this tool call has a result already", c.x.Name(t.ID))
	case !called:
		c.fault(r, ResultWithoutUse, "no call before it has this id", c.x.Name(t.ID))
	case at != pos-1:
		c.fault(r, ResultMisplaced, "other messages stand between the call and this result", c.x.Name(t.ID))
	}
	c.result[t.ID] = true
}

// open reports the calls of a message that nothing answers.
func (c *checker) open(m message) {
	if !m.assistant {
		return
	}
	var missing []transcript.Tool
	answered := 0
	for _, r := range m.records {
		for _, t := range c.x.ToolsOf(r) {
			if t.Kind != transcript.Use {
				continue
			}
			if c.result[t.ID] {
				answered++
			} else {
				missing = append(missing, t)
			}
		}
	}
	for _, t := range missing {
		if answered > 0 {
			c.report.Partial++
			c.warn(int(t.Record), PartialResults, "this call of a parallel group has no result; clients leave it out or answer it themselves", c.x.Name(t.ID))
			continue
		}
		c.fault(int(t.Record), UseWithoutResult, "this tool call has no result; the model's server refuses every further prompt", c.x.Name(t.ID))
	}
}

func (c *checker) fault(r int, rule, message, id string) {
	c.add(r, rule, finding.Error, message, id, "choose an end before it with mode.chain: leaf, or mend the exchange in a copy")
}

func (c *checker) warn(r int, rule, message, id string) {
	c.add(r, rule, finding.Warning, message, id, "")
}

func (c *checker) add(r int, rule string, sev finding.Severity, message, id, fix string) {
	if id != "" {
		message = fmt.Sprintf("%s (%s)", message, id)
	}
	c.report.Findings = append(c.report.Findings, finding.At(c.x, r, finding.Finding{
		Rule: rule, Severity: sev, Message: message, Fix: fix,
	}))
}
