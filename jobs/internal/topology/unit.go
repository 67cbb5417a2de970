package topology

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// unit is an assistant turn of which a plain walk passes only a part: parallel
// calls are written as a small tree, each result below its own fragment, and the
// conversation goes on below one of them.
type unit struct {
	id        transcript.Sym // message.id
	last      int            // position in the walk of the unit's last fragment on it
	fragments []int          // off the walk, in file order
	results   []int          // off the walk, in file order
}

// unitFinder collects the units of a walk.
type unitFinder struct {
	x     *transcript.Index
	units []*unit
	// of is the unit that a record is a fragment or a recovered result of.
	of     []*unit
	active []bool // on the walk, or recovered
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
	f := &unitFinder{x: x, of: make([]*unit, n), active: make([]bool, n), ids: map[transcript.Sym]bool{}}
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
		f.active[r] = true
		rec := &f.x.Records[r]
		switch {
		case Spoken(f.x, r):
			clear(runs)
		case rec.Type == transcript.Assistant && rec.Message != 0:
			f.ids[rec.Message] = true
			if runs[rec.Message] == nil {
				runs[rec.Message] = &unit{id: rec.Message}
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
		if u == nil || u.id != rec.Message {
			u = f.turnBelow(p, rec.Message)
		}
		if u != nil {
			u.fragments = append(u.fragments, i)
			f.of[i], f.active[i] = u, true
		}
	case u != nil && f.answers(i, p):
		u.results = append(u.results, i)
		f.of[i], f.active[i] = u, true
	}
}

// answers reports a record of results below a fragment.
func (f *unitFinder) answers(i, parent int) bool {
	return f.x.Records[i].Type == transcript.User && f.x.HasTool(i, transcript.Result) &&
		f.x.Records[parent].Type == transcript.Assistant
}

// turnBelow finds the turn with the message.id that a fragment beside the walk
// belongs to: the first one that stands below the record they both hang from.
func (f *unitFinder) turnBelow(p int, id transcript.Sym) *unit {
	for i := p + 1; i < len(f.x.Records); i++ {
		if u := f.of[i]; u != nil && u.id == id {
			return u
		}
	}
	return nil
}

// closeLeaf moves a leaf that stands within a turn to the turn's physically last
// result, or fragment when it has no result: the pointer is often written in the
// middle of a group, a turn is whole or not there, and its results are kept in
// file order.
func (t *selector) closeLeaf(f *unitFinder) bool {
	u := f.turnOf(t.s.Leaf)
	if u == nil {
		return false
	}
	last := slices.Max(append(slices.Concat(u.fragments, u.results), t.s.Leaf))
	if len(u.results) > 0 {
		last = slices.Max(u.results)
		if t.x.HasTool(t.s.Leaf, transcript.Result) {
			last = max(last, t.s.Leaf)
		}
	}
	if last == t.s.Leaf {
		return false
	}
	t.s.Leaf, t.s.Walk = last, t.lineTo(last)
	return true
}

// turnOf is the turn that a record on the walk is a part of.
func (f *unitFinder) turnOf(r int) *unit {
	if u := f.of[r]; u != nil {
		return u
	}
	if p := f.x.Parent(r); p >= 0 && f.answers(r, p) {
		return f.of[p]
	}
	return nil
}

// lineTo is the plain walk to a record that hangs together with the one that was
// found valid.
func (t *selector) lineTo(r int) []int {
	var line []int
	for ; r >= 0; r = t.x.Parent(r) {
		line = append(line, r)
	}
	slices.Reverse(line)
	return line
}
