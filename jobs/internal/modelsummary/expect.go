package modelsummary

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Expect is what the pack asks of its summary. Record and handoff line numbers
// count from 1. As JSON it can be kept until the summary is written.
type Expect struct {
	Header        Header         `json:"header"`
	Records       int            `json:"records"` // of the whole session
	Summary       []int          `json:"summary"` // records that the summary stands for, in any order
	Shown         []int          `json:"shown"`   // those of them in the pack, ascending
	Groups        map[string]int `json:"groups"`  // each wants its record cited
	HandoffLines  int            `json:"handoffLines"`
	HandoffGroups map[string]int `json:"handoffGroups"`
	Claims        map[int]string `json:"claims"` // record to the text its excerpt must come from

	// Limits of Summary.Prose, or of the whole text without white space around it; 0
	// is none. Coverage lines, which the pack demands, count in the latter only.
	MaxChars  int  `json:"maxChars"`
	MaxTokens int  `json:"maxTokens"` // as estimated
	Whole     bool `json:"whole"`
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

// Names tells whether a text says that it is the summary of the records of a header,
// be it right or wrong otherwise.
func Names(text []byte, h Header) bool {
	return bytes.Contains(text, []byte("summary_source_sha256: "+h.SummarySource))
}

// Least is how many characters the whole text of a summary has that says nothing:
// comment, headings, and coverage lines with the shortest excerpts.
func (e *Expect) Least() int {
	text := e.Header.Comment() + "\n" + Title + "\n" + strings.Join(Sections[:], "\n") + "\n" + CoverageHeading
	n := utf8.RuneCountInString(text)
	for record, source := range e.Claims {
		excerpt := min(MinSupport, utf8.RuneCountInString(strings.TrimSpace(source)))
		n += len(fmt.Sprintf("\n- L%d%s\"\"%s", record, supportMark, dispositionEnd)) + excerpt
	}
	return n
}
