package pack

import (
	"fmt"

	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Split divides the fold of a request into stretches from each of which a pack
// can be built with the same request. A stretch begins where the person speaks
// and the conversation may be cut, which legal tells by position in the fold.
// One turn that exceeds the ceilings alone is a [TooLarge]. A handoff file in
// the request is counted in each stretch: leave it to the last pack, of parts.
func Split(src *transcript.Source, req Request, legal func(pos int) bool) ([][]int, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.Parts != nil {
		return nil, fmt.Errorf("pack: a fold of parts is not split again")
	}
	c, err := collect(src, &req)
	if err != nil {
		return nil, err
	}
	s := splitter{c: c, turns: turns(src.Index, req.Fold, legal)}
	s.sum()
	return s.split()
}

// turns are the positions at which turns begin, and the end.
func turns(x *transcript.Index, fold []int, legal func(int) bool) []int {
	if len(fold) == 0 {
		return nil
	}
	starts := []int{0}
	for pos := 1; pos < len(fold); pos++ {
		if topology.Spoken(x, fold[pos]) && legal(pos) {
			starts = append(starts, pos)
		}
	}
	return append(starts, len(fold))
}

// splitter packs turns into parts, as many as fit into each.
type splitter struct {
	c     *collector
	turns []int
	at    []int  // first item of each turn
	least []size // of the mandatory evidence before each turn
}

// sum prepares the sizes of turns.
func (s *splitter) sum() {
	var total size
	i := 0
	for _, start := range s.turns {
		for ; i < len(s.c.items) && s.c.items[i].pos < start; i++ {
			if it := &s.c.items[i]; it.kind != 0 {
				total = total.plus(it.size).plus(it.listing())
			}
		}
		s.at, s.least = append(s.at, i), append(s.least, total)
	}
}

// listing is the size of the lines that a mandatory record adds to the frame.
func (it *item) listing() size {
	lines := fmt.Appendf(listed(nil, it.own(nil), 'L', ""), "- L%d\n", it.n)
	return measure(lines)
}

func (s *splitter) split() ([][]int, error) {
	var parts [][]int
	for a := 0; a+1 < len(s.turns); {
		b, err := s.part(a)
		if err != nil {
			return nil, err
		}
		parts = append(parts, s.c.req.Fold[s.turns[a]:s.turns[b]])
		a = b
	}
	return parts, nil
}

// part is the turn that ends the part that begins with turn a. It goes as far as
// the mandatory evidence would fit alone, then back until all that is needed
// fits.
func (s *splitter) part(a int) (int, error) {
	limit := s.c.req.Binding
	b := a + 1
	for b+1 < len(s.turns) {
		more := size{s.least[b+1].chars - s.least[a].chars, s.least[b+1].weight - s.least[a].weight}
		if !more.within(limit.PackChars, limit.PackTokens) {
			break
		}
		b++
	}
	for ; ; b-- {
		e, err := s.needs(a, b)
		if err != nil || e == nil {
			return b, err
		}
		if b == a+1 {
			e.Turn = true
			return b, e
		}
	}
}

// needs is the refusal of a pack of the turns from a to before b, nil if there
// is none.
func (s *splitter) needs(a, b int) (*TooLarge, error) {
	req := *s.c.req
	req.Fold = req.Fold[s.turns[a]:s.turns[b]]
	part := &collector{src: s.c.src, req: &req}
	items := s.c.items[s.at[a]:s.at[b]]
	f, err := part.frame(items, s.turns[a])
	if err != nil {
		return nil, err
	}
	sel := newSelection(part, f)
	if _, err := sel.begin(items, f.groups); err != nil {
		return nil, err
	}
	return req.tooLarge(sel.used), nil
}
