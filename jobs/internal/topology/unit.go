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

// completeUnits adds to the walk the fragments and results of its turns.
func (t *selector) completeUnits() {
	s := t.s
	units := t.units()
	if t.closeLeaf(units) {
		units = t.units()
	}
	insert := make(map[int]*unit, len(units))
	for _, u := range units {
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

// units finds, for each message.id on the walk, its records beside the walk.
func (t *selector) units() map[transcript.Sym]*unit {
	x := t.x
	on := make([]bool, len(x.Records))
	units := map[transcript.Sym]*unit{}
	for pos, r := range t.s.Walk {
		on[r] = true
		rec := &x.Records[r]
		if rec.Type != transcript.Assistant || rec.Message == 0 {
			continue
		}
		if u := units[rec.Message]; u != nil {
			u.last = pos
		} else {
			units[rec.Message] = &unit{last: pos}
		}
	}
	for i := range x.Records {
		rec := &x.Records[i]
		if on[i] || rec.UUID == 0 {
			continue
		}
		if u := units[rec.Message]; rec.Type == transcript.Assistant && rec.Message != 0 && u != nil {
			u.fragments = append(u.fragments, i)
		} else if u := t.answers(i, units); u != nil {
			u.results = append(u.results, i)
		}
	}
	return units
}

// answers finds the unit whose record a tool-result record hangs below.
func (t *selector) answers(i int, units map[transcript.Sym]*unit) *unit {
	x := t.x
	if x.Records[i].Type != transcript.User || !x.HasTool(i, transcript.Result) {
		return nil
	}
	p := x.Parent(i)
	if p < 0 || x.Records[p].Type != transcript.Assistant || x.Records[p].Message == 0 {
		return nil
	}
	return units[x.Records[p].Message]
}

// closeLeaf moves a leaf that stands within a unit down to the unit's last
// record below it: the pointer is often written in the middle of a group, and a
// turn is whole or not there.
func (t *selector) closeLeaf(units map[transcript.Sym]*unit) bool {
	s, x := t.s, t.x
	if t.o.Mode == PhysicalTail {
		return false
	}
	member := map[int]bool{}
	for _, u := range units {
		for _, r := range u.fragments {
			member[r] = true
		}
		for _, r := range u.results {
			member[r] = true
		}
	}
	best, path := -1, []int(nil)
	for r := range member {
		if line, ok := descent(x, r, s.Leaf, member); ok && r > best {
			best, path = r, line
		}
	}
	if best < 0 {
		return false
	}
	s.Walk = append(s.Walk, path...)
	s.Leaf = best
	return true
}

// descent is the line of members from below the leaf down to r.
func descent(x *transcript.Index, r, leaf int, member map[int]bool) ([]int, bool) {
	var line []int
	for n := 0; r >= 0 && r != leaf; r = x.Parent(r) {
		if !member[r] || n > len(member) {
			return nil, false
		}
		n++
		line = append(line, r)
	}
	slices.Reverse(line)
	return line, r == leaf
}
