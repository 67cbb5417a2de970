package topology

import (
	"fmt"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Mode is how the leaf is chosen.
type Mode string

// Modes of selection.
const (
	Pointer      Mode = "pointer"       // the physically last last-prompt record
	Client       Mode = "client"        // what a client resumes
	Agreed       Mode = "agreed"        // pointer and client, which must select the same
	Leaf         Mode = "leaf"          // a record the person names
	PhysicalTail Mode = "physical-tail" // no chain: all records in file order
)

// Status is the outcome of a strict selection.
type Status string

// The statuses, in the order in which they are decided.
const (
	DuplicateUUID   Status = "duplicate-uuid"
	Absent          Status = "absent"
	MalformedLeaf   Status = "malformed"
	Dangling        Status = "dangling"
	Loop            Status = "loop"
	MalformedParent Status = "malformed-parent"
	NonMonotonic    Status = "non-monotonic"
	SessionMismatch Status = "session-mismatch"
	ExtensionLimit  Status = "extension-limit"
	ExtensionBranch Status = "extension-branch"
	ExtensionUnsafe Status = "extension-unsafe"
	Valid           Status = "valid"
	Refused         Status = "refused" // the client would not resume the session
)

// Options choose the leaf.
type Options struct {
	Mode Mode
	Leaf string // with mode leaf: the record's uuid
	// Extension is how many tool-result records after the pointer may be taken as
	// the closure of its open calls; 0 takes none.
	Extension int
	// Client is the version of the client that will resume the session, "" for the
	// newest one known.
	Client string
}

// Selection is the outcome.
type Selection struct {
	Mode    Mode
	Status  Status
	Pointer int // record of the authoritative pointer, -1 without one
	Leaf    int // the selected leaf, -1 without one
	// Walk is the plain line from root to leaf by parentUuid.
	Walk []int
	// Active is the walk with the parallel fragments and results of its turns, in
	// the order in which the client sends them.
	Active []int
	// Recovered counts the active records that are not on the walk.
	Recovered int
	Extended  []int // records taken after the pointer, part of Walk
	Later     []int // records after the pointer that go on from the leaf and are left out
	Lineage   Lineage
	// Open are calls of a client's chain that nothing answers and that the client
	// would answer itself.
	Open []OpenCall
	// AttachmentInversions counts the tolerated edges whose child stands before
	// its parent in the file.
	AttachmentInversions int
	// Missing is the uuid a dangling chain ends at; Reached how many records hang
	// together below it.
	Missing  string
	Reached  int
	Findings []finding.Finding
}

// OpenCall is a call without a result.
type OpenCall struct {
	Use   transcript.Sym
	Call  int    // the record that makes it
	After int    // the active record behind which its result belongs
	Text  string // what the client says of it
}

// OK reports whether the chain was selected.
func (s *Selection) OK() bool { return s.Status == Valid }

// selector carries one selection.
type selector struct {
	x *transcript.Index
	o Options
	s *Selection
}

// Select resolves the active records of a session by the pointer, a leaf, or the
// file's order; [Choose] knows the client as well.
func Select(x *transcript.Index, o Options) *Selection {
	s := &Selection{Mode: o.Mode, Pointer: x.LastPointer(), Leaf: -1}
	if o.Mode == PhysicalTail {
		return s.physicalTail(x)
	}
	sel := &selector{x: x, o: o, s: s}
	for _, stage := range []func() Status{
		sel.duplicates, sel.leaf, sel.walk, sel.order, sel.lineage, sel.extend,
	} {
		if s.Status = stage(); s.Status != "" {
			return s
		}
	}
	s.Status = Valid
	sel.completeUnits()
	sel.later()
	return s
}

// physicalTail takes every record as it stands, but for those that carry session
// state, of which the last ones are projected; it isolates no branch.
func (s *Selection) physicalTail(x *transcript.Index) *Selection {
	s.Status = Valid
	for i := range x.Records {
		if t := x.Records[i].Type; t == transcript.LastPrompt || t.Control() && !x.Records[i].Has(transcript.HasUUID) {
			continue
		}
		s.Active = append(s.Active, i)
		if x.Records[i].UUID != 0 {
			s.Leaf = i
		}
	}
	s.Walk = s.Active
	if s.Leaf < 0 {
		s.fault(x, -1, Absent, "no record has a uuid", "")
		s.Status = Absent
	}
	return s
}

func (s *Selection) fault(x *transcript.Index, r int, status Status, message, fix string) {
	s.Findings = append(s.Findings, finding.At(x, r, finding.Finding{
		Rule: string(status), Severity: finding.Error, Message: message, Fix: fix,
	}))
}

// duplicates refuses a uuid that occurs twice, wherever: an index by uuid would
// be ambiguous.
func (t *selector) duplicates() Status {
	first := make(map[transcript.Sym]int)
	for i := range t.x.Records {
		u := t.x.Records[i].UUID
		if u == 0 || t.x.ByUUID(u) == i && first[u] == 0 {
			continue
		}
		if first[u] == 0 {
			first[u] = i + 1
			continue
		}
		t.s.fault(t.x, i, DuplicateUUID,
			fmt.Sprintf("the uuid stands at line %d already", t.x.Records[first[u]-1].Line),
			"take one of the two out of a copy; precis validate tells all of them")
	}
	if len(first) > 0 {
		return DuplicateUUID
	}
	return ""
}

// leaf finds the record the chain ends at.
func (t *selector) leaf() Status {
	s, x := t.s, t.x
	if t.o.Mode == Leaf {
		sym, ok := x.Lookup(t.o.Leaf)
		if s.Leaf = x.ByUUID(sym); !ok || s.Leaf < 0 {
			s.Leaf = -1
			s.Missing = t.o.Leaf
			s.fault(x, -1, Dangling, "no record has the uuid given as mode.leaf", "precis inspect lists the leaves of the file")
			return Dangling
		}
		return ""
	}
	if s.Pointer < 0 {
		s.fault(x, -1, Absent, "the file has no last-prompt record, so nothing says where the conversation ends", LeafHint(x))
		return Absent
	}
	ptr := &x.Records[s.Pointer]
	if !ptr.Has(transcript.HasLeaf) {
		s.fault(x, s.Pointer, MalformedLeaf, "the last last-prompt record names no leaf (an older pointer format, or damage); earlier pointers are not used, they may name a state that was left", LeafHint(x))
		return MalformedLeaf
	}
	if s.Leaf = x.ByUUID(ptr.Leaf); s.Leaf < 0 {
		s.Missing = x.Name(ptr.Leaf)
		s.fault(x, s.Pointer, Dangling, "the pointer names a record that is not in the file", LeafHint(x))
		return Dangling
	}
	return ""
}

// LeafHint names the physically last conversation record, the likely leaf.
func LeafHint(x *transcript.Index) string {
	if r := LastConversation(x); r >= 0 {
		return fmt.Sprintf("if line %d is where the conversation ends: %s", x.Records[r].Line, LeafFlags(x, r))
	}
	return "the file holds no conversation"
}

// LeafFlags are what makes a run end the conversation at a record.
func LeafFlags(x *transcript.Index, r int) string {
	return "--set mode.chain=leaf --set mode.leaf=" + x.Name(x.Records[r].UUID)
}

// LastConversation is the physically last user or assistant record outside
// helper chains, -1 without one.
func LastConversation(x *transcript.Index) int {
	for i := len(x.Records) - 1; i >= 0; i-- {
		r := &x.Records[i]
		if r.API() && r.UUID != 0 && !r.Has(transcript.Sidechain) {
			return i
		}
	}
	return -1
}

// walk follows the parents from the leaf to a root.
func (t *selector) walk() Status {
	s, x := t.s, t.x
	seen := make([]bool, len(x.Records))
	status := Status("")
	for r := s.Leaf; ; {
		if seen[r] {
			s.fault(x, r, Loop, "the records of the chain form a circle: "+t.circle(r), "set parentUuid in a copy where the circle should end: to the record before, or to null")
			status = Loop
			break
		}
		seen[r] = true
		s.Walk = append(s.Walk, r)
		rec := &x.Records[r]
		if rec.BadParent != transcript.ParentFine {
			s.fault(x, r, MalformedParent, "parentUuid is a "+rec.BadParent.String()+" where a uuid or null belongs", "set it in a copy to the uuid of the record before, or to null")
			status = MalformedParent
			break
		}
		if rec.Parent == 0 {
			break
		}
		if r = x.Parent(r); r < 0 {
			s.Missing = x.Name(rec.Parent)
			child := s.Walk[len(s.Walk)-1]
			s.fault(x, child, Dangling, fmt.Sprintf("the parent %s of this record is not in the file; %d records hang together below it", s.Missing, len(s.Walk)), "set parentUuid in a copy to the uuid of the record it goes on from; or keep what hangs together from a record below the gap")
			status = Dangling
			break
		}
	}
	s.Reached = len(s.Walk)
	slices.Reverse(s.Walk)
	return status
}

// circle lists the lines of a parent circle.
func (t *selector) circle(start int) string {
	text := fmt.Sprint(t.x.Records[start].Line)
	for r, n := t.x.Parent(start), 0; n < 20; n++ {
		text += fmt.Sprintf(" -> %d", t.x.Records[r].Line)
		if r == start {
			return text
		}
		r = t.x.Parent(r)
	}
	return text + " -> ..."
}

// order refuses a child that stands before its parent in the file, except
// between attachments of one session: those are written out of order by healthy
// clients.
func (t *selector) order() Status {
	x := t.x
	status := Status("")
	for i := 1; i < len(t.s.Walk); i++ {
		p, c := t.s.Walk[i-1], t.s.Walk[i]
		if c > p {
			continue
		}
		a, b := &x.Records[p], &x.Records[c]
		if a.Type == transcript.Attachment && b.Type == transcript.Attachment && a.Session == b.Session && a.Session != 0 {
			t.s.AttachmentInversions++
			continue
		}
		t.s.fault(x, c, NonMonotonic, fmt.Sprintf("the record stands before its parent, which is at line %d", a.Line), "precis inspect shows the chain; the file was spliced or written by two processes")
		status = NonMonotonic
	}
	return status
}

// later lists the conversation that goes on below the leaf after the pointer.
func (t *selector) later() {
	if t.s.Pointer < 0 || t.o.Mode != Pointer {
		return
	}
	x := t.x
	below := make([]bool, len(x.Records))
	for _, r := range t.s.Active {
		below[r] = true
	}
	active := slices.Clone(below)
	for i := range x.Records {
		r := &x.Records[i]
		if active[i] || r.UUID == 0 {
			continue
		}
		p := x.Parent(i)
		if p < 0 || !below[p] || active[p] && p != t.s.Leaf {
			continue
		}
		below[i] = true
		if i > t.s.Pointer && r.API() && !r.Has(transcript.Sidechain) {
			t.s.Later = append(t.s.Later, i)
		}
	}
}
