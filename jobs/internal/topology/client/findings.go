package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// refusedBecause says why a client refuses a session, and what to do.
var refusedBecause = map[string][2]string{
	NullLine:         {"a line of the file is the bare word null", "take the line out of a copy"},
	NoConversation:   {"the file holds no conversation", ""},
	SidechainPointer: {"the last pointer names a record of a helper's chain", "append a last-prompt record to a copy that names the last message"},
	NoTimestamp:      {"the last message has no timestamp", "write one in a copy"},
	NoContent:        {"a message of the conversation has no content that can be read", "precis validate shows it"},
}

// Findings are the deviations from the plain file: everything that the client
// bridges, cuts, revives, moves, drops or invents. What is lost by it, [Losses]
// tells.
func (r *Resolution) Findings() []finding.Finding {
	t := &teller{r: r, x: r.g.x}
	if r.Refused != "" {
		t.refused(r, finding.Error)
		return t.found
	}
	t.pointer()
	t.breaks()
	t.preserved()
	t.revived()
	t.mended()
	finding.Sort(t.found)
	return t.found
}

// teller collects findings.
type teller struct {
	r     *Resolution
	x     *transcript.Index
	found []finding.Finding
}

func (t *teller) add(r int, rule string, sev finding.Severity, message, fix string) {
	t.found = append(t.found, finding.At(t.x, r, finding.Finding{Rule: rule, Severity: sev, Message: message, Fix: fix}))
}

// refused tells that a client does not resume the session.
func (t *teller) refused(r *Resolution, sev finding.Severity) {
	why := refusedBecause[r.Refused]
	if r.Refused == NoConversation {
		sev = finding.Note
	}
	t.add(-1, "client-refuses", sev, fmt.Sprintf("client %s does not resume the session: %s", r.Client, why[0]), why[1])
}

func (t *teller) line(r int) int { return int(t.x.Records[r].Line) }

// pointer tells a leaf that is not where the last pointer is.
func (t *teller) pointer() {
	r := t.r
	switch {
	case r.LeafReason == ExplicitPointer:
		t.add(r.Pointer, "client-cuts", finding.Note, fmt.Sprintf("an explicit pointer ends the conversation at line %d", t.line(r.Leaf)), "")
	case r.Pointer >= 0 && r.Target < 0:
		t.add(r.Pointer, "client-ignores-pointer", finding.Note, fmt.Sprintf("the pointer names no record that is loaded; the conversation ends at line %d", t.line(r.Leaf)), "")
	case r.LeafReason == PastGroup:
		t.add(r.Pointer, "client-passes-pointer", finding.Note, fmt.Sprintf("the pointer lies within a group of tool calls; the conversation goes on to line %d", t.line(r.Leaf)), "")
	case r.LeafReason == PointerLeaf && r.Last > r.Leaf && !r.Holds(r.Last):
		t.add(r.Pointer, "client-ends-at-pointer", finding.Note, fmt.Sprintf("the pointer holds the conversation at line %d; the last record of the file is at line %d", t.line(r.Leaf), t.line(r.Last)), "")
	}
}

func (t *teller) breaks() {
	for _, b := range t.r.Breaks {
		what := "the parent is not in the file"
		if b.Circle {
			what = "the parents form a circle"
		}
		if b.Parent >= 0 {
			t.add(b.Child, "client-bridges", finding.Warning, fmt.Sprintf("%s; the client goes on at line %d, the newest record of the five seconds before", what, t.line(b.Parent)), "set parentUuid in a copy, so that it does not hang on the time")
		} else {
			t.add(b.Child, "client-cuts", finding.Warning, what+"; the conversation begins here", "set parentUuid in a copy to the uuid of the record it goes on from")
		}
	}
}

func (t *teller) preserved() {
	n := 0
	for _, i := range t.r.Preserved {
		if i < t.r.g.kept.boundary {
			n++
		}
	}
	if n > 0 {
		t.add(t.r.g.kept.boundary, "client-preserves", finding.Note, counted(n, "record")+" that the client's compaction kept by reference, from before the boundary: taken behind it", "")
	}
}

// revived tells what is sent though the parent walk passes it by.
func (t *teller) revived() {
	on := make([]bool, len(t.x.Records))
	for _, i := range t.r.Line {
		on[i] = true
	}
	n, first := 0, -1
	for _, i := range t.r.Active {
		if on[i] {
			continue
		}
		if n++; first < 0 {
			first = i
		}
		if p := int(t.r.g.parent[i]); p < 0 || !t.r.Holds(p) {
			t.add(i, "client-revives", finding.Warning, "the record lies on another branch and is sent, because a call or a message of the conversation names it", "")
		}
	}
	if n > 0 {
		t.add(first, "client-completes", finding.Note, counted(n, "record")+" of tool groups beside the parent walk: sent with them", "")
	}
}

func (t *teller) mended() {
	for _, i := range t.r.Dropped {
		t.add(i, "client-drops", finding.Warning, "the record is part of the conversation and is not sent: its call or result has no counterpart, or it says nothing", "")
	}
	for _, i := range t.r.Invented {
		t.add(i.After, "client-adds", finding.Note, fmt.Sprintf("the client adds %q", i.Text), "")
	}
}

// lostBecause says what happens to conversation that is lost.
var lostBecause = map[string]string{
	AfterPointer:   "was written after the place where the conversation ends for the client",
	BehindBreak:    "stands before a broken link",
	BeforeBoundary: "stands before the last boundary of a file above 5 MiB and is not read",
	SecondOnLine:   "stands behind another record on its line and is not read",
	DamagedLine:    "cannot be read",
}

func (l Loss) lines() string {
	if l.First == l.Last {
		return fmt.Sprintf("line %d", l.First)
	}
	return fmt.Sprintf("lines %d to %d", l.First, l.Last)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Because says in words why it is lost.
func (l Loss) Because() string { return lostBecause[l.Reason] }

// Losses tells what clients do not bring back, those that lose the same together,
// and which of the others would not resume the session at all; the first tells
// that among its own findings.
func Losses(all ...*Resolution) []finding.Finding {
	t := &teller{r: all[0], x: all[0].g.x}
	for _, r := range all[1:] {
		if r.Refused != "" && all[0].Refused == "" {
			t.refused(r, finding.Warning)
		}
	}
	var losses []*sharedLoss
	for _, r := range all {
		for _, l := range r.Lost() {
			if l.Reason != WholeSession && len(l.Records) > 0 { // else said with the refusal, or as a damaged line
				losses = share(losses, l, r.Client)
			}
		}
	}
	for _, l := range losses {
		t.add(l.Records[0], "client-loses", finding.Warning, l.message(), "")
		t.found[len(t.found)-1].Turns = l.Turns
	}
	return t.found
}

// sharedLoss is what several clients lose.
type sharedLoss struct {
	Loss
	clients []string
}

// share books a loss with the one that is the same, if there is one.
func share(losses []*sharedLoss, l Loss, client string) []*sharedLoss {
	for _, s := range losses {
		if s.Reason == l.Reason && slices.Equal(s.Records, l.Records) {
			s.clients = append(s.clients, client)
			return losses
		}
	}
	return append(losses, &sharedLoss{l, []string{client}})
}

func (l *sharedLoss) message() string {
	who := "client " + l.clients[0] + " does"
	if len(l.clients) > 1 {
		who = "clients " + strings.Join(l.clients, " and ") + " do"
	}
	return fmt.Sprintf("%s not bring back %s (%s, %d bytes): what %s", who, counted(len(l.Records), "message"), l.lines(), l.Bytes, l.Because())
}
