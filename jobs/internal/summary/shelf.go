package summary

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// item is one whole thing of the summary: it is there or it is not.
type item struct {
	seq    int // place in the conversation
	n, to  int // records; to is 0 for one record
	weight int // importance
	text   string
	turn   int   // history: groups the parts of a turn
	part   part  // history: which part it is
	rules  uint8 // history: how many rules a request consists of; 0: not of rules alone
	at, of int   // history: which unit of how many of its text
	size   int   // cost, once it was asked for
}

// counts reports an item whose loss is told: in the history that of a
// request, as what misses from a quotation is marked in its place.
func (it item) counts() bool {
	switch it.part {
	case alone:
		return true
	case wanted, marked, above:
		return it.at == 0
	}
	return false
}

// cost is about how many code points the item takes up where it is shown.
func (it *item) cost() int {
	if it.size == 0 {
		it.size = runes(it.text) + 12
	}
	return it.size
}

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
	s.items, s.cost = slices.Clone(kept), total(kept)
	s.lost.join(lost)
	maps.DeleteFunc(s.known, func(_ string, seq int) bool { return s.find(seq) < 0 })
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
// only grow when a neighbour goes, so a stale one is noticed when it is on top.
type chain struct {
	items      []item
	prev, succ []int
	queue      []scored // a heap, the smallest score on top
}

type scored struct{ score, at int }

func (a scored) less(b scored) bool { return a.score < b.score || a.score == b.score && a.at < b.at }

func newChain(items []item) *chain {
	n := len(items)
	c := &chain{items: items, prev: make([]int, n), succ: make([]int, n), queue: make([]scored, n)}
	for i := range items {
		c.prev[i], c.succ[i] = i-1, i+1
	}
	for i := range items {
		c.queue[i] = scored{c.score(i), i}
	}
	for i := n/2 - 1; i >= 0; i-- {
		c.sink(i)
	}
	return c
}

// sink restores the heap below a place.
func (c *chain) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.queue); child++ {
			if c.queue[child].less(c.queue[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		c.queue[i], c.queue[least] = c.queue[least], c.queue[i]
		i = least
	}
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
	top := &c.queue[0]
	for now := c.score(top.at); now != top.score; now = c.score(top.at) {
		top.score = now
		c.sink(0)
	}
	at, last := top.at, len(c.queue)-1
	c.queue[0] = c.queue[last]
	c.queue = c.queue[:last]
	c.sink(0)
	if p := c.prev[at]; p >= 0 {
		c.succ[p] = c.succ[at]
	}
	if n := c.succ[at]; n < len(c.items) {
		c.prev[n] = c.prev[at]
	}
	return at
}

// fit renders as many items as have room in at most room code points. render
// gets the items that stay and what was left out.
func fit(s shelf, room int, render func(kept []item, lost span) string) string {
	text, _ := fitted(s, room, render)
	return text
}

// fitted is fit that also tells which items stayed.
func fitted(s shelf, room int, render func(kept []item, lost span) string) (best string, held []item) {
	size := 0
	try := func(kept []item, lost span) bool {
		lost.join(s.lost)
		text := render(kept, lost)
		if size = runes(text); size > room {
			return false
		}
		best, held = text, kept
		return true
	}
	if try(s.items, span{}) {
		return best, held
	}
	// Looked for is the smallest number of items to drop. Renderings are dear, so
	// it is guessed by what the items cost, and halved only if that leads nowhere.
	order := dropOrder(s.items)
	few, enough := 0, len(order)
	for n, probe := 0, 0; enough-few > 1; probe++ {
		if n = guess(s.items, order, n, size-room); probe > 6 {
			n = (few + enough) / 2
		}
		n = min(max(n, few+1), enough-1)
		if try(without(s.items, order[:n])) {
			enough = n
		} else {
			few = n
		}
	}
	return best, held
}

// guess tells how many items of order to drop, if dropping n leaves a text
// that is over code points too long.
func guess(items []item, order []int, n, over int) int {
	for ; n < len(order) && over > 0; n++ {
		over -= items[order[n]].cost()
	}
	for ; n > 0 && over+items[order[n-1]].cost() <= 0; n-- {
		over += items[order[n-1]].cost()
	}
	return n
}

func total(items []item) int {
	n := 0
	for i := range items {
		n += items[i].cost()
	}
	return n
}
