package modelsummary

import (
	"slices"
	"strings"
)

// Marker begins the metadata comment. Comments of other versions share markerName.
const (
	markerName = "<!-- claude-jsonl-compressor:model-summary"
	Marker     = markerName + " v11"
)

// Required headings, letter for letter.
const (
	Title           = "# Model-Assisted Semantic Compression Summary"
	EvidenceSection = "## Evidence and Source Anchors"
	CoverageHeading = "### Mandatory Evidence Coverage"
)

// Unknown is the one sentence that needs no citation.
const Unknown = "Unknown from provided anchors."

// Sections are the nine headings in their order.
var Sections = [...]string{
	"## Current State",
	"## Timeline and Supersessions",
	"## Decisions and Reasons",
	"## Assistant Research Decisions and Rationales",
	"## Rejected or Superseded Alternatives",
	EvidenceSection,
	"## User Wording and Constraints",
	"## Risks, Unknowns, and Follow-Ups",
	"## Recent Raw Context Boundary",
}

// Header is what binds a summary to its pack: the values of the metadata comment.
type Header struct {
	Source        string `json:"source_sha256"`
	SummarySource string `json:"summary_source_sha256"`
	Anchors       string `json:"evidence_anchor_lines_digest"`
	Groups        string `json:"required_anchor_groups_digest"`
	Handoff       string `json:"handoff_summary_digest"` // or the word none
	Request       string `json:"pack_request_digest"`
	Claims        string `json:"required_claim_sources_digest"`
}

type headerLine struct{ key, value string }

func (l headerLine) String() string { return l.key + ": " + l.value }

func (h Header) lines() []headerLine {
	return []headerLine{
		{"source_sha256", h.Source},
		{"summary_source_sha256", h.SummarySource},
		{"evidence_anchor_lines_digest", h.Anchors},
		{"required_anchor_groups_digest", h.Groups},
		{"handoff_summary_digest", h.Handoff},
		{"pack_request_digest", h.Request},
		{"required_claim_sources_digest", h.Claims},
	}
}

// Comment is the metadata comment without a line break at its end.
func (h Header) Comment() string {
	var b strings.Builder
	b.WriteString(Marker + "\n")
	for _, l := range h.lines() {
		b.WriteString(l.String() + "\n")
	}
	b.WriteString("-->")
	return b.String()
}

// Expect is what the pack asks of its summary. Record and handoff line numbers
// count from 1.
type Expect struct {
	Header        Header
	Records       int            // of the whole session
	Summary       []int          // records that the summary stands for, in any order
	Shown         []int          // those of them in the pack, ascending
	Groups        map[string]int // each wants its record cited
	HandoffLines  int
	HandoffGroups map[string]int
	Claims        map[int]string // record to the text its excerpt must come from
}

// shows reports whether the pack displays an anchor.
func (e *Expect) shows(a anchor) bool {
	if a.Handoff {
		return a.N >= 1 && a.N <= e.HandoffLines
	}
	_, found := slices.BinarySearch(e.Shown, a.N)
	return found
}

// leastAnchors is how many different records a summary must cite.
func (e *Expect) leastAnchors() int { return min(8, max(1, len(e.Shown)/80)) }
