package compress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
	"github.com/precis-dev/precis/jobs/internal/finding"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/verify"
)

// readStep indexes and hashes the source.
func (f *fold) readStep(ctx context.Context, _ step.Input) (step.Output, error) {
	if err := f.open(ctx); err != nil {
		return step.Output{}, err
	}
	x := f.session.Index
	return step.Output{Facts: map[string]any{
		"source": f.session.SHA256(), "bytes": x.Size, "records": len(x.Records),
	}}, nil
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

// solved finds the cut, once.
func (f *fold) solved(ctx context.Context) error {
	if f.solution != nil {
		return nil
	}
	if err := f.selected(ctx); err != nil {
		return err
	}
	sol, err := f.solve(ctx)
	if err != nil {
		return err
	}
	f.solution = sol
	return nil
}

// foldStep decides the cut and writes the summary.
func (f *fold) foldStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.solved(ctx); err != nil {
		return step.Output{}, err
	}
	text, err := in.Put([]byte(f.solution.summary))
	if err != nil {
		return step.Output{}, err
	}
	return step.Output{
		Artifacts: map[string]step.Artifact{"summary": text},
		Facts:     map[string]any{"cut": f.solution.cut, "item": f.solution.item},
	}, nil
}

// composed verifies the candidate, once.
func (f *fold) composed(ctx context.Context) error {
	if f.verified != nil {
		return nil
	}
	if err := f.solved(ctx); err != nil {
		return err
	}
	x, findings, err := verify.Candidate(f.solution.candidate, f.session.Source, f.sel.Mode == topology.PhysicalTail, rules(f.job), func(int64) error { return ctx.Err() })
	if err != nil {
		return err
	}
	if finding.HasErrors(findings) {
		return f.unverified(findings)
	}
	f.verified = x
	for _, w := range findings {
		if w.Rule == verify.ClientDiffers || w.Rule == verify.ClientMends { // the others are told of the source
			f.warnings = append(f.warnings, w)
		}
	}
	return nil
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
func (f *fold) composeStep(ctx context.Context, _ step.Input) (step.Output, error) {
	if err := f.composed(ctx); err != nil {
		return step.Output{}, err
	}
	return step.Output{Facts: map[string]any{
		"candidate": fmt.Sprintf("%x", f.verified.SHA256), "candidateBytes": f.verified.Size,
	}}, nil
}

// publishStep puts the candidate in place.
func (f *fold) publishStep(ctx context.Context, _ step.Input) (step.Output, error) {
	if err := f.composed(ctx); err != nil {
		return step.Output{}, err
	}
	if err := f.session.Unchanged(f.env.FS); err != nil {
		return step.Output{}, err
	}
	if f.job.Publish.To == "none" {
		return step.Output{}, nil
	}
	path := f.target()
	if err := f.distinct(path); err != nil {
		return step.Output{}, err
	}
	owned, _ := f.env.Owned(path)
	p, err := publish.Candidate(ctx, f.env.FS, publish.Request{
		Path: path, Token: f.env.Token, Replaces: owned, Force: f.env.Force,
		Write:  func(w io.Writer) error { _, err := f.solution.candidate.WriteTo(w); return err },
		Verify: f.verifyStaged,
	})
	f.kept = p.Op == publish.Keep
	return step.Output{Published: published(p)}, refusal(path, err)
}

// verifyStaged makes sure that what was written is what was verified.
func (f *fold) verifyStaged(r io.ReaderAt, size int64) error {
	sum, err := sumOf(io.NewSectionReader(r, 0, size))
	if err != nil {
		return err
	}
	if sum != fmt.Sprintf("%x", f.verified.SHA256) {
		return f.refuse("stage-differs", "the bytes on disk are not the ones that were verified", "check the disk; nothing was published")
	}
	return f.session.Unchanged(f.env.FS)
}

// target is the output path of this session.
func (f *fold) target() string {
	return f.job.Resolve(strings.ReplaceAll(f.job.Publish.Path, "{session}", f.item.ID))
}

// distinct refuses an output that is the source itself, under whatever name.
func (f *fold) distinct(path string) error {
	same := filepath.Clean(path) == filepath.Clean(f.item.Source)
	if id, ok := fsys.As[fsys.Identity](f.env.FS); ok && !same {
		same, _ = id.SameFile(path, f.item.Source)
	}
	if !same {
		return nil
	}
	return &step.Refusal{Class: "output-is-input", Message: "the output path is the session itself", Place: step.Place{File: path}, Next: "choose another publish.path"}
}

func published(p publish.Published) []step.Published {
	if p.Op == "" {
		return nil
	}
	return []step.Published{{Op: string(p.Op), Path: p.Path, Bytes: p.Bytes, SHA256: p.SHA256}}
}

// refusal says what a person can do about a publication that did not happen.
func refusal(path string, err error) error {
	var r *publish.Refusal
	var ours *step.Refusal
	switch {
	case err == nil, errors.As(err, &ours), errors.As(err, &r), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &step.Refusal{Class: "output-unwritable", Message: "the new file cannot be written", Place: step.Place{File: path}, Next: "see that its folder can be written and has room, or choose another publish.path", Err: err}
}
