package spec

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// assignment is one change of a job from outside the file: a.b.c=VALUE.
type assignment struct {
	text   string
	secret bool
}

// shown is the assignment as it can be printed.
func (a *assignment) shown() string {
	name, _, _ := strings.Cut(a.text, "=")
	switch {
	case a.secret:
		return starred(name) + "=***"
	case len(a.text) > maxShown || strings.ContainsFunc(a.text, unprintable):
		return ""
	}
	return starred(a.text)
}

// assign applies an assignment to the values.
func (d *document) assign(s string) {
	if d.root == nil {
		return
	}
	set := &assignment{text: s}
	name, value, ok := strings.Cut(s, "=")
	segs := strings.Split(name, ".")
	bad := func(what string) {
		d.reportAt(mark{set: set}, "", "bad-assignment", what, "write --set path.to.field=value")
	}
	for _, seg := range segs {
		if !ok || strings.TrimSpace(seg) != seg || seg == "" {
			bad("is not an assignment")
			return
		}
	}
	n, what := setNode(value)
	if n == nil {
		bad(what)
		return
	}
	d.graft(set, segs, n)
}

// setNode parses the value of an assignment: a scalar, or flow style.
func setNode(value string) (n *yaml.Node, what string) {
	if offset, what, _ := newText([]byte(value)).fault(); offset >= 0 {
		return nil, what
	}
	first, second, err := documents([]byte(value))
	switch {
	case err != nil:
		return nil, "is not YAML: " + message(err)
	case second != nil:
		return nil, "has more than one value"
	case first == nil && value == "":
		return &yaml.Node{Kind: yaml.ScalarNode}, ""
	case first == nil:
		return nil, "has no value"
	}
	n = first.Content[0]
	switch {
	case n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0:
		return nil, "has a value of several lines or fields"
	case n.HeadComment+n.LineComment+n.FootComment+first.HeadComment+first.FootComment != "":
		return nil, "has a comment in its value; quote the number sign"
	}
	return n, ""
}

// graft puts a value at the path, in place of what stands there. Mappings on the
// way that are missing are made; whether they may exist is checked later.
func (d *document) graft(set *assignment, segs []string, n *yaml.Node) {
	here, at := mark{set: set}, ""
	parent := d.root
	for _, seg := range segs[:len(segs)-1] {
		at = member(at, seg)
		if _, ok := parent[seg]; !ok {
			d.spots[at] = &spot{key: here, val: here}
			parent[seg] = map[string]any{}
		}
		child, ok := parent[seg].(map[string]any)
		if !ok {
			d.reportAt(here, at, "wrong-type", "has no fields", "assign to it as a whole")
			return
		}
		parent = child
	}
	last := segs[len(segs)-1]
	at = member(at, last)
	d.spots.drop(at)
	r := &reader{document: d, set: set}
	parent[last] = r.value(n, at, here, 0)
}
