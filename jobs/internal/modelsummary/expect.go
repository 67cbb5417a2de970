package modelsummary

import "slices"

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
