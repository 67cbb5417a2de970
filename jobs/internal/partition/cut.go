package partition

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Cuts knows the positions of the active records at which a conversation may be
// cut: record number cut is the first one that stays.
type Cuts struct {
	illegal []bool
	marks   []int32 // changes of the number of turns that span a position
	tokens  []int64 // cost of the records from a position to the end
	bytes   []int64
	// Forced is the first position the structure allows: behind the last earlier
	// compact pair and the records it kept by reference, and in a mixed lineage at
	// the start of the last session.
	Forced int
	// Prior and LineageStart are what Forced comes from.
	Prior, LineageStart int
}

// NewCuts examines the active records of a valid selection.
func NewCuts(x *transcript.Index, sel *topology.Selection) *Cuts {
	n := len(sel.Active)
	c := &Cuts{illegal: make([]bool, n+1), marks: make([]int32, n+2), tokens: make([]int64, n+1), bytes: make([]int64, n+1)}
	for i := n - 1; i >= 0; i-- {
		r := &x.Records[sel.Active[i]]
		c.tokens[i] = c.tokens[i+1] + int64(r.Tokens)
		c.bytes[i] = c.bytes[i+1] + int64(r.Len) + 1
		if c.Prior == 0 && x.Compact(sel.Active[i]) {
			c.Prior = i + 1
		}
	}
	c.illegal[0], c.illegal[n] = true, true // something is folded, something stays
	c.turns(x, sel)
	c.forbid(slices.Index(sel.Active, sel.Leaf)+1, n) // the leaf stays; a physical tail has records after it
	c.settle()
	c.lineage(sel)
	c.Forced = max(1, c.Prior, c.LineageStart)
	return c
}

// turns forbids the positions within an assistant turn: from its first fragment
// to the last result that answers it, and before a hook of a call before it.
func (c *Cuts) turns(x *transcript.Index, sel *topology.Selection) {
	first := map[transcript.Sym]int{} // by message.id
	use := map[transcript.Sym]int{}   // start of the turn, by tool id
	for pos, r := range sel.Active {
		rec := &x.Records[r]
		start := pos
		switch {
		case topology.Spoken(x, r):
			clear(first)
		case rec.Type == transcript.Assistant && rec.Message != 0:
			if begun, ok := first[rec.Message]; ok {
				start = begun
			}
			first[rec.Message] = start
			c.forbid(start+1, pos)
		}
		c.hook(x, r, pos, use)
		c.pair(x, r, pos, start, use)
	}
}

// pair forbids the positions between a call's turn and its result.
func (c *Cuts) pair(x *transcript.Index, r, pos, start int, use map[transcript.Sym]int) {
	for _, t := range x.ToolsOf(r) {
		switch at, called := use[t.ID]; {
		case t.Kind == transcript.Use && t.ID != 0 && !called:
			use[t.ID] = start
		case t.Kind == transcript.Result && called:
			c.forbid(at+1, pos)
		}
	}
}

// hook forbids a cut right before an attachment that names a call before it.
func (c *Cuts) hook(x *transcript.Index, r, pos int, use map[transcript.Sym]int) {
	for id := range x.ToolIDs(r, transcript.Hook) {
		if _, called := use[id]; called {
			c.forbid(pos, pos)
		}
	}
}

// forbid marks the positions from..to; settle turns the marks into answers.
func (c *Cuts) forbid(from, to int) {
	if from <= to {
		c.marks[from]++
		c.marks[to+1]--
	}
}

func (c *Cuts) settle() {
	depth := int32(0)
	for i := range c.illegal {
		depth += c.marks[i]
		c.illegal[i] = c.illegal[i] || depth > 0
	}
	c.marks = nil
}

// lineage finds the position at which the last session starts.
func (c *Cuts) lineage(sel *topology.Selection) {
	if sel.Lineage.Mixed() {
		c.LineageStart = max(0, slices.Index(sel.Active, sel.Walk[sel.Lineage.Final()]))
	}
}

// Legal reports whether the conversation may be cut before position i.
func (c *Cuts) Legal(i int) bool { return i > 0 && i < len(c.illegal)-1 && !c.illegal[i] }

// Next is the first legal cut at or after i, -1 without one.
func (c *Cuts) Next(i int) int {
	for i = max(i, 1); i < len(c.illegal)-1; i++ {
		if !c.illegal[i] {
			return i
		}
	}
	return -1
}

// Prev is the last legal cut at or before i, -1 without one.
func (c *Cuts) Prev(i int) int {
	for i = min(i, len(c.illegal)-2); i > 0; i-- {
		if !c.illegal[i] {
			return i
		}
	}
	return -1
}

// Tokens and Bytes are the cost of what stays when the cut is i.
func (c *Cuts) Tokens(i int) int64 { return c.tokens[i] }

// Bytes is the size of what stays when the cut is i, line ends included.
func (c *Cuts) Bytes(i int) int64 { return c.bytes[i] }

// Len is the number of active records.
func (c *Cuts) Len() int { return len(c.illegal) - 1 }

// Within is the first position from which at most tokens and bytes remain;
// negative limits are none.
func (c *Cuts) Within(tokens, bytes int64) int {
	i := 0
	for i < c.Len() && (tokens >= 0 && c.tokens[i] > tokens || bytes >= 0 && c.bytes[i] > bytes) {
		i++
	}
	return i
}

// Goal is what a cut aims at.
type Goal struct {
	Keep   int   // records that stay at least
	Bytes  int64 // raw bytes that may stay; the floor of records goes first
	Tokens int64 // the same in tokens; negative is no limit
}

// Plan is where to look for the cut: the first one that meets the goal, and the
// last one that the floor of records allows.
type Plan struct {
	Cut, Last int // Cut is -1 when there is nothing to fold
	// Short tells that the structure leaves fewer records than the floor.
	Short bool
}

// Plan finds the cut that keeps the most and meets the goal; where the floor of
// records does not leave one, the last one it allows.
func (c *Cuts) Plan(g Goal) Plan {
	p := Plan{Cut: -1, Last: c.Len() - g.Keep}
	if c.Forced > 1 && c.Forced > p.Last {
		p.Last, p.Short = c.Next(c.Forced), true
	}
	from := min(max(c.Within(g.Tokens, g.Bytes), c.Forced), p.Last)
	if cut := c.Next(from); cut > 0 && cut <= p.Last {
		p.Cut = cut
	} else if cut := c.Prev(from); cut >= c.Forced {
		p.Cut = cut
	}
	return p
}
