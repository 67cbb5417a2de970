package inspect

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// branches lists the tips beside the active chain, each with the records that
// only it leads to.
func (i *inspector) branches() {
	x := i.x
	seen := make([]bool, len(x.Records))
	for _, r := range i.sel.Active {
		seen[r] = true
	}
	parent := make([]bool, len(x.Records))
	for r := range x.Records {
		if p := x.Parent(r); p >= 0 && p != r {
			parent[p] = true
		}
	}
	i.r.Branches = []Branch{}
	for r := len(x.Records) - 1; r >= 0; r-- {
		rec := &x.Records[r]
		if rec.UUID == 0 || seen[r] || parent[r] || rec.Type == transcript.Progress {
			continue
		}
		i.r.Branches = append(i.r.Branches, i.branch(r, seen))
	}
	slices.Reverse(i.r.Branches)
}

// branch walks from a tip to the first record that is told already.
func (i *inspector) branch(tip int, seen []bool) Branch {
	x := i.x
	b := Branch{Leaf: x.Name(x.Records[tip].UUID), Line: int(x.Records[tip].Line), Kind: "branch"}
	if x.Records[tip].Has(transcript.Sidechain) {
		b.Kind = "sidechain"
	}
	r := tip
	for r >= 0 && !seen[r] {
		seen[r] = true
		b.Records++
		r = x.Parent(r)
	}
	if r >= 0 {
		b.Fork = int(x.Records[r].Line)
	}
	return b
}
