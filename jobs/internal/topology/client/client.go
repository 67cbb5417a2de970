package client

import (
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// LeafReason is the rule that decided where the conversation ends.
type LeafReason string

// Why the leaf is the leaf.
const (
	LastRecord      LeafReason = "last-record"      // the last record of the file, or nothing points elsewhere
	PointerLeaf     LeafReason = "pointer"          // the last pointer, which lies on another branch
	ExplicitPointer LeafReason = "explicit-pointer" // a pointer that cuts
	PastGroup       LeafReason = "past-group"       // the pointer lies in a tool group from which the conversation goes on
	NewestBelow     LeafReason = "newest-below"     // no pointer; the newest record below the last
)

// Reasons for which the client refuses a session.
const (
	NullLine         = "null-line"
	NoConversation   = "no-conversation"
	SidechainPointer = "sidechain-pointer"
	NoTimestamp      = "no-timestamp"
	NoContent        = "no-content"
)

// Break is a link that the client could not follow.
type Break struct {
	Child  int
	Parent int // the record it took instead, negative when the chain ends there
	Circle bool
}

// Resolution is what a client makes of a session file.
type Resolution struct {
	Client  string
	Refused string // why it would not resume, "" when it would
	// Pointer is the last-prompt record that counts, Target the record it names,
	// Last the last record of the conversation in the file, Leaf where it ends for
	// the client; each is negative without one.
	Pointer, Target, Last, Leaf int
	LeafReason                  LeafReason
	// Line is the chain from the boundary, or the root, to the leaf by links as the
	// client follows them; Active has the records of its tool groups put in, in the
	// client's order.
	Line, Active []int
	Breaks       []Break
	// Preserved are the records that a compaction kept by reference, if the client
	// takes them.
	Preserved []int
	// Ordered are the active records in the order of the request, message by
	// message; one that no message is made of stands behind the message it followed.
	Ordered []int
	// Sent are the records whose own words stand in the request, in its order;
	// Dropped the active ones that say nothing to the model because the client
	// takes their blocks away.
	Sent, Dropped []int
	// Invented is what the client adds.
	Invented []Invention
	// Messages is the request as messages.
	Messages []Message

	g      *graph
	active []bool // by record
}

// Holds reports whether a record is part of the conversation.
func (r *Resolution) Holds(record int) bool { return r.active != nil && r.active[record] }

// Resolve tells what the client with these rules resumes. The error is the
// source's.
func Resolve(src *transcript.Source, rules *Rules) (*Resolution, error) {
	g, err := load(src, rules)
	if err != nil {
		return nil, err
	}
	r := &Resolution{Client: rules.Version, Pointer: -1, Target: missing, Last: -1, Leaf: -1, g: g}
	if r.Refused = g.refusal(); r.Refused == "" {
		g.resolve(r)
	}
	return r, g.err
}

// Others are what the other known versions resume of the same file, newest first.
func (r *Resolution) Others() ([]*Resolution, error) {
	var out []*Resolution
	for _, rules := range versions {
		if rules.Version == r.Client {
			continue
		}
		other, err := Resolve(r.g.src, rules)
		if err != nil {
			return nil, err
		}
		out = append(out, other)
	}
	return out, nil
}

// resolve finds the leaf, the chain above it, what belongs to it, and the request.
func (g *graph) resolve(r *Resolution) {
	p := g.lastPointer()
	r.Pointer, r.Target, r.Last = p.record, p.target, g.last()
	switch {
	case r.Last < 0:
		r.Refused = NoConversation
	case p.target >= 0 && g.sidechain(p.target):
		r.Refused = SidechainPointer
	default:
		r.Leaf, r.LeafReason = g.leaf(p, r.Last)
		chain, breaks := g.walk(r.Leaf)
		r.Line = g.fromBoundary(chain)
		if r.Refused = g.refusedChain(r.Line); r.Refused == "" {
			g.fill(r, chain, breaks)
		}
	}
}

// fill puts in what belongs to the chain, and makes the request of what stands
// behind its last boundary.
func (g *graph) fill(r *Resolution, chain []int, breaks []Break) {
	on := make([]bool, len(g.x.Records))
	for _, i := range r.Line {
		on[i] = true
	}
	for _, b := range breaks {
		if on[b.Child] {
			r.Breaks = append(r.Breaks, b)
		}
	}
	if g.kept != nil {
		r.Preserved = g.kept.line
	}
	r.Active = g.fromBoundary(g.complete(chain))
	r.active = make([]bool, len(g.x.Records))
	for _, i := range r.Active {
		r.active[i] = true
	}
	g.request(r)
}

// refusedChain is why a client refuses the conversation it found.
func (g *graph) refusedChain(line []int) string {
	if g.rules.refusesBroken && slices.ContainsFunc(line, g.unreadable) {
		return NoContent
	}
	if !g.rules.needsTime {
		return ""
	}
	for _, r := range slices.Backward(line) {
		if t := g.typ(r); t == transcript.User || t == transcript.Assistant {
			if _, ok := g.time(r); !ok {
				return NoTimestamp
			}
			break
		}
	}
	return ""
}

// unreadable reports a record that a client which refuses broken ones stumbles
// over (L3).
func (g *graph) unreadable(r int) bool {
	rec := &g.x.Records[r]
	return g.broken(r) || rec.Has(transcript.NullBlock) || rec.Type == transcript.Assistant && rec.Has(transcript.TextContent)
}
