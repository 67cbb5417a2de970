package client

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// skipAbove is the size in bytes above which a file is read from its last
// boundary on (L2).
const skipAbove = 5 << 20

// Parents that are no record.
const (
	root    = -1
	missing = -2
)

// graph is the session as the client holds it in memory.
type graph struct {
	src   *transcript.Source
	x     *transcript.Index
	rules *Rules
	// node tells the records that can be links of a chain: loaded, of a type that
	// has a place in it, the last copy of their uuid (L3, L4).
	node     []bool
	byUUID   []int32 // record+1 by symbol
	parent   []int32
	first    map[int32]int32 // of a repeated uuid: its first copy, by its last
	kept     *preserved
	boundary int // the last boundary of the file, -1 without one

	up    []int32 // by record: the nearest ancestor that is no progress
	below *children
	clock *clock
	err   error // the first trouble in reading the file again
}

// load reads what the client would.
func load(src *transcript.Source, rules *Rules) (*graph, error) {
	g := &graph{src: src, x: src.Index, rules: rules, boundary: -1}
	for i := range g.x.Records {
		if g.x.Boundary(i) {
			g.boundary = i
		}
	}
	var err error
	if g.kept, err = g.findPreserved(); err != nil {
		return nil, err
	}
	g.nodes()
	g.link()
	g.splice()
	return g, nil
}

// nodes decides which records are loaded and finds the last copy of each uuid.
func (g *graph) nodes() {
	x := g.x
	g.node = make([]bool, len(x.Records))
	g.byUUID = make([]int32, x.Symbols())
	g.first = map[int32]int32{}
	for i := range x.Records {
		r := &x.Records[i]
		if r.UUID == 0 || !links(r.Type) || g.hidden(i) {
			continue
		}
		if old := g.byUUID[r.UUID] - 1; old >= 0 {
			g.node[old] = false
			g.first[int32(i)] = g.place(old)
		}
		g.byUUID[r.UUID] = int32(i) + 1
		g.node[i] = true
	}
}

// Node reports the types that a conversation is made of.
func Node(t transcript.Type) bool {
	switch t {
	case transcript.User, transcript.Assistant, transcript.System, transcript.Attachment:
		return true
	}
	return false
}

// links reports the types that are links of a chain: nodes, and progress, which
// only passes on. A parent of any other type is one that is not found.
func links(t transcript.Type) bool { return Node(t) || t == transcript.Progress }

// hidden reports a record that the client does not read: the second on its line
// (L1), and in a large file what stands before the last boundary and is not named
// by it (L2).
func (g *graph) hidden(i int) bool {
	r := &g.x.Records[i]
	if g.second(i) {
		return true
	}
	if g.x.Size <= skipAbove || i >= g.boundary {
		return false
	}
	if g.kept != nil && g.kept.boundary == g.boundary && g.kept.names(r.UUID) {
		return false
	}
	return true
}

// place is where a record stands among those that are put in: a repeated one where
// it was first (W3).
func (g *graph) place(i int32) int32 {
	if first, ok := g.first[i]; ok {
		return first
	}
	return i
}

// find returns the record that the client has under a uuid, missing without one.
func (g *graph) find(uuid transcript.Sym) int {
	return int(g.byUUID[uuid]) - 1
}

// link resolves the parents.
func (g *graph) link() {
	g.parent = make([]int32, len(g.x.Records))
	for i := range g.x.Records {
		g.parent[i] = root
		if g.node[i] {
			g.parent[i] = g.parentOf(&g.x.Records[i])
		}
	}
}

func (g *graph) parentOf(r *transcript.Record) int32 {
	switch {
	case r.BadParent != transcript.ParentFine && r.BadParent != transcript.ParentEmpty:
		return missing
	case r.Parent == 0:
		return root
	case g.byUUID[r.Parent] == 0:
		return missing
	}
	return g.byUUID[r.Parent] - 1
}

// above is the nearest ancestor of a record that is no progress, which only
// passes on (L3); negative without one.
func (g *graph) above(i int) int {
	if g.up == nil {
		g.passProgress()
	}
	return int(g.up[i])
}

func (g *graph) passProgress() {
	const unknown = -3
	g.up = make([]int32, len(g.x.Records))
	for i := range g.up {
		g.up[i] = unknown
	}
	for i := range g.up {
		var rows []int32 // progress on the way up
		p := g.parent[i]
		for p >= 0 && g.typ(int(p)) == transcript.Progress && g.up[p] == unknown {
			g.up[p] = missing // a circle of progress leads nowhere
			rows = append(rows, p)
			p = g.parent[p]
		}
		if p >= 0 && g.typ(int(p)) == transcript.Progress {
			p = g.up[p]
		}
		g.up[i] = p
		for _, r := range rows {
			g.up[r] = p
		}
	}
}

// broken reports a message that says nothing the client can read, or an
// attachment that holds none (L3).
func (g *graph) broken(i int) bool {
	r := &g.x.Records[i]
	switch r.Type {
	case transcript.User, transcript.Assistant:
		return !r.Has(transcript.TextContent) && !r.Has(transcript.ListContent)
	case transcript.Attachment:
		return !r.Has(transcript.HasAttachment)
	}
	return false
}

// refusal is why the file as a whole is not loaded, "" when it is.
func (g *graph) refusal() string {
	if g.rules.refusesNull && slices.ContainsFunc(g.x.Damage, func(d transcript.Damage) bool { return d.Null }) {
		return NullLine
	}
	return ""
}

func (g *graph) sidechain(i int) bool { return g.x.Records[i].Has(transcript.Sidechain) }

func (g *graph) typ(i int) transcript.Type { return g.x.Records[i].Type }

// side reports records that accompany messages: they are never what a chain is
// about.
func (g *graph) side(i int) bool {
	t := g.typ(i)
	return t == transcript.System || t == transcript.Attachment
}

// children lists the nodes below each node, in file order.
type children struct{ first, next []int32 }

func (g *graph) childrenOf(i int, each func(child int)) {
	if g.below == nil {
		g.adopt()
	}
	for c := g.below.first[i]; c > 0; c = g.below.next[c-1] {
		each(int(c) - 1)
	}
}

func (g *graph) adopt() {
	n := len(g.x.Records)
	g.below = &children{make([]int32, n), make([]int32, n)}
	for i := n - 1; i >= 0; i-- {
		if p := g.parent[i]; g.node[i] && p >= 0 {
			g.below.next[i], g.below.first[p] = g.below.first[p], int32(i)+1
		}
	}
}
