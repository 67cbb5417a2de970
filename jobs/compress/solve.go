package compress

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis/jobs/internal/compose"
	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/jobs/internal/verify"
	"github.com/precis-dev/precis/spec/canon"
)

// solution is the cut that was found, with what stands in front of it.
type solution struct {
	cut       int
	sets      *partition.Sets
	summary   string
	digest    string // of the summary's text
	item      string // item digest
	candidate *compose.Candidate
	tokens    int64 // estimate of the candidate
	active    int64 // estimate of the active records
	folded    int64 // of those that were folded
}

// solver looks for the longest raw part that meets every gate. Cuts are tried in
// order, so the summary is built up as the cut moves on.
type solver struct {
	f       *fold
	cuts    *partition.Cuts
	builder *summary.Builder
	told    int // active records the builder has seen
	last    int // the greatest cut the floor of raw records allows
}

// solve finds the cut.
func (f *fold) solve(ctx context.Context) (*solver, *solution, error) {
	if err := f.readPriors(); err != nil {
		return nil, nil, err
	}
	s := &solver{f: f, cuts: partition.NewCuts(f.session.Index, f.sel)}
	s.builder = summary.New(f.ownRoom())
	sol, err := s.solve(ctx)
	return s, sol, err
}

func (s *solver) solve(ctx context.Context) (*solution, error) {
	cut, err := s.start()
	if err != nil {
		return nil, err
	}
	sol, least, err := s.search(ctx, cut, s.last)
	if err != nil {
		return nil, err
	}
	if sol != nil {
		return sol, s.f.sendable(sol)
	}
	return nil, s.refuse(ctx, least)
}

// search tries the cuts from the first to the last. Without a solution it gives
// the gates that the candidate closest to them broke.
func (s *solver) search(ctx context.Context, cut, last int) (*solution, []gate, error) {
	var least []gate
	for cut > 0 && cut <= last {
		sol, err := s.at(ctx, cut)
		if err != nil {
			return nil, nil, err
		}
		broken := s.broken(sol)
		if len(broken) == 0 {
			return sol, nil, nil
		}
		if least == nil || excess(broken) < excess(least) {
			least = broken
		}
		next := s.beyond(sol, broken)
		if final := s.cuts.Prev(last); (next < 0 || next > last) && cut < final {
			next = final // what is refused is the smallest that is allowed
		}
		cut = next
	}
	return nil, least, nil
}

// excess is how far the worst of the gates is broken, as a factor.
func excess(broken []gate) float64 {
	worst := 0.0
	for _, g := range broken {
		worst = max(worst, float64(g.value)/float64(g.limit))
	}
	return worst
}

// sendable refuses to keep a record that a model's server refuses as it is.
func (f *fold) sendable(sol *solution) error {
	if faults := verify.Content(f.session.Source, sol.sets.Raw); finding.HasErrors(faults) {
		return f.broken("", faults)
	}
	return nil
}

// start plans the first cut: the ratio's, unless the floor of raw records or the
// structure of the session says otherwise.
func (s *solver) start() (int, error) {
	b := s.f.job.Budgets
	p := s.cuts.Plan(partition.Goal{Keep: b.KeepRecords, Bytes: s.room(), Tokens: gateOf(int64(b.Tokens))})
	if p.Cut < 0 {
		return 0, s.nothing()
	}
	if s.last = p.Last; p.Short {
		s.warn("fewer-records-kept", fmt.Sprintf("the structure of the session leaves %d records to keep, fewer than budgets.keepRecords: %d", s.cuts.Len()-p.Last, b.KeepRecords))
	}
	return p.Cut, nil
}

// room is how many bytes of the conversation may stay raw: the share the ratio
// asks for, and never more than the byte gate.
func (s *solver) room() int64 {
	b := s.f.job.Budgets
	room := int64(b.Ratio * float64(s.cuts.Bytes(0)))
	if b.Bytes > 0 {
		room = min(room, b.Bytes)
	}
	return room
}

// gateOf turns the spec's "0 is none" into the solver's "negative is none".
func gateOf(limit int64) int64 {
	if limit == 0 {
		return -1
	}
	return limit
}

// nothing is the refusal of a session with nothing to fold.
func (s *solver) nothing() error {
	n, keep := s.cuts.Len(), s.f.job.Budgets.KeepRecords
	if s.cuts.Next(s.cuts.Forced) < 0 && s.cuts.Forced > 1 {
		return s.f.refuse("nothing-after-prior-compact", "no record follows the last compact pair or session change that could be kept", "work on in the session before compressing it again")
	}
	next := fmt.Sprintf("lower budgets.keepRecords below %d to fold something", n)
	if best := s.cuts.Next(s.cuts.Forced); best > 0 {
		next = fmt.Sprintf("--set budgets.keepRecords=%d folds the least there is to fold", n-best)
	}
	return s.f.refuse("nothing-to-summarize", fmt.Sprintf("the conversation has %d records and %d are to be kept, so nothing is old enough to fold", n, keep), next)
}

// at folds everything before the cut.
func (s *solver) at(ctx context.Context, cut int) (*solution, error) {
	if err := s.tell(ctx, cut); err != nil {
		return nil, err
	}
	f := s.f
	sets := f.setsAt(cut)
	text := s.builder.Text(f.facts(sets, s.cuts.Tokens(0)-s.cuts.Tokens(cut)))
	if f.asksModel() {
		text = f.reserve(text, s.cuts.Tokens(0)-s.cuts.Tokens(cut))
	} else {
		text = f.layered(text)
	}
	return s.folded(cut, sets, text)
}

// folded is the candidate whose folded records the text stands for.
func (s *solver) folded(cut int, sets *partition.Sets, text string) (*solution, error) {
	f := s.f
	sol := &solution{cut: cut, sets: sets, summary: text, active: s.cuts.Tokens(0), folded: s.cuts.Tokens(0) - s.cuts.Tokens(cut)}
	sol.digest = hash([]byte(text))
	sol.item = itemDigest(f.request(), f.session.SHA256(), sol.digest)
	c, err := compose.Compose(compose.Input{
		Source: f.session.Source, Selection: f.sel, Sets: sets, Item: sol.item, Summary: text,
		Fold: f.describe(sol, s.cuts.Tokens(cut)),
	})
	if err != nil {
		return nil, err
	}
	sol.candidate = c
	sol.tokens = c.PairTokens + s.cuts.Tokens(cut)
	return sol, nil
}

// tell gives the builder the records up to the cut. It is where the time of a
// fold goes, so it looks whether the person wants to stop.
func (s *solver) tell(ctx context.Context, cut int) error {
	for ; s.told < cut; s.told++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := evidence.Entries(s.f.session.Source, s.f.sel.Active[s.told])
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Kind != summary.Prior || !s.f.priors.verbatim {
				s.builder.Add(e)
			}
		}
	}
	return nil
}

// gate is a hard limit that a candidate broke.
type gate struct {
	name         string
	limit, value int64
	kept         int // raw records of the candidate
}

// broken are the gates that a candidate does not meet.
func (s *solver) broken(sol *solution) []gate {
	b := s.f.job.Budgets
	kept := s.cuts.Len() - sol.cut
	var out []gate
	if b.Tokens > 0 && sol.tokens > int64(b.Tokens) {
		out = append(out, gate{"tokens", int64(b.Tokens), sol.tokens, kept})
	}
	if b.Bytes > 0 && sol.candidate.Size() > b.Bytes {
		out = append(out, gate{"bytes", b.Bytes, sol.candidate.Size(), kept})
	}
	return out
}

// What the part of a candidate beside the raw records can lose when the cut moves
// on: each record its uuid in the boundary's list, and the summary a little when
// more is told.
const (
	uuidBytes   = 39
	uuidTokens  = 10
	summarySway = 0.05
	leastSway   = 512
)

// beyond is the next cut that may meet the broken gates, -1 without one. Only cuts
// that cannot meet them are passed over.
func (s *solver) beyond(sol *solution, broken []gate) int {
	next := s.cuts.Next(sol.cut + 1)
	for next > 0 && slices.ContainsFunc(broken, func(g gate) bool { return s.least(sol, g.name, next) > g.limit }) {
		next = s.cuts.Next(next + 1)
	}
	return next
}

// least is what a gate measures at a later cut at least.
func (s *solver) least(sol *solution, name string, next int) int64 {
	raw, uuid, rest := s.cuts.Tokens(next), int64(uuidTokens), sol.tokens-s.cuts.Tokens(sol.cut)
	if name == "bytes" {
		raw, uuid, rest = s.cuts.Bytes(next), uuidBytes, sol.candidate.Size()-s.cuts.Bytes(sol.cut)
		rest -= s.f.bytesOf(sol.sets.Side)
	}
	rest -= int64(summarySway*float64(rest)) + leastSway
	return raw + rest - uuid*int64(next-sol.cut)
}

// bytesOf is the size of some records with their line ends.
func (f *fold) bytesOf(records []int) int64 {
	n := int64(0)
	for _, r := range records {
		n += int64(f.session.Records[r].Len) + 1
	}
	return n
}

// refuse says which gates fail, by how much, and what would let it pass.
func (s *solver) refuse(ctx context.Context, broken []gate) error {
	var told, raise []string
	for _, g := range broken {
		told = append(told, fmt.Sprintf("%d %s, %d more than budgets.%s: %d allows", g.value, g.name, g.value-g.limit, g.name, g.limit))
		raise = append(raise, fmt.Sprintf("budgets.%s to %d", g.name, g.value))
	}
	message := fmt.Sprintf("with the newest %d records kept the candidate has %s", broken[0].kept, strings.Join(told, ", and "))
	next := "raise " + strings.Join(raise, " and ")
	sol, _, err := s.search(ctx, s.cuts.Next(s.last+1), s.cuts.Len())
	if err != nil {
		return err
	}
	if sol != nil {
		next = fmt.Sprintf("lower budgets.keepRecords to %d, or %s", s.cuts.Len()-sol.cut, next)
	}
	return s.f.refuse("gate-"+broken[0].name, message, next)
}

func (s *solver) warn(rule, message string) {
	s.f.warnings = append(s.f.warnings, finding.Finding{Rule: rule, Severity: finding.Warning, Message: message})
}

// facts is what the summary's head says about the session.
func (f *fold) facts(sets *partition.Sets, tokens int64) summary.Facts {
	facts := summary.Facts{
		Title: f.title(sets), SourcePrefix: f.session.SHA256()[:16],
		Records: len(sets.Summary), Tokens: int(tokens),
		First: slices.Min(sets.Summary) + 1, Last: slices.Max(sets.Summary) + 1,
	}
	if !f.asksModel() { // to whom they are evidence
		facts.Handoff = f.texts.handoff()
	}
	facts.Cwd, facts.Branch, facts.Model = f.place(sets)
	return facts
}

// describe is what the boundary records about the fold.
func (f *fold) describe(sol *solution, kept int64) compose.Fold {
	return compose.Fold{
		Engine: EngineVersion, Client: rules(f.job).Version, Request: f.request(), SourceSHA256: f.session.SHA256(), SummarySHA256: sol.digest,
		SummaryMode: f.job.Mode.Summary, SourceRecords: len(f.session.Records),
		FoldedTokens: sol.folded, KeptTokens: kept,
		FoldedDigest:       lineSet(sol.sets.Summary),
		BranchDigest:       lineSet(sol.sets.ExcludedBranch),
		UnattributedDigest: lineSet(sol.sets.ExcludedUnattributed),
	}
}

// lineSet is the format's content-free digest of a set of records.
func lineSet(records []int) string {
	n := make([]int, len(records))
	for i, r := range records {
		n[i] = r + 1
	}
	return canon.LineSet(n)
}
