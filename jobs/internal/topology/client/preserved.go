package client

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// preserved are the records that the client's own compaction kept by reference.
type preserved struct {
	boundary int
	anchor   transcript.Sym
	uuids    []transcript.Sym // in order; 0 for one that is not in the file
	listed   map[transcript.Sym]bool
	head     transcript.Sym // of a segment, when there is no list
	tail     transcript.Sym
	line     []int // the records, once they are found
}

func (p *preserved) names(uuid transcript.Sym) bool { return p.listed[uuid] }

// findPreserved reads the last boundary that names any (C1).
func (g *graph) findPreserved() (*preserved, error) {
	for b := len(g.x.Records) - 1; b >= 0; b-- {
		if !g.x.Boundary(b) || !g.x.Records[b].Has(transcript.MetadataMap) {
			continue
		}
		c, err := g.src.Compaction(b)
		if err != nil {
			return nil, err
		}
		if len(c.Kept) > 0 || c.Tail != "" {
			return g.preserved(b, c), nil
		}
	}
	return nil, nil
}

func (g *graph) preserved(boundary int, c transcript.Compaction) *preserved {
	p := &preserved{boundary: boundary, anchor: g.symbol(c.Anchor), head: g.symbol(c.Head), tail: g.symbol(c.Tail), listed: map[transcript.Sym]bool{}}
	for _, uuid := range c.Kept {
		s := g.symbol(uuid)
		p.uuids = append(p.uuids, s)
		p.listed[s] = true
	}
	for _, s := range []transcript.Sym{p.head, p.tail} {
		p.listed[s] = true
	}
	delete(p.listed, 0)
	return p
}

func (g *graph) symbol(uuid string) transcript.Sym {
	s, _ := g.x.Lookup(uuid)
	return s
}

// splice hangs the preserved records as a line below their anchor (C3) and drops
// what stands before the boundary beside them (C4). A list that is not complete
// is none: the boundary is a plain one then (C2).
func (g *graph) splice() {
	p := g.kept
	if p == nil {
		return
	}
	if p.line = g.preservedLine(); p.line == nil {
		g.kept = nil
		return
	}
	in := make([]bool, len(g.x.Records))
	for _, r := range p.line {
		in[r] = true
	}
	for i := range p.boundary {
		if g.node[i] && !in[i] {
			g.drop(i)
		}
	}
	anchor := int32(g.find(p.anchor))
	if anchor < 0 {
		anchor = missing
	}
	g.rehang(anchor, in)
	for _, r := range p.line {
		g.parent[r], anchor = anchor, int32(r)
	}
}

// rehang hangs below the last preserved record what hung below the anchor, or
// below what is gone.
func (g *graph) rehang(anchor int32, in []bool) {
	tail := int32(g.kept.line[len(g.kept.line)-1])
	for i := range g.x.Records {
		above := g.parent[i]
		if g.node[i] && !in[i] && above >= 0 && (above == anchor || !g.node[above]) {
			g.parent[i] = tail
		}
	}
}

// drop takes a record out of the graph.
func (g *graph) drop(i int) {
	g.node[i] = false
	g.byUUID[g.x.Records[i].UUID] = 0
}

// preservedLine are the records, in order; nil when one of them is not loaded.
func (g *graph) preservedLine() []int {
	p := g.kept
	if len(p.uuids) == 0 {
		return g.segment(g.find(p.head), g.find(p.tail))
	}
	var line []int
	for _, u := range p.uuids {
		r := g.find(u)
		if r < 0 {
			return nil
		}
		line = append(line, r)
	}
	return line
}

// segment is the parent walk from tail to head, nil when it does not arrive.
func (g *graph) segment(head, tail int) []int {
	var line []int
	for r := tail; r >= 0 && head >= 0 && len(line) < len(g.x.Records); r = int(g.parent[r]) {
		if line = append(line, r); r == head {
			slices.Reverse(line)
			return line
		}
	}
	return nil
}
