package summary

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"
	"strings"
)

// item is one whole thing of the summary: it is there or it is not.
type item struct {
	seq    int // place in the conversation
	n, to  int // records; to is 0 for one record
	weight int // importance
	text   string
	turn   int  // history: groups the parts of a turn
	part   part // history: which part it is
	at, of int  // history: which unit of how many of its text
}

// counts reports an item whose loss is told: in the history that of a
// request, as what misses from a quotation is marked in its place.
func (it item) counts() bool { return it.part == alone || it.part == wanted && it.at == 0 }

func (it item) cost() int { return runes(it.text) + 12 }

// shelf keeps items in the order of the conversation, about limit code points
// of them. What it gives up is spread evenly, least important first.
type shelf struct {
	limit int
	items []item
	cost  int
	lost  span
	known map[string]int // key of the text: seq of the item
}

// put adds an item. The same text again only moves its second anchor.
func (s *shelf) put(it item) {
	it.text = strings.Clone(it.text) // it would keep all of the text that it is part of
	if it.part == alone && s.again(it) {
		return
	}
	s.items = append(s.items, it)
	if s.cost += it.cost(); s.cost > 2*s.limit {
		s.shrink()
	}
}

// again reports, and notes, that the text of an item is there already.
func (s *shelf) again(it item) bool {
	key := strings.ToLower(it.text)
	if seq, ok := s.known[key]; ok {
		if at := s.find(seq); at >= 0 {
			s.items[at].to = it.n
			s.items[at].weight = max(s.items[at].weight, it.weight)
			return true
		}
	}
	if s.known == nil {
		s.known = map[string]int{}
	}
	s.known[key] = it.seq
	return false
}

func (s *shelf) find(seq int) int {
	at, ok := slices.BinarySearchFunc(s.items, seq, func(it item, seq int) int { return cmp.Compare(it.seq, seq) })
	if !ok {
		return -1
	}
	return at
}

func (s *shelf) shrink() {
	kept, lost := thin(s.items, s.limit)
	s.items = slices.Clone(kept)
	s.lost.join(lost)
	s.cost = 0
	present := map[int]bool{}
	for _, it := range s.items {
		s.cost += it.cost()
		present[it.seq] = true
	}
	for key, seq := range s.known {
		if !present[seq] {
			delete(s.known, key)
		}
	}
}

// thin drops items until the rest costs at most room.
func thin(items []item, room int) (kept []item, lost span) {
	cost := total(items)
	if cost <= room {
		return items, span{}
	}
	var drop []int
	for c := newChain(items); len(drop) < len(items) && cost > room; {
		drop = append(drop, c.next())
		cost -= items[drop[len(drop)-1]].cost()
	}
	return without(items, drop)
}

// dropOrder is the order in which items go when there is less and less room.
// The next to go is the one with the smallest product of its weight and the
// stretch of conversation that it alone covers, so that what stays is
// important and evenly spread.
func dropOrder(items []item) []int {
	if len(items) == 0 {
		return nil
	}
	c := newChain(items)
	order := make([]int, len(items))
	for i := range order {
		order[i] = c.next()
	}
	return order
}

// without splits off the items at the given places.
func without(items []item, drop []int) (kept []item, lost span) {
	gone := make([]bool, len(items))
	for _, at := range drop {
		gone[at] = true
		if it := items[at]; it.counts() {
			lost.join(span{1, it.n, max(it.n, it.to)})
		}
	}
	kept = make([]item, 0, len(items)-len(drop))
	for i, it := range items {
		if !gone[i] {
			kept = append(kept, it)
		}
	}
	return kept, lost
}

// chain is a doubly linked list of items with a heap of their scores. Scores
// only grow when a neighbour goes, so a stale entry is noticed when popped.
type chain struct {
	items      []item
	prev, succ []int
	queue      []scored
}

type scored struct{ at, score int }

func newChain(items []item) *chain {
	n := len(items)
	c := &chain{items: items, prev: make([]int, n), succ: make([]int, n)}
	for i := range items {
		c.prev[i], c.succ[i] = i-1, i+1
	}
	for i := range items {
		c.queue = append(c.queue, scored{i, c.score(i)})
	}
	heap.Init(c)
	return c
}

func (c *chain) score(i int) int {
	from, to := c.items[0].seq-1, c.items[len(c.items)-1].seq+1
	if c.prev[i] >= 0 {
		from = c.items[c.prev[i]].seq
	}
	if c.succ[i] < len(c.items) {
		to = c.items[c.succ[i]].seq
	}
	return c.items[i].weight * (to - from)
}

// next removes the item with the smallest score and returns its place.
func (c *chain) next() int {
	for {
		s := c.queue[0]
		if now := c.score(s.at); now != s.score {
			c.queue[0].score = now
			heap.Fix(c, 0)
			continue
		}
		heap.Pop(c)
		if p := c.prev[s.at]; p >= 0 {
			c.succ[p] = c.succ[s.at]
		}
		if n := c.succ[s.at]; n < len(c.items) {
			c.prev[n] = c.prev[s.at]
		}
		return s.at
	}
}

func (c *chain) Len() int { return len(c.queue) }
func (c *chain) Less(i, j int) bool {
	a, b := c.queue[i], c.queue[j]
	return a.score < b.score || a.score == b.score && a.at < b.at
}
func (c *chain) Swap(i, j int) { c.queue[i], c.queue[j] = c.queue[j], c.queue[i] }
func (c *chain) Push(any)      {} // items only leave

// Pop cuts off what heap.Pop has moved to the end; next has it already.
func (c *chain) Pop() any {
	c.queue = c.queue[:len(c.queue)-1]
	return nil
}

// fit renders as many items as have room in at most room code points. render
// gets the items that stay and what was left out.
func fit(s shelf, room int, render func(kept []item, lost span) string) string {
	best := ""
	fits := func(kept []item, lost span) bool {
		lost.join(s.lost)
		text := render(kept, lost)
		if runes(text) > room {
			return false
		}
		best = text
		return true
	}
	if fits(s.items, span{}) {
		return best
	}
	order := dropOrder(s.items)
	sort.Search(len(order)-1, func(n int) bool { return fits(without(s.items, order[:n+1])) })
	return best
}

func total(items []item) int {
	n := 0
	for _, it := range items {
		n += it.cost()
	}
	return n
}
