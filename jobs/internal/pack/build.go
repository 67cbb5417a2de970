package pack

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Pack is an evidence pack and what went into it.
type Pack struct {
	Text          []byte
	Header        modelsummary.Header
	Records       int            // of the file
	Folded        []int          // numbers of the folded records, in the order of the conversation
	Anchors       []int          // numbers of the records shown, ascending
	Groups        map[string]int // the record that covers each group
	HandoffGroups map[string]int // the handoff line that covers each
	HandoffLines  int
	Claims        map[int]string // text of each mandatory record by number
	Omitted       []Omission     // by number
	Chars, Tokens int
	PriorChars    int
	Priors        int
}

// Truncated reports that optional evidence is missing.
func (p *Pack) Truncated() bool { return len(p.Omitted) > 0 }

// Expect is what a summary written from the pack is checked against.
func (p *Pack) Expect() modelsummary.Expect {
	return modelsummary.Expect{
		Header: p.Header, Records: p.Records, Summary: p.Folded, Shown: p.Anchors, Groups: p.Groups,
		HandoffLines: p.HandoffLines, HandoffGroups: p.HandoffGroups, Claims: p.Claims,
	}
}

// Omission is an optional record that is not shown.
type Omission struct {
	N   int
	Why Reason
}

// Reason says why a record is not shown.
type Reason string

// Reasons.
const (
	ZeroPriority Reason = "zero-priority"       // nothing in it tells it from routine
	Noise        Reason = "noise-or-ineligible" // the text is damaged
	Budget       Reason = "pack-budget"         // no room
	Repeated     Reason = "repeated"            // another record with its text is shown
)

var reasons = [...]Reason{ZeroPriority, Noise, Budget, Repeated}

// Build makes the pack of a request. Mandatory evidence that exceeds a ceiling
// is a [TooLarge].
func Build(src *transcript.Source, req Request) (*Pack, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	c, err := collect(src, &req)
	if err != nil {
		return nil, err
	}
	f, err := c.frame(c.items, 0)
	if err != nil {
		return nil, err
	}
	s := newSelection(c, f)
	if err := s.choose(f.groups); err != nil {
		return nil, err
	}
	return c.finish(f, s.chosen)
}

// frame is that of the items as evidence, from position from of the fold on;
// digests that are not known yet are as long as they will be.
func (c *collector) frame(items []item, from int) (*frame, error) {
	full, half := strings.Repeat("0", 64), strings.Repeat("0", 16)
	request, err := c.req.bound()
	f := &frame{
		req: c.req, total: len(c.src.Records), maxTokens: c.req.Binding.PackTokens,
		groups: groupsOf(items, from, len(c.req.Fold)), handoff: c.req.handoffLines(),
		header: modelsummary.Header{
			Source: hex.EncodeToString(c.src.SHA256[:]), SummarySource: full, Anchors: half, Groups: half,
			Handoff: evidence.HandoffDigest(c.req.Binding.Handoff), Request: request, Claims: full,
		},
	}
	f.handoffGroups = handoffGroups(len(f.handoff))
	for i := range items {
		if items[i].kind != 0 {
			f.claims = append(f.claims, items[i].n)
		}
		if items[i].kind&prior != 0 {
			f.priors++
			f.priorChars += items[i].chars
		}
	}
	slices.Sort(f.claims)
	return f, err
}

// selection fills a pack up to its ceilings.
type selection struct {
	c      *collector
	used   size
	chosen []*item
	texts  map[string]bool // of optional records
}

func newSelection(c *collector, f *frame) *selection {
	return &selection{c: c, used: f.largest(), texts: map[string]bool{}}
}

// choose takes what is required, then the other records by rank while they fit.
func (s *selection) choose(groups []group) error {
	rest, err := s.begin(s.c.items, groups)
	if err != nil {
		return err
	}
	if e := s.c.req.tooLarge(s.used); e != nil {
		return e
	}
	slices.SortFunc(rest, func(a, b *item) int { return cmp.Or(b.rank-a.rank, b.n-a.n) })
	for _, it := range rest {
		if err := s.offer(it); err != nil {
			return err
		}
	}
	return nil
}

// begin takes the mandatory records and those that cover a group, and returns
// the others.
func (s *selection) begin(items []item, groups []group) (rest []*item, err error) {
	required := make(map[int]bool, len(groups))
	for _, g := range groups {
		required[g.n] = true
	}
	for i := range items {
		it := &items[i]
		switch {
		case it.kind != 0:
			s.used = s.used.plus(it.size)
			s.chosen = append(s.chosen, it)
		case required[it.n]:
			if err := s.require(it); err != nil {
				return nil, err
			}
		default:
			rest = append(rest, it)
		}
	}
	return rest, nil
}

func (s *selection) require(it *item) error {
	line, text, err := s.c.optionalLine(it)
	s.take(it, line, text, measure(line))
	return err
}

func (s *selection) take(it *item, line, text []byte, cost size) {
	s.used = s.used.plus(cost)
	s.texts[string(text)] = true
	it.line = line
	s.chosen = append(s.chosen, it)
}

// offer takes an optional record if there is room; one that is too large is
// passed over.
func (s *selection) offer(it *item) error {
	if !s.fits(it.size) {
		s.c.omit(it.n, Budget)
		return nil
	}
	line, text, err := s.c.optionalLine(it)
	cost := measure(line)
	switch {
	case err != nil:
		return err
	case s.texts[string(text)]:
		s.c.omit(it.n, Repeated)
	case !s.fits(cost):
		s.c.omit(it.n, Budget)
	default:
		s.take(it, line, text, cost)
	}
	return nil
}

func (s *selection) fits(cost size) bool {
	b := s.c.req.Binding
	return s.used.plus(cost).within(b.PackChars, b.PackTokens)
}

// tooLarge is the refusal of a needed size, nil if it fits.
func (r *Request) tooLarge(needed size) *TooLarge {
	b := r.Binding
	if needed.within(b.PackChars, b.PackTokens) {
		return nil
	}
	e := &TooLarge{Parts: r.Parts != nil, Chars: needed.chars, Tokens: needed.weight.Tokens(), MaxChars: b.PackChars, MaxTokens: b.PackTokens}
	if len(r.Fold) > 0 {
		e.First, e.Last = slices.Min(r.Fold)+1, slices.Max(r.Fold)+1
	}
	return e
}

// finish writes the pack from the lines that were chosen.
func (c *collector) finish(f *frame, chosen []*item) (*Pack, error) {
	slices.SortFunc(chosen, func(a, b *item) int { return a.n - b.n })
	slices.SortFunc(c.omitted, func(a, b Omission) int { return a.N - b.N })
	p := &Pack{
		Groups: asMap(f.groups), HandoffGroups: asMap(f.handoffGroups), HandoffLines: len(f.handoff),
		Claims: c.claims, Omitted: c.omitted, Priors: f.priors, PriorChars: f.priorChars,
		Records: f.total, Folded: numbers(c.req.Fold),
	}
	room := 0
	for _, it := range chosen {
		p.Anchors = append(p.Anchors, it.n)
		room += len(it.line)
	}
	if err := c.seal(f, p); err != nil {
		return nil, err
	}
	p.Header = f.header
	before, after := f.before(), f.after()
	p.Text = append(make([]byte, 0, len(before)+room+len(after)), before...)
	for _, it := range chosen {
		p.Text = append(p.Text, it.line...)
	}
	p.Text = append(p.Text, after...)
	total := measure(p.Text)
	p.Chars, p.Tokens = total.chars, total.weight.Tokens()
	return p, nil
}

// numbers are those of records, which a pack counts from 1.
func numbers(records []int) []int {
	n := slices.Clone(records)
	for i := range n {
		n[i]++
	}
	return n
}

// seal fills in what is known once the evidence is chosen.
func (c *collector) seal(f *frame, p *Pack) error {
	groups := make(map[string][]int, len(f.groups))
	for _, g := range f.groups {
		groups[g.name] = []int{g.n}
	}
	var err error
	if f.header.Groups, err = evidence.GroupsDigest(groups); err != nil {
		return err
	}
	if f.header.Claims, err = evidence.ClaimsDigest(c.claims); err != nil {
		return err
	}
	f.header.SummarySource = c.sum.Digest()
	f.header.Anchors = evidence.AnchorsDigest(p.Anchors)
	f.shown, f.omitted, f.truncated = len(p.Anchors), len(c.omitted), p.Truncated()
	f.reasons = map[string]int{}
	omitted := make([]int, len(c.omitted))
	for i, o := range c.omitted {
		f.reasons[string(o.Why)]++
		omitted[i] = o.N
	}
	f.omittedDigest = evidence.AnchorsDigest(omitted)
	return nil
}
