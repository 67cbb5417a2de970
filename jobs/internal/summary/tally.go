package summary

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// tally counts what was done in a turn.
type tally struct {
	calls, changes int
	tools          []toolCalls
	span           span
}

type toolCalls struct {
	name  string
	calls int
}

const (
	maxTools   = 64 // told apart in a turn; the calls of others are counted in all
	namedTools = 4  // named, the most used
	manyCalls  = 10 // from here on their tools are named
	toolName   = 60 // bytes that are kept of a name
)

func (t *tally) call(tool string) {
	t.calls++
	tool = beginning(tool, toolName)
	for i := range t.tools {
		if t.tools[i].name == tool {
			t.tools[i].calls++
			return
		}
	}
	if len(t.tools) < maxTools {
		t.tools = append(t.tools, toolCalls{strings.Clone(tool), 1})
	}
}

func (t tally) String() string {
	s := plural(t.calls, "call")
	if t.calls >= manyCalls {
		s += " (" + t.byTool() + ")"
	}
	if t.changes > 0 {
		s += ", " + plural(t.changes, "edit")
	}
	return s
}

// byTool names the most used tools with their calls and counts the calls of
// the others.
func (t tally) byTool() string {
	tools := slices.SortedFunc(slices.Values(t.tools), func(a, b toolCalls) int {
		return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name))
	})
	var parts []string
	rest := t.calls
	for _, u := range tools[:min(len(tools), namedTools)] {
		parts = append(parts, safe(flat(u.name))+" "+strconv.Itoa(u.calls))
		rest -= u.calls
	}
	if rest > 0 {
		parts = append(parts, "others "+strconv.Itoa(rest))
	}
	return strings.Join(parts, ", ")
}
