package client

import (
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// pointer is the last-prompt record that counts.
type pointer struct {
	record   int // -1 without one
	target   int // the record it names, missing when that is not loaded
	explicit bool
	// any tells that some pointer of the file has the key, whatever its value.
	any bool
}

// lastPointer finds the pointer that counts (L5): the last one with a value. One
// before the last boundary is void (B1). An explicit one stays so over pointers
// that do not move it, until a record of the conversation follows (B2).
func (g *graph) lastPointer() pointer {
	p := pointer{record: -1, target: missing}
	for i := range g.x.Records {
		r := &g.x.Records[i]
		switch {
		case r.Type == transcript.LastPrompt:
			g.point(&p, i)
		case g.node[i] && !g.sidechain(i):
			p.explicit = false
		}
	}
	if p.record >= 0 && p.record < g.boundary {
		p.record, p.target = -1, missing
	}
	if p.target >= 0 && !g.belowMessage(p.target, make([]bool, len(g.x.Records))) {
		p.target = missing
	}
	return p
}

func (g *graph) point(p *pointer, i int) {
	r := &g.x.Records[i]
	p.any = p.any || r.Has(transcript.LeafKey)
	if !r.Has(transcript.HasLeaf) && !r.Has(transcript.OddLeaf) {
		return
	}
	moved := p.record < 0 || g.x.Records[p.record].Leaf != r.Leaf || r.Leaf == 0
	if r.Has(transcript.Explicit) {
		p.explicit = true
	} else if moved {
		p.explicit = false
	}
	p.record, p.target = i, missing
	if t := g.find(r.Leaf); r.Leaf != 0 && t >= 0 && g.typ(t) != transcript.Progress {
		p.target = t
	}
}

// last is the last record of the conversation in file order (F1), -1 without
// one. A record that stands below no message, such as a bare boundary, is passed
// over.
func (g *graph) last() int {
	barren := make([]bool, len(g.x.Records))
	for i := len(g.x.Records) - 1; i >= 0; i-- {
		if g.ends(i) && g.belowMessage(i, barren) {
			if t := g.keptBelow(i); t >= 0 && g.ends(t) {
				return t
			}
			return i
		}
	}
	return -1
}

// ends reports a record that a conversation may end with.
func (g *graph) ends(i int) bool {
	return g.node[i] && g.typ(i) != transcript.Progress && !g.sidechain(i) && (g.rules.refusesBroken || !g.broken(i))
}

// keptBelow is the last preserved record when i is their anchor: they come right
// behind it (C3); -1 otherwise.
func (g *graph) keptBelow(i int) int {
	if g.kept == nil || g.find(g.kept.anchor) != i {
		return -1
	}
	return g.kept.line[len(g.kept.line)-1]
}

// belowMessage reports that i or an ancestor of it is a message. barren remembers
// the records found to stand below none.
func (g *graph) belowMessage(i int, barren []bool) bool {
	for ; i >= 0 && !barren[i]; i = int(g.parent[i]) {
		if t := g.typ(i); t == transcript.User || t == transcript.Assistant {
			return true
		}
		barren[i] = true
	}
	return false
}

// leaf decides where the conversation ends. The reason says which rule did.
func (g *graph) leaf(p pointer, last int) (leaf int, reason LeafReason) {
	switch {
	case p.target < 0 && g.rules.newestBelow && !p.any:
		return g.newest(last)
	case p.target < 0:
		return g.tail(last), LastRecord
	case p.explicit:
		return g.tail(p.target), ExplicitPointer
	case g.isAbove(p.target, last):
		return g.tail(last), LastRecord
	case g.followsGroups(p.target) && g.groupGoesOn(p.target, last):
		return last, PastGroup
	}
	return g.tail(p.target), PointerLeaf
}

// newest is the record with the greatest timestamp among the last one and all
// below it; of equal ones a descendant, and the later one in the file.
func (g *graph) newest(last int) (int, LeafReason) {
	best, at := last, g.timeText(last)
	seen := map[int]bool{last: true}
	for queue := []int{last}; len(queue) > 0; queue = queue[1:] {
		g.childrenOf(queue[0], func(c int) {
			if g.sidechain(c) || seen[c] {
				return
			}
			seen[c] = true
			queue = append(queue, c)
			t := g.timeText(c)
			if g.typ(c) != transcript.Progress && (t > at || t == at && (best == last || c > best)) {
				best, at = c, t
			}
		})
	}
	if best != last {
		return best, NewestBelow
	}
	return last, LastRecord
}

// isAbove reports that a is r or an ancestor of it by plain links (B3).
func (g *graph) isAbove(a, r int) bool {
	for n := 0; r >= 0 && n <= len(g.x.Records); n++ {
		if r == a {
			return true
		}
		r = int(g.parent[r])
	}
	return false
}

// tail goes from a pointer's record down through the records that accompany it,
// never to a message.
func (g *graph) tail(r int) int {
	for seen := map[int]bool{}; !seen[r]; {
		seen[r] = true
		best, at := -1, ""
		g.childrenOf(r, func(c int) {
			if t := g.timeText(c); g.side(c) && !g.sidechain(c) && (best < 0 || t > at) {
				best, at = c, t
			}
		})
		if best < 0 {
			return r
		}
		r = best
	}
	return r
}

// followsGroups reports that a pointer in a tool group may give way. Where it is
// no rule of the client it is one in the wake of its own compaction, but for a
// pointer on a result (F2).
func (g *graph) followsGroups(target int) bool {
	return g.rules.followsGroup || g.kept != nil && g.kept.boundary == g.boundary && !g.answers(target)
}

// groupGoesOn reports that a pointer within a tool group gives way to the last
// record, because the conversation goes on from another call of the group (F2).
func (g *graph) groupGoesOn(p, last int) bool {
	x, beside, below := p, 0, p
	for ; x >= 0 && (g.side(x) || g.x.Records[x].Has(transcript.Meta)) && beside <= len(g.x.Records); beside++ {
		below, x = x, int(g.parent[x])
	}
	if x < 0 {
		return false
	}
	a := x
	result := g.answers(x)
	if result {
		a = g.above(x)
	}
	if a < 0 || !g.calls(a) || g.x.Records[a].Message == 0 {
		return false
	}
	if beside > 0 {
		asked := !result && g.typ(below) == transcript.User
		return !asked && g.otherCallAbove(a, last)
	}
	several := g.callsOf(g.x.Records[a].Message) >= 2 || result && g.usesOf(a) >= 2
	return several && g.callOrAncestorAbove(a, last)
}

// calls reports an assistant record with a tool call.
func (g *graph) calls(i int) bool {
	return g.typ(i) == transcript.Assistant && g.x.HasTool(i, transcript.Use)
}

// answers reports a user record with a tool result.
func (g *graph) answers(i int) bool {
	return g.typ(i) == transcript.User && g.x.HasTool(i, transcript.Result)
}

func (g *graph) usesOf(i int) (n int) {
	for range g.x.ToolIDs(i, transcript.Use) {
		n++
	}
	return n
}

// callsOf counts the records of a message that hold a call.
func (g *graph) callsOf(message transcript.Sym) (n int) {
	for i := range g.x.Records {
		if g.node[i] && g.x.Records[i].Message == message && g.calls(i) {
			n++
		}
	}
	return n
}

// otherCallAbove reports that the last record hangs below a call of a's message
// other than a.
func (g *graph) otherCallAbove(a, last int) bool {
	for r, n := last, 0; r >= 0 && n <= len(g.x.Records); r, n = int(g.parent[r]), n+1 {
		if r != a && g.calls(r) && g.x.Records[r].Message == g.x.Records[a].Message {
			return true
		}
	}
	return false
}

// callOrAncestorAbove reports that a, or a call of its message that it hangs
// below, is above the last record.
func (g *graph) callOrAncestorAbove(a, last int) bool {
	on := make([]bool, len(g.x.Records))
	for r := last; r >= 0 && !on[r]; r = int(g.parent[r]) {
		on[r] = true
	}
	for r, n := a, 0; r >= 0 && n <= len(g.x.Records); r, n = int(g.parent[r]), n+1 {
		if on[r] && g.calls(r) && g.x.Records[r].Message == g.x.Records[a].Message {
			return true
		}
	}
	return false
}
