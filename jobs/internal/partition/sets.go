package partition

import (
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Sets are the six sets, as record numbers counted from 0. Summary and Raw are
// in the order of the conversation, the others in file order.
type Sets struct {
	Summary              []int
	Raw                  []int
	Side                 []int
	Control              []int
	ExcludedBranch       []int
	ExcludedUnattributed []int
}

// Policy says which file-history snapshots stay.
type Policy string

// Checkpoint policies.
const (
	ActiveCorrelated Policy = "active-correlated" // those tied to the raw part
	NoSnapshots      Policy = "none"
	PreserveRecent   Policy = "preserve-recent" // physical tail only
)

// Split divides the records at a cut: a position in sel.Active. maxSide bounds
// the side set; the last ones stay.
func Split(x *transcript.Index, sel *topology.Selection, cut int, policy Policy, maxSide int) *Sets {
	s := &Sets{Summary: sel.Active[:cut], Raw: sel.Active[cut:]}
	taken := make([]bool, len(x.Records))
	for _, r := range sel.Active {
		taken[r] = true
	}
	if sel.Mode != topology.PhysicalTail {
		s.Side = side(x, sel, s.Raw, policy, maxSide)
	}
	for _, r := range s.Side {
		taken[r] = true
	}
	for r := range x.Records {
		if taken[r] {
			continue
		}
		set := s.rest(&x.Records[r])
		*set = append(*set, r)
	}
	return s
}

// rest is the set of a record that is neither active nor attributed.
func (s *Sets) rest(r *transcript.Record) *[]int {
	switch {
	case r.Has(transcript.HasUUID) && r.Type != transcript.LastPrompt:
		return &s.ExcludedBranch
	case r.Type == transcript.LastPrompt, r.Type.Control():
		return &s.Control
	}
	return &s.ExcludedUnattributed
}

// Projected returns the control records that are written: the last one of each
// type, in file order. Earlier ones describe a state that was left.
func (s *Sets) Projected(x *transcript.Index) []int {
	last := map[transcript.Type]int{}
	for _, r := range s.Control {
		if t := x.Records[r].Type; t.Control() {
			last[t] = r
		}
	}
	out := make([]int, 0, len(last))
	for _, r := range s.Control {
		if t := x.Records[r].Type; t.Control() && last[t] == r {
			out = append(out, r)
		}
	}
	return out
}

// side finds the snapshots that an identifier ties to the raw part; by the
// pointer's rule those before it.
func side(x *transcript.Index, sel *topology.Selection, raw []int, policy Policy, limit int) []int {
	if policy != ActiveCorrelated || limit == 0 {
		return nil
	}
	ids, sessions := map[transcript.Sym]bool{}, map[transcript.Sym]bool{}
	for _, r := range raw {
		for id := range x.Correlations(r) {
			ids[id] = true
		}
		if s := x.Records[r].Session; s != 0 {
			sessions[s] = true
		}
	}
	end := len(x.Records)
	if sel.Mode == topology.Pointer {
		end = sel.Pointer // what follows it is another state
	}
	var out []int
	for r := range end {
		rec := &x.Records[r]
		if rec.Type != transcript.Snapshot || rec.Flags&(transcript.HasUUID|transcript.BadUUID) != 0 || rec.Parent != 0 || rec.BadParent != 0 {
			continue
		}
		mine := rec.Session == 0 || len(sessions) == 0 || sessions[rec.Session]
		if mine && correlated(x, r, ids) {
			out = append(out, r)
		}
	}
	return out[max(0, len(out)-limit):]
}

func correlated(x *transcript.Index, r int, ids map[transcript.Sym]bool) bool {
	for id := range x.Correlations(r) {
		if ids[id] {
			return true
		}
	}
	return false
}
