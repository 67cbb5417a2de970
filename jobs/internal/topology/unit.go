package topology

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// unit is an assistant turn of which a plain walk passes only a part: parallel
// calls are written as a small tree, each result below its own fragment, and the
// conversation goes on below one of them.
type unit struct {
	last      int   // position in the walk of the unit's last fragment on it
	fragments []int // off the walk, in file order
	results   []int // off the walk, in file order
}

// unitFinder collects the units of a walk.
type unitFinder struct {
	x      *transcript.Index
	units  []*unit
	of     []*unit // by record: the unit it is a fragment of
	walk   []bool  // on the walk
	active []bool  // on the walk, or a fragment or result of a unit
	ids    map[transcript.Sym]bool
}

// completeUnits adds to the walk the fragments and results of its turns.
func (t *selector) completeUnits() {
	s := t.s
	found := findUnits(t.x, s.Walk)
	if t.closeLeaf(found) {
		found = findUnits(t.x, s.Walk)
	}
	insert := make(map[int]*unit, len(found.units))
	for _, u := range found.units {
		insert[u.last] = u
		s.Recovered += len(u.fragments) + len(u.results)
	}
	s.Active = make([]int, 0, len(s.Walk)+s.Recovered)
	for pos, r := range s.Walk {
		s.Active = append(s.Active, r)
		if u := insert[pos]; u != nil {
			s.Active = append(s.Active, u.fragments...)
			s.Active = append(s.Active, u.results...)
		}
	}
}

// findUnits finds the turns on the walk, then their records beside it: what
// hangs below an active record and shares the turn's message.id, and the
// results below any record of the turn.
func findUnits(x *transcript.Index, walk []int) *unitFinder {
	n := len(x.Records)
	f := &unitFinder{x: x, of: make([]*unit, n), walk: make([]bool, n), active: make([]bool, n), ids: map[transcript.Sym]bool{}}
	f.onWalk(walk)
	for i := range x.Records {
		if !f.active[i] && x.Records[i].UUID != 0 {
			f.beside(i)
		}
	}
	return f
}

// onWalk makes a unit of each run of one message.id. The person's next words end
// all runs: an id that comes back later is another turn.
func (f *unitFinder) onWalk(walk []int) {
	runs := map[transcript.Sym]*unit{}
	for pos, r := range walk {
		f.walk[r], f.active[r] = true, true
		rec := &f.x.Records[r]
		switch {
		case Spoken(f.x, r):
			clear(runs)
		case rec.Type == transcript.Assistant && rec.Message != 0:
			f.ids[rec.Message] = true
			if runs[rec.Message] == nil {
				runs[rec.Message] = &unit{}
				f.units = append(f.units, runs[rec.Message])
			}
			runs[rec.Message].last = pos
			f.of[r] = runs[rec.Message]
		}
	}
}

// Spoken reports a user message that is more than tool results.
func Spoken(x *transcript.Index, r int) bool {
	rec := &x.Records[r]
	return rec.Type == transcript.User && rec.API() && !x.HasTool(r, transcript.Result)
}

// beside books a record that is not on the walk.
func (f *unitFinder) beside(i int) {
	rec := &f.x.Records[i]
	p := f.x.Parent(i)
	if p < 0 || !f.active[p] {
		return
	}
	u := f.of[p]
	switch {
	case rec.Type == transcript.Assistant && f.ids[rec.Message]:
		if u == nil || f.x.Records[p].Message != rec.Message {
			u = f.turnBelow(p, rec.Message)
		}
		if u != nil {
			u.fragments = append(u.fragments, i)
			f.of[i], f.active[i] = u, true
		}
	case rec.Type == transcript.User && u != nil && f.x.HasTool(i, transcript.Result):
		u.results = append(u.results, i)
		f.active[i] = true
	}
}

// turnBelow finds the turn with the message.id that a fragment beside the walk
// belongs to: the first one that stands below the record they both hang from.
func (f *unitFinder) turnBelow(p int, id transcript.Sym) *unit {
	for i := p + 1; i < len(f.x.Records); i++ {
		if f.of[i] != nil && f.x.Records[i].Message == id {
			return f.of[i]
		}
	}
	return nil
}

// closeLeaf moves a leaf that stands within a unit down to the unit's last
// record below it: the pointer is often written in the middle of a group, and a
// turn is whole or not there.
func (t *selector) closeLeaf(f *unitFinder) bool {
	s := t.s
	best, path := -1, []int(nil)
	for _, u := range f.units {
		for _, r := range slices.Concat(u.fragments, u.results) {
			if line, ok := f.descent(r, s.Leaf); ok && r > best {
				best, path = r, line
			}
		}
	}
	if best < 0 {
		return false
	}
	s.Walk = append(s.Walk, path...)
	s.Leaf = best
	return true
}

// descent is the line of recovered records from below the leaf down to r.
func (f *unitFinder) descent(r, leaf int) ([]int, bool) {
	var line []int
	for ; r >= 0 && f.active[r] && !f.walk[r]; r = f.x.Parent(r) {
		line = append(line, r)
	}
	slices.Reverse(line)
	return line, r == leaf
}
