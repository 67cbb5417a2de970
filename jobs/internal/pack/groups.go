package pack

import (
	"fmt"
	"slices"
	"strings"
)

// group is a name and the number of the one record or handoff line that covers
// it.
type group struct {
	name string
	n    int
}

// groupsOf are the coverage groups of the evidence items, which come from a fold
// of count records that begins at position from.
func groupsOf(items []item, from, count int) []group {
	if len(items) == 0 {
		return nil
	}
	best := map[string]*item{}
	cover := func(name string, it *item) {
		if have := best[name]; have == nil || outranks(it, have) {
			best[name] = it
		}
	}
	for i := range items {
		it := &items[i]
		cover(temporal[min(2, 3*(it.pos-from)/count)], it)
		for _, of := range [...]class{humanUser, assistantResearch, sourceTool} {
			if it.class&of != 0 {
				cover(of.String(), it)
			}
		}
	}
	groups := []group{{"latest-evidence", items[len(items)-1].n}}
	for name, it := range best {
		groups = append(groups, group{name, it.n})
	}
	for i := range items {
		groups = items[i].own(groups)
	}
	slices.SortFunc(groups, func(a, b group) int { return strings.Compare(a.name, b.name) })
	return groups
}

var temporal = [...]string{"temporal-early", "temporal-middle", "temporal-late"}

// outranks reports that a is the more important record, or the later one of
// equals.
func outranks(a, b *item) bool {
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	return a.n > b.n
}

// own appends the groups that a mandatory record makes by itself.
func (it *item) own(groups []group) []group {
	for _, g := range [...]struct {
		kind kind
		form string
	}{
		{human, "semantic-human-user-L%09d"},
		{assistant, "semantic-assistant-semantic-L%09d"},
		{prior, "prior-summary-L%d"},
	} {
		if it.kind&g.kind != 0 {
			groups = append(groups, group{fmt.Sprintf(g.form, it.n), it.n})
		}
	}
	return groups
}

// handoffGroups are the lines of a handoff file of n lines that must be cited.
func handoffGroups(n int) []group {
	if n == 0 {
		return nil
	}
	var groups []group
	for _, g := range [...]group{
		{"handoff-early", 1}, {"handoff-middle", max(1, (n+1)/2)},
		{"handoff-late", max(1, (2*n+2)/3)}, {"handoff-latest", n},
	} {
		if !slices.ContainsFunc(groups, func(have group) bool { return have.n == g.n }) {
			groups = append(groups, g)
		}
	}
	return groups
}

func asMap(groups []group) map[string]int {
	m := make(map[string]int, len(groups))
	for _, g := range groups {
		m[g.name] = g.n
	}
	return m
}
