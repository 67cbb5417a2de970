package verify

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/topology"
)

// Group are conversation records that a selection leaves out although a client
// may well bring them back.
type Group struct {
	Rule    string
	Reason  string
	Records []int // in file order
}

// LeftOut finds them: what was written after the pointer, and what the client's
// own compaction kept by reference (kept, nil for nothing).
func LeftOut(sel *topology.Selection, kept *topology.Preserved) []Group {
	var out []Group
	if len(sel.Later) > 0 {
		out = append(out, Group{"records-after-pointer", "written after the last pointer, going on from it", sel.Later})
	}
	if kept == nil || !slices.Contains(sel.Walk, kept.Boundary) {
		return out
	}
	missing := slices.DeleteFunc(slices.Clone(kept.Records), func(r int) bool { return slices.Contains(sel.Active, r) })
	if len(missing) > 0 {
		slices.Sort(missing)
		out = append(out, Group{"preserved-left-out", "kept by reference in the client's own compaction, not on the plain chain", missing})
	}
	return out
}
