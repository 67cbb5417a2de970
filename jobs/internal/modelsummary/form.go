package modelsummary

import "strings"

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

// Least lengths, in characters.
const (
	MinChars   = 800 // of the whole text
	MinSupport = 12  // of an excerpt, where its record has as many
)

// Header is what binds a summary to its pack: the values of the metadata comment.
type Header struct {
	Source        string `json:"source"`
	SummarySource string `json:"summarySource"`
	Anchors       string `json:"anchors"`
	Groups        string `json:"groups"`
	Handoff       string `json:"handoff"` // or the word none
	Request       string `json:"request"`
	Claims        string `json:"claims"`
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
