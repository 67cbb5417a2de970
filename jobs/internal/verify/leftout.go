package verify

import (
	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Group are conversation records that a selection leaves out although a client
// may well bring them back.
type Group struct {
	Rule    string
	Reason  string
	Records []int // in file order
}

// LeftOut finds them: what was written after the pointer, and what the client's
// own compaction kept by reference only.
func LeftOut(src *transcript.Source, sel *topology.Selection) ([]Group, error) {
	var out []Group
	if len(sel.Later) > 0 {
		out = append(out, Group{"records-after-pointer", "written after the last pointer, going on from it", sel.Later})
	}
	kept, err := preserved(src, sel)
	if len(kept) > 0 {
		out = append(out, Group{"preserved-left-out", "kept by reference in the client's own compaction, not on the plain chain", kept})
	}
	return out, err
}

// preserved are the records that the last boundary of the chain names and the
// chain does not hold.
func preserved(src *transcript.Source, sel *topology.Selection) ([]int, error) {
	at := -1
	for _, r := range sel.Walk {
		if src.Boundary(r) {
			at = r
		}
	}
	if at < 0 {
		return nil, nil
	}
	line, err := src.Record(at)
	if err != nil {
		return nil, err
	}
	active := make(map[int]bool, len(sel.Active))
	for _, r := range sel.Active {
		active[r] = true
	}
	var out []int
	list := jsonspan.Value{Kind: jsonspan.Object, Raw: line}.Get("compactMetadata").Get("preservedMessages").Get("uuids")
	for u := range list.Elements() {
		sym, known := src.Lookup(u.Text())
		if r := src.ByUUID(sym); known && r >= 0 && !active[r] {
			out = append(out, r)
		}
	}
	return out, nil
}
