package modelsummary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxNamed bounds how many anchors a message names.
const maxNamed = 100

// required reports the groups that nothing cites. What a missing coverage line will
// cite is not asked for twice.
func (c *checker) required() {
	at := slices.IndexFunc(c.lines, func(l line) bool { return l.text == EvidenceSection })
	if at < 0 {
		at = c.last()
	}
	uncited := map[Anchor]bool{}
	for _, n := range c.Groups {
		if a := (Anchor{N: n}); !c.cited[a] && !c.lacks[n] {
			uncited[a] = true
		}
	}
	for _, n := range c.HandoffGroups {
		if a := (Anchor{true, n}); !c.cited[a] {
			uncited[a] = true
		}
	}
	var records, handoff []Anchor
	for a := range uncited {
		if a.Handoff {
			handoff = append(handoff, a)
		} else {
			records = append(records, a)
		}
	}
	const fix = "cite each in square brackets in a line that it supports"
	if len(records) > 0 {
		c.anchors(GroupUncited, at, plural(len(records), "required record")+" cited nowhere", fix, records)
	}
	if len(handoff) > 0 {
		c.anchors(HandoffUncited, at, plural(len(handoff), "required handoff line")+" cited nowhere", fix, handoff)
	}
	c.few(len(records))
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
func (c *checker) anchors(rule string, at int, message, fix string, list []Anchor) {
	slices.SortFunc(list, func(a, b Anchor) int { return cmp.Compare(a.N, b.N) })
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
