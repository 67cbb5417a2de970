package compress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/pack"
	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/jobs/internal/tokens"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/spec/secret"
)

// Artifacts of an evidence pack: its text, what a summary of it is checked against,
// and what is in it by numbers. Those of a part have its number behind a dash.
const (
	packName     = "pack"
	expectName   = "expect"
	evidenceName = "evidence"
)

// staged tells whether a fold that is too long for one pack is summarized in parts.
func (f *fold) staged() bool { return f.job.Author.Fold == "staged" }

// packStep decides the cut and makes the evidence pack: in parts, if it must be and
// the job allows it.
func (f *fold) packStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.planned(ctx); err != nil {
		return step.Output{}, err
	}
	// Nobody is asked for a summary of a session that could not be published with it.
	if _, _, err := f.verify(ctx, f.planning.candidate); err != nil {
		return step.Output{}, err
	}
	out := step.Output{Artifacts: map[string]step.Artifact{}, Facts: map[string]any{"cut": f.planning.cut}}
	if err := f.packs(in, &out); err != nil {
		return step.Output{}, f.tooLarge(err)
	}
	var err error
	out.Observed, err = f.observeTexts(ctx)
	return out, err
}

// evidence asks for the pack of the whole fold.
func (f *fold) evidence() pack.Request {
	j, b, sets := f.job, f.job.Budgets, f.planning.sets
	runs := len(f.sel.Lineage.Runs)
	return pack.Request{
		Fold: sets.Summary, Raw: len(sets.Raw), Mode: string(f.sel.Mode), Leaf: f.planning.candidate.Leaf,
		Mixed: runs > 1, Transitions: max(0, runs-1), Terms: f.texts.terms(),
		Binding: evidence.Request{
			TargetRatio: b.Ratio, TargetEstimatedTokens: b.Tokens, MinRecentRecords: b.KeepRecords, SummaryCharBudget: b.SummaryChars,
			PreserveActiveChain: f.sel.Mode != topology.PhysicalTail, MaxExtension: j.Mode.Extension, ResumeLeaf: j.Mode.Leaf,
			MaxSnapshots: j.Checkpoints.Max, CheckpointPolicy: j.Checkpoints.Policy,
			PackChars: b.PackChars, PackTokens: b.PackTokens, PriorsVerbatim: f.priors.verbatim, Handoff: f.texts.Handoff,
		},
	}
}

// limits are those of the summary that goes into the session.
func (f *fold) limits() expect {
	e := roomy(f.planning.spare)
	e.MaxChars, e.Whole = least(e.MaxChars, f.proseRoom(f.planning.appendix)), f.job.Mode.Embed == "full"
	return e
}

// perToken is how many characters a token has at most.
const perToken = int(20 / tokens.ASCII)

// roomy are the limits of a summary that some room is for: of the text itself, a tenth
// less, for the signs that JSON adds.
func roomy(r room) expect {
	toks := r.Tokens * 9 / 10
	chars := least(least(r.Chars, r.Bytes)*9/10, toks*perToken)
	return expect{Expect: modelsummary.Expect{MaxChars: chars, MaxTokens: toks}, Room: r}
}

// of is what a pack asks, with these limits.
func (e expect) of(p *pack.Pack) *expect {
	of := expect{p.Expect(), e.Room}
	of.MaxChars, of.MaxTokens, of.Whole = e.MaxChars, e.MaxTokens, e.Whole
	return &of
}

// least is the smaller of two limits, of which 0 is none.
func least(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// packs makes one pack, or one for each part of a fold that is too long for that.
func (f *fold) packs(in step.Input, out *step.Output) error {
	req := f.evidence()
	var parts [][]int
	if f.staged() {
		req.Binding.Handoff = nil // for the last pack, that of the parts
		var err error
		parts, err = pack.Split(f.session.Source, req, func(pos int) bool { return f.solver.cuts.Legal(pos) })
		if err != nil {
			return err
		}
	}
	large := new(pack.TooLarge)
	if len(parts) < 2 {
		p, err := pack.Build(f.session.Source, f.evidence())
		if err == nil {
			return f.putPack(in, out, "", p, f.limits())
		}
		if !errors.As(err, &large) || !f.staged() {
			return err
		}
	}
	return f.packParts(in, out, req, parts)
}

// packParts makes a pack for each part.
func (f *fold) packParts(in step.Input, out *step.Output, req pack.Request, parts [][]int) error {
	limits, err := f.partLimits(parts)
	for i, part := range parts {
		if err != nil {
			return err
		}
		req.Fold = part
		var p *pack.Pack
		if p, err = pack.Build(f.session.Source, req); err == nil {
			err = f.putPack(in, out, partNumber(i+1), p, limits)
		}
	}
	out.Facts["parts"] = len(parts)
	return err
}

// partLimits share out the last pack among the summaries of the parts: a tenth of it
// is for the signs that quoting adds. What cannot fit is refused before anybody is
// asked.
func (f *fold) partLimits(parts [][]int) (expect, error) {
	p, err := f.lastFrame(parts)
	if err == nil {
		err = f.hasRoom(f.limits().of(p))
	}
	if err != nil {
		return expect{}, err
	}
	n, b := len(parts), f.job.Budgets
	labels := 500 + 50*n // which depend on what the parts say
	e := roomy(room{Chars: (b.PackChars - p.Chars - labels) / n, Tokens: (b.PackTokens - p.Tokens - labels/perToken) / n})
	if e.MaxChars < summary.MinBudget || e.MaxTokens < summary.MinBudget/perToken {
		return expect{}, f.refuse("pack-too-large",
			fmt.Sprintf("the conversation falls into %d parts, and a pack of %d characters (budgets.packChars) and %d tokens (budgets.packTokens) has no room for their summaries", n, b.PackChars, b.PackTokens),
			"raise budgets.packChars and budgets.packTokens as far as the model can read")
	}
	e.MaxChars = min(e.MaxChars, b.SummaryChars)
	return e, nil
}

// lastFrame is the last pack with as good as nothing from the parts.
func (f *fold) lastFrame(parts [][]int) (*pack.Pack, error) {
	req, end := f.evidence(), 0
	for _, part := range parts {
		end += len(part)
		req.Parts = append(req.Parts, pack.Part{End: end, Text: strings.Repeat("x", modelsummary.MinSupport)})
	}
	return pack.Build(f.session.Source, req)
}

// Evidence says what is in a pack.
type Evidence struct {
	Chars       int `json:"chars"`
	Tokens      int `json:"tokens"`      // estimated
	Shown       int `json:"shown"`       // records
	Mandatory   int `json:"mandatory"`   // of them
	LeftOut     int `json:"leftOut"`     // optional records that are not shown
	Credentials int `json:"credentials"` // what looks like one
}

// putPack stores a pack and what its summary is checked against.
func (f *fold) putPack(in step.Input, out *step.Output, number string, p *pack.Pack, limits expect) error {
	if len(p.Anchors) == 0 {
		return f.refuse("no-evidence", "nothing in the folded records could be cited", "use mode.summary: deterministic")
	}
	e := limits.of(p)
	if err := f.hasRoom(e); err != nil {
		return err
	}
	numbers := Evidence{p.Chars, p.Tokens, len(p.Anchors), len(p.Claims), len(p.Omitted), len(secret.Find(p.Text))}
	var err error
	if out.Artifacts[packName+number], err = in.Put(p.Text); err != nil {
		return err
	}
	if out.Artifacts[expectName+number], err = put(in, e); err != nil {
		return err
	}
	out.Artifacts[evidenceName+number], err = put(in, numbers)
	return err
}

// hasRoom refuses a pack whose comment, headings and coverage lines alone would fill
// a summary that goes into the session as it is: nobody could write it.
func (f *fold) hasRoom(e *expect) error {
	const leastProse = 2000
	lack := e.Least() + leastProse - e.MaxChars
	if !e.Whole || lack <= 0 {
		return nil
	}
	next := fmt.Sprintf("use mode.embed: prose, or raise budgets.summaryChars to %d", f.job.Budgets.SummaryChars+lack)
	if f.priors.verbatim {
		next = "use mode.embed: prose or mode.priorSummaries: fold, or raise budgets.summaryChars"
	}
	return f.refuse("coverage-too-long",
		fmt.Sprintf("comment, headings and the coverage lines of %s need %d characters at least, and the summary may have %d with all of them in it (mode.embed: full)", counted(len(e.Claims), "record"), e.Least(), e.MaxChars), next)
}

// put stores a value as JSON.
func put(in step.Input, v any) (step.Artifact, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return step.Artifact{}, err
	}
	return in.Put(data)
}

// get reads one again.
func get[T any](in step.Input, name string) (v T, err error) {
	data, err := in.Open(in.Artifacts[name])
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	return v, err
}

// tooLarge makes a refusal of evidence that exceeds a ceiling.
func (f *fold) tooLarge(err error) error {
	if large := new(pack.TooLarge); errors.As(err, &large) {
		return f.refuse("pack-too-large", large.Error(), large.Next())
	}
	return err
}

// partNumber is what the names of a part's artifacts and step end with; parts count
// from 1.
func partNumber(i int) string { return "-" + strconv.Itoa(i) }

// parts are the steps that ask for the summaries of the parts, and the one that
// makes the last pack from them; none where one pack has all.
func (f *fold) parts(made map[string]step.Artifact) ([]step.Step, error) {
	var steps []step.Step
	needs := []string{"pack"}
	for made[packName+partNumber(len(steps)+1)] != (step.Artifact{}) {
		s := f.asking(partNumber(len(steps) + 1))
		steps = append(steps, s)
		needs = append(needs, s.Name)
	}
	if len(steps) == 0 {
		return nil, nil
	}
	return append(steps, step.Step{Name: "merge", Version: 1, Needs: needs, Observe: f.observeTexts, Run: f.mergeStep}), nil
}

// lastPack is the step that made the pack of the summary that goes into the session.
func lastPack(in step.Input) string {
	if in.Artifacts["merge/"+packName] != (step.Artifact{}) {
		return "merge/"
	}
	return "pack/"
}

// mergeStep makes the last pack: the summaries of the parts are its evidence.
func (f *fold) mergeStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.planned(ctx); err != nil {
		return step.Output{}, err
	}
	req := f.evidence()
	end := 0
	for i := 1; in.Artifacts["pack/"+packName+partNumber(i)] != (step.Artifact{}); i++ {
		number := partNumber(i)
		e, err := get[expect](in, "pack/"+expectName+number)
		if err != nil {
			return step.Output{}, err
		}
		s, err := answered(in, "author"+number, e)
		if err != nil {
			return step.Output{}, err
		}
		end += len(e.Summary)
		req.Parts = append(req.Parts, pack.Part{End: end, Text: s.Prose})
	}
	p, err := pack.Build(f.session.Source, req)
	if err != nil {
		return step.Output{}, f.tooLarge(err)
	}
	out := step.Output{Artifacts: map[string]step.Artifact{}, Facts: map[string]any{}}
	if err := f.putPack(in, &out, "", p, f.limits()); err != nil {
		return step.Output{}, err
	}
	out.Observed, err = f.observeTexts(ctx)
	return out, err
}
