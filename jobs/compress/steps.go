package compress

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/compose"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/jobs/internal/verify"
)

// observeSource hashes the session.
func (f *fold) observeSource(ctx context.Context) ([]step.Observed, error) {
	size, sum, err := sessions.Sum(ctx, f.env.FS, f.item.Source)
	return f.source(size, sum), err
}

func (f *fold) source(size int64, sum string) []step.Observed {
	return []step.Observed{{Name: "source", Path: f.item.Source, Artifact: step.Artifact{SHA256: sum, Bytes: size}}}
}

// readStep indexes and hashes the source.
func (f *fold) readStep(ctx context.Context, _ step.Input) (step.Output, error) {
	if err := f.open(ctx); err != nil {
		return step.Output{}, err
	}
	x := f.session.Index
	return step.Output{
		Observed: f.source(x.Size, f.session.SHA256()),
		Facts:    map[string]any{"records": len(x.Records)},
	}, nil
}

// selectStep resolves and checks the active records.
func (f *fold) selectStep(ctx context.Context, _ step.Input) (step.Output, error) {
	if err := f.selected(ctx); err != nil {
		return step.Output{}, err
	}
	return step.Output{Facts: map[string]any{
		"chain": string(f.sel.Status), "active": len(f.sel.Active), "activeDigest": lineSet(f.sel.Active),
	}}, nil
}

// solved finds the cut and the text that stands for what is before it, once.
func (f *fold) solved(ctx context.Context, in step.Input) (err error) {
	if f.solution != nil {
		return nil
	}
	if f.asksModel() {
		if err := f.planned(ctx); err != nil {
			return err
		}
		f.solution, err = f.withAnswer(in)
		return err
	}
	if err := f.selected(ctx); err != nil {
		return err
	}
	_, f.solution, err = f.solve(ctx)
	return err
}

// foldStep decides the cut and writes the summary.
func (f *fold) foldStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.solved(ctx, in); err != nil {
		return step.Output{}, err
	}
	text, err := in.Put([]byte(f.solution.summary))
	if err != nil {
		return step.Output{}, err
	}
	observed, err := f.observeTexts(ctx)
	return step.Output{
		Observed:  observed,
		Artifacts: map[string]step.Artifact{"summary": text},
		Facts:     map[string]any{"cut": f.solution.cut, "item": f.solution.item},
	}, err
}

// composed verifies the candidate, once.
func (f *fold) composed(ctx context.Context, in step.Input) error {
	if f.verified != nil {
		return nil
	}
	if err := f.solved(ctx, in); err != nil {
		return err
	}
	x, findings, err := f.verify(ctx, f.solution.candidate)
	if err != nil {
		return err
	}
	f.verified = x
	for _, w := range findings {
		if w.Rule == verify.ClientDiffers || w.Rule == verify.ClientMends { // the others are told of the source
			f.warnings = append(f.warnings, w)
		}
	}
	return nil
}

// verify reads a candidate as somebody else would.
func (f *fold) verify(ctx context.Context, c *compose.Candidate) (*transcript.Index, []finding.Finding, error) {
	x, findings, err := verify.Candidate(c, f.session.Source, f.sel.Mode == topology.PhysicalTail, rules(f.job), func(int64) error { return ctx.Err() })
	if err == nil && finding.HasErrors(findings) {
		err = f.unverified(findings)
	}
	return x, findings, err
}

// unverified refuses a candidate that broke a rule. With a strict chain that is
// a fault of precis; a physical tail may simply not be a conversation.
func (f *fold) unverified(findings []finding.Finding) error {
	err := f.broken("candidate-invalid", findings)
	var r *step.Refusal
	if errors.As(err, &r) {
		r.Place = step.Place{File: f.item.Source}
		r.Message = "the new file does not verify: " + r.Message
		switch {
		case f.sel.Mode == topology.PhysicalTail:
			r.Next = "the physical tail is no conversation by itself; " + topology.LeafHint(f.session.Index)
		case slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Rule == verify.ClientDiffers }) && f.sel.Mode != topology.Client:
			r.Next = "--set mode.chain=client takes what the client resumes"
		default:
			r.Next = "please report this; nothing was published"
		}
	}
	return err
}

// composeStep builds and verifies the candidate.
func (f *fold) composeStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.composed(ctx, in); err != nil {
		return step.Output{}, err
	}
	before, after := f.weights()
	return step.Output{
		Facts: map[string]any{"candidate": f.candidateSum()},
		Sizes: &step.Sizes{Before: before, After: after},
	}, nil
}

// weights are what the session weighs and what the candidate does.
func (f *fold) weights() (before, after step.Size) {
	x := f.session.Index
	return step.Size{Bytes: x.Size, Records: len(x.Records), Tokens: f.solution.active},
		step.Size{Bytes: f.verified.Size, Records: len(f.verified.Records), Tokens: total(f.verified)}
}

func (f *fold) candidateSum() string { return hex.EncodeToString(f.verified.SHA256[:]) }
