package topology

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Preserved are the records that a client's own compaction kept by reference:
// they stand before the boundary in the file, and the client hangs them as a
// line below the anchor when it loads it.
type Preserved struct {
	Boundary int // the record that lists them
	Anchor   int // the summary, or the boundary itself
	Records  []int
}

// splice puts the preserved records behind their anchor among the active ones.
// A list that does not fit the chain is left aside, as the client does with one
// that is not complete.
func (t *selector) splice() {
	p, s := t.o.Preserved, t.s
	if p == nil || len(p.Records) == 0 || !slices.Contains(s.Walk, p.Boundary) {
		return
	}
	at := slices.Index(s.Active, p.Anchor)
	if at < 0 || slices.ContainsFunc(p.Records, func(r int) bool { return slices.Contains(s.Active, r) }) {
		return
	}
	s.Active = slices.Insert(s.Active, at+1, p.Records...)
	s.PreservedEnd = at + 1 + len(p.Records)
}

// FindPreserved finds what the file's last compaction that kept anything kept;
// nil when there is none, or when a record of it is not in the file. read gives
// what a boundary says.
func FindPreserved(x *transcript.Index, read func(boundary int) (transcript.Compaction, error)) (*Preserved, error) {
	for b := len(x.Records) - 1; b >= 0; b-- {
		if !x.Boundary(b) || !x.Records[b].Has(transcript.MetadataMap) {
			continue
		}
		c, err := read(b)
		if err != nil {
			return nil, err
		}
		if len(c.Kept) > 0 || c.Tail != "" {
			return resolve(x, b, c), nil
		}
	}
	return nil, nil
}

func resolve(x *transcript.Index, boundary int, c transcript.Compaction) *Preserved {
	record := func(uuid string) int {
		sym, _ := x.Lookup(uuid)
		return x.ByUUID(sym)
	}
	p := &Preserved{Boundary: boundary, Anchor: record(c.Anchor)}
	for _, uuid := range c.Kept {
		p.Records = append(p.Records, record(uuid))
	}
	if len(c.Kept) == 0 {
		p.Records = segment(x, record(c.Head), record(c.Tail))
	}
	if p.Anchor < 0 || len(p.Records) == 0 || slices.Contains(p.Records, -1) {
		return nil
	}
	return p
}

// segment is the plain line from head to tail, nil when there is none.
func segment(x *transcript.Index, head, tail int) []int {
	var line []int
	for r := tail; r >= 0 && head >= 0 && len(line) < len(x.Records); r = x.Parent(r) {
		if line = append(line, r); r == head {
			slices.Reverse(line)
			return line
		}
	}
	return nil
}
