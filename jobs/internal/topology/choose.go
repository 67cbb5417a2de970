package topology

import (
	"errors"
	"fmt"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Choice is the conversation that a job works on.
type Choice struct {
	*Selection
	// Client is what the client named resumes; nil for a physical tail.
	Client *client.Resolution
	// Differ tells what the strict rule and the client do not agree on; nil when
	// they do.
	Differ *Difference
}

// ErrUnknownClient is a client whose rules are not known.
var ErrUnknownClient = errors.New("the rules of this client are not known")

// Choose resolves the active records by a job's mode.chain. Agreed is the
// pointer's chain where that is refused or differs from the client's, and the
// client's where they hold the same messages.
func Choose(src *transcript.Source, o Options) (*Choice, error) {
	if o.Mode == PhysicalTail {
		return &Choice{Selection: Select(src.Index, o)}, nil
	}
	rules, ok := client.Known(o.Client)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownClient, o.Client)
	}
	res, err := client.Resolve(src, rules)
	if err != nil {
		return nil, err
	}
	c := &Choice{Selection: FromClient(src.Index, res), Client: res}
	if o.Mode != Client {
		c.compare(src.Index, o)
	}
	return c, nil
}

// Mend takes out of a client's conversation what the client takes away, and tells
// which calls it would answer itself, so that what is written needs no mending by
// any version.
func (c *Choice) Mend(x *transcript.Index) {
	c.leaveOut(x, c.Client.Dropped)
	c.Open = openCalls(x, c.Client, c.Active)
}

// compare sets the selection against the strict one, which goes where they
// differ, and where a job asks for it alone.
func (c *Choice) compare(x *transcript.Index, o Options) {
	mode := o.Mode
	if mode == Agreed {
		o.Mode = Pointer
	}
	strict := Select(x, o)
	if strict.OK() {
		c.Differ = difference(x, strict, c.Client)
	}
	if mode != Agreed || !strict.OK() || c.Differ != nil {
		c.Selection = strict
	} else {
		c.Findings = nil // the client's are no fault of what both agree on
	}
	c.Mode = mode
}

// FromClient is a client's resolution as a selection.
func FromClient(x *transcript.Index, res *client.Resolution) *Selection {
	s := &Selection{Mode: Client, Status: Valid, Pointer: x.LastPointer(), Leaf: res.Leaf, Active: slices.Clone(res.Ordered)}
	s.Recovered = len(res.Active) - len(res.Line)
	s.Findings = res.Findings()
	if res.Refused != "" {
		s.Status = Refused
	}
	s.materialize(x)
	return s
}

// materialize makes one line of the active records.
func (s *Selection) materialize(x *transcript.Index) {
	s.Walk, s.Lineage = s.Active, runs(x, s.Active)
	for _, r := range s.Active {
		if client.Node(x.Records[r].Type) {
			s.Leaf = r
		}
	}
}

// leaveOut takes records out of the line: what the client takes away of the
// conversation, so that the rest needs no mending.
func (s *Selection) leaveOut(x *transcript.Index, records []int) {
	out := make([]bool, len(x.Records))
	for _, r := range records {
		out[r] = true
	}
	s.Active = slices.DeleteFunc(s.Active, func(r int) bool { return out[r] })
	s.materialize(x)
}

// openCalls are the calls that the client answers itself, each with the end of its
// tool group.
func openCalls(x *transcript.Index, res *client.Resolution, active []int) []OpenCall {
	ends := groupEnds(x, active)
	var out []OpenCall
	for _, i := range res.Invented {
		if i.Use != 0 {
			out = append(out, OpenCall{Use: i.Use, Call: i.After, After: ends[i.After], Text: i.Text})
		}
	}
	return out
}

// groupEnds tells of each record with a call the last of its message and the
// results behind it.
func groupEnds(x *transcript.Index, active []int) []int {
	ends := make([]int, len(x.Records))
	end, result := -1, false // what follows, seen from the end
	for i := len(active) - 1; i >= 0; i-- {
		r := active[i]
		rec := &x.Records[r]
		switch {
		case rec.Type == transcript.User && x.HasTool(r, transcript.Result):
			if !result {
				end, result = r, true
			}
		case rec.Type == transcript.Assistant:
			if next := i + 1; !result && (next >= len(active) || !sameMessage(x, r, active[next])) {
				end = r
			}
			ends[r] = end
			if i == 0 || !sameMessage(x, active[i-1], r) {
				end, result = -1, false
			}
		default:
			end, result = -1, false
		}
	}
	return ends
}

func sameMessage(x *transcript.Index, a, b int) bool {
	ra, rb := &x.Records[a], &x.Records[b]
	return ra.Type == transcript.Assistant && rb.Type == transcript.Assistant && ra.Message != 0 && ra.Message == rb.Message
}

// Difference is what two rules do not agree on.
type Difference struct {
	StrictEnd, ClientEnd int // the leaves; the client's is -1 when it refuses
	Refused              string
	// ClientOnly and StrictOnly are the messages that one of the two leaves out,
	// in file order.
	ClientOnly, StrictOnly []int
	// Turns counts what the person said among them.
	Turns int
}

// difference compares the messages of two selections; nil when they are the same.
func difference(x *transcript.Index, strict *Selection, res *client.Resolution) *Difference {
	d := &Difference{StrictEnd: strict.Leaf, ClientEnd: res.Leaf, Refused: res.Refused}
	mine := make([]bool, len(x.Records))
	for _, r := range strict.Active {
		mine[r] = true
	}
	said := make([]bool, len(x.Records))
	for _, r := range res.Sent {
		said[r] = true
	}
	for r := range x.Records {
		switch theirs := res.Holds(r); {
		case theirs == mine[r] || !x.Records[r].API() && !said[r]:
			continue
		case theirs:
			d.ClientOnly = append(d.ClientOnly, r)
		default:
			d.StrictOnly = append(d.StrictOnly, r)
		}
		if Spoken(x, r) {
			d.Turns++
		}
	}
	if d.Refused == "" && len(d.ClientOnly)+len(d.StrictOnly) == 0 {
		return nil
	}
	return d
}
