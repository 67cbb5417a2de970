package client

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// bridgeSpan is how far back in time the client looks for a parent it does not
// find, in milliseconds (W2).
const bridgeSpan = 5000

// walk follows the parents from the leaf to a root and returns the line from there
// down (W1). A link that is broken or closes a circle is bridged by time.
func (g *graph) walk(leaf int) (line []int, breaks []Break) {
	seen := make([]bool, len(g.x.Records))
	for r := leaf; ; {
		seen[r] = true
		line = append(line, r)
		if g.parent[r] == root {
			break
		}
		p := int(g.parent[r])
		if p < 0 || seen[p] {
			b := Break{Child: r, Circle: p >= 0}
			p = g.bridge(r, seen)
			b.Parent = p
			breaks = append(breaks, b)
			if p < 0 {
				break
			}
		}
		r = p
	}
	slices.Reverse(line)
	return line, breaks
}

// fromBoundary is the part of a list from its last boundary on: there the
// conversation begins (W4).
func (g *graph) fromBoundary(list []int) []int {
	for i, r := range slices.Backward(list) {
		if g.x.Boundary(r) {
			return list[i:]
		}
	}
	return list
}

// clock holds the nodes by time.
type clock struct {
	at    []int64 // by rank, rising
	order []int32 // by rank; of equal times the first in the file stands last
	ms    []int64 // by record
	// left is the nearest rank at or below one that is not visited yet.
	left []int32
}

const noTime = -1 << 62

// bridge finds the node that the client takes for the parent of r: the newest of
// the last five seconds before it, wherever it hangs; -1 when there is none.
func (g *graph) bridge(r int, seen []bool) int {
	if g.clock == nil {
		g.clock = g.wind()
	}
	c := g.clock
	t := c.ms[r]
	if t == noTime {
		return -1
	}
	rank := sort.Search(len(c.at), func(i int) bool { return c.at[i] > t }) - 1
	for rank = c.free(rank); rank >= 0; rank = c.free(rank - 1) {
		if n := int(c.order[rank]); !seen[n] {
			if t-c.at[rank] > bridgeSpan {
				return -1
			}
			return n
		}
		c.left[rank] = int32(rank - 1)
	}
	return -1
}

// free follows the links over ranks that were found visited, and shortens them.
func (c *clock) free(rank int) int {
	end := rank
	for end >= 0 && int(c.left[end]) != end {
		end = int(c.left[end])
	}
	for rank >= 0 && rank != end {
		rank, c.left[rank] = int(c.left[rank]), int32(end)
	}
	return end
}

// wind sorts the nodes that a bridge may lead to.
func (g *graph) wind() *clock {
	n := len(g.x.Records)
	c := &clock{ms: make([]int64, n)}
	for i := range g.x.Records {
		c.ms[i] = noTime
		if !g.node[i] {
			continue
		}
		t, ok := g.time(i)
		if !ok {
			continue
		}
		c.ms[i] = t
		if !g.sidechain(i) {
			c.order = append(c.order, int32(i))
		}
	}
	slices.SortFunc(c.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.ms[a], c.ms[b]), cmp.Compare(b, a))
	})
	for rank, i := range c.order {
		c.at = append(c.at, c.ms[i])
		c.left = append(c.left, int32(rank))
	}
	return c
}

// time is a record's timestamp in milliseconds.
func (g *graph) time(i int) (ms int64, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, g.timeText(i))
	return t.UnixMilli(), err == nil
}

// timeText is a record's timestamp as written. The first trouble in reading it is
// kept for the end.
func (g *graph) timeText(i int) string {
	text, err := g.src.Time(i)
	if g.err == nil {
		g.err = err
	}
	return text
}
