package modelsummary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxNamed bounds how many anchors a message names.
const maxNamed = 100

// required reports the groups that nothing cites. What a missing coverage line will
// cite is not asked for twice.
func (c *checker) required() {
	records := map[anchor]bool{}
	for _, n := range c.Groups {
		if a := (anchor{N: n}); !c.cited[a] && !c.lacks[n] {
			records[a] = true
		}
	}
	handoff := map[anchor]bool{}
	for _, n := range c.HandoffGroups {
		if a := (anchor{true, n}); !c.cited[a] {
			handoff[a] = true
		}
	}
	c.uncitedGroups(GroupUncited, "required record", records)
	c.uncitedGroups(HandoffUncited, "required handoff line", handoff)
	c.few(len(records))
}

func (c *checker) uncitedGroups(rule, noun string, uncited map[anchor]bool) {
	if len(uncited) == 0 {
		return
	}
	at := slices.IndexFunc(c.lines, func(l line) bool { return l.text == EvidenceSection })
	if at < 0 {
		at = c.last()
	}
	c.anchors(rule, at, plural(len(uncited), noun)+" cited nowhere",
		"cite each in square brackets in a line that it supports", slices.Collect(maps.Keys(uncited)))
}

// few reports too few records cited, unless mending the rest will mend it.
func (c *checker) few(uncited int) {
	n := 0
	for a := range c.cited {
		if !a.Handoff {
			n++
		}
	}
	if least := c.leastAnchors(); n+len(c.lacks)+uncited < least {
		c.lack(AnchorsFew, c.last(), fmt.Sprintf("%s cited, and the pack shows %d", plural(n, "record"), len(c.Shown)),
			fmt.Sprintf("cite at least %d different ones", least))
	}
}

// anchors reports several anchors as one problem. The message names the first.
func (c *checker) anchors(rule string, at int, message, fix string, list []anchor) {
	slices.SortFunc(list, func(a, b anchor) int { return cmp.Compare(a.N, b.N) })
	var names []string
	for _, a := range list {
		names = append(names, a.String())
	}
	message += ": " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		message += fmt.Sprintf(" and %d more", more)
	}
	c.lack(rule, at, message, fix).Anchors = names
}
