package modelsummary

import (
	"cmp"
	"slices"
)

// Rules. Each names one thing that can be wrong.
const (
	Empty        = "empty"         // there is no text
	NoSummary    = "no-summary"    // a text that is something else
	Encoding     = "encoding"      // bytes that are no UTF-8
	Control      = "control"       // characters that are none to read
	TooShort     = "too-short"     // fewer than 800 characters
	TooLong      = "too-long"      // more than the room there is for it
	FenceOpen    = "fence-open"    // a code fence that is not closed
	Comment      = "comment"       // an HTML comment in the body
	NoAccess     = "no-access"     // the author speaks of what it is or cannot see
	LineUncited  = "line-uncited"  // a line that cites nothing
	CodeUncited  = "code-uncited"  // fenced code that no line beside it supports
	UnknownForm  = "unknown-form"  // the placeholder within a longer line
	AnchorForm   = "anchor-form"   // an anchor spelled as the pack spells none
	AnchorRange  = "anchor-range"  // a number that no record or line has
	AnchorKept   = "anchor-kept"   // a record that the summary does not stand for
	AnchorHidden = "anchor-hidden" // a record that the pack does not show
	AnchorsFew   = "anchors-few"   // too few different records cited

	MetadataMissing  = "metadata-missing"
	MetadataFirst    = "metadata-first"   // text before the comment
	MetadataVersion  = "metadata-version" // a first line that is not that of v11
	MetadataUnclosed = "metadata-unclosed"
	MetadataLacks    = "metadata-lacks"    // a line of the comment is missing
	MetadataUnknown  = "metadata-unknown"  // a line that the pack's comment has not
	MetadataRepeated = "metadata-repeated" // the same key twice
	MetadataValue    = "metadata-value"    // another value than the pack's
	MetadataForm     = "metadata-form"     // the right value, not letter for letter
	MetadataOrder    = "metadata-order"
	MetadataAgain    = "metadata-again" // a second metadata comment

	HeadingMissing  = "heading-missing"
	HeadingForm     = "heading-form"    // a required heading, not letter for letter
	HeadingRenamed  = "heading-renamed" // another one in its place
	HeadingRepeated = "heading-repeated"
	HeadingOrder    = "heading-order"
	HeadingExtra    = "heading-extra"
	SectionUncited  = "section-uncited" // a section without a citation

	CoverageMissing   = "coverage-missing"   // the subsection is
	CoverageMisplaced = "coverage-misplaced" // it stands in another section
	CoverageForm      = "coverage-form"      // a line of it that is no coverage line
	CoverageOutside   = "coverage-outside"   // a coverage line elsewhere
	CoverageUnknown   = "coverage-unknown"   // a record that asks for none
	CoverageTwice     = "coverage-twice"     // a record that has one already
	CoverageLacks     = "coverage-lacks"     // records that have none
	SupportBlank      = "support-blank"      // an excerpt that says nothing
	SupportShort      = "support-short"      // one too short to tell anything
	SupportForeign    = "support-foreign"    // one that is not in its record

	GroupUncited   = "group-uncited"   // required records that nothing cites
	HandoffUncited = "handoff-uncited" // required handoff lines that nothing cites
)

// Problem is one thing wrong with a summary. Message and Fix never hold the
// summary's words or the session's; Quote is for the author, who wrote them.
type Problem struct {
	Rule    string   `json:"rule"`
	Line    int      `json:"line"`             // from 1; of something missing, where it belongs
	Column  int      `json:"column,omitempty"` // in characters, from 1
	Message string   `json:"message"`
	Fix     string   `json:"fix"`
	Anchors []string `json:"anchors,omitempty"` // all that Message speaks of
	Quote   string   `json:"quote,omitempty"`   // the line's beginning
}

func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
	})
}
