package compress

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
)

// publishStep puts the candidate beside the session.
func (f *fold) publishStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.composed(ctx, in); err != nil {
		return step.Output{}, err
	}
	if err := f.session.Unchanged(f.env.FS); err != nil {
		return step.Output{}, err
	}
	path := f.target()
	if err := f.prepare(path); err != nil {
		return step.Output{}, refusal(ctx, path, err)
	}
	owned, _ := f.env.Owned(path)
	p, err := publish.Candidate(ctx, f.env.FS, publish.Request{
		Path: path, Prepared: true, Token: f.env.Token, Replaces: owned, Force: f.env.Force,
		Write: f.write, Verify: f.verifyStaged,
	})
	return step.Output{Published: step.Candidate(p)}, refusal(ctx, path, err)
}

// publishable refuses an output that is the session itself, and one of ours that
// somebody else changed. One that is not ours the publication refuses, unless it has
// the same bytes; before somebody is asked for a summary that could not be published,
// it is refused here.
func (f *fold) publishable() error {
	path := f.target()
	if err := f.distinct(path); err != nil {
		return err
	}
	owned, ok := f.env.Owned(path)
	if f.env.Force {
		return nil
	}
	if !ok {
		if _, err := f.env.FS.Stat(path); err != nil || !f.asksModel() {
			return nil
		}
		return publish.Exists(path, "a file that precis did not write stands there")
	}
	_, sum, err := fsys.Sum(f.env.FS, path)
	if err != nil || sum == owned {
		return nil // what else is wrong with it, the publication tells
	}
	return publish.Exists(path, "the file at the output was changed since precis wrote it")
}

func (f *fold) write(w io.Writer) error {
	_, err := f.solution.candidate.WriteTo(w)
	return err
}

// intendCandidate says what the publication will find to do.
func (f *fold) intendCandidate(ctx context.Context, in step.Input) ([]step.Published, error) {
	if err := f.composed(ctx, in); err != nil {
		return nil, err
	}
	p := step.Published{Op: step.Create, Path: f.target(), Bytes: f.verified.Size, SHA256: f.candidateSum()}
	_, sum, err := fsys.Sum(f.env.FS, p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && sum == p.SHA256:
		p.Op = step.Keep
	default: // what it may not replace, the publication refuses
		p.Op = step.Replace
	}
	return []step.Published{p}, nil
}

// settleCandidate finds out whether a publication was done.
func (f *fold) settleCandidate(_ context.Context, intent []step.Published) (step.Output, bool, error) {
	for _, p := range intent {
		publish.Sweep(f.env.FS, filepath.Dir(p.Path))
		size, sum, err := fsys.Sum(f.env.FS, p.Path)
		if err != nil || size != p.Bytes || sum != p.SHA256 {
			return step.Output{}, false, nil // the publication is tried again, and sees for itself
		}
	}
	return step.Output{Published: intent}, true, nil
}

// prepare makes the folder of a file and removes what killed runs left there, once
// a run.
func (f *fold) prepare(path string) error {
	dir := filepath.Dir(path)
	return f.env.Once("folder "+dir, func() error {
		err := fsys.MkdirAll(f.env.FS, dir)
		publish.Sweep(f.env.FS, dir)
		return err
	})
}

// verifyStaged makes sure that what was written is what was verified.
func (f *fold) verifyStaged(r io.ReaderAt, size int64) error {
	sum, err := sumOf(io.NewSectionReader(r, 0, size))
	if err != nil {
		return err
	}
	if sum != f.candidateSum() {
		return f.refuse("stage-differs", "the bytes on disk are not the ones that were verified", "check the disk; nothing was published")
	}
	return f.session.Unchanged(f.env.FS)
}

// target is the path of this session's candidate.
func (f *fold) target() string { return f.job.Resolve(f.output()) }

// output is the file that the job leaves, as the job names it.
func (f *fold) output() string {
	switch f.job.Publish.To {
	case "candidate":
		return strings.ReplaceAll(f.job.Publish.Path, "{session}", f.item.ID)
	case "replace":
		return filepath.Base(f.item.Source)
	}
	return ""
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
	return &step.Refusal{Class: "output-is-input", Message: "the output path is the session itself", Place: step.Place{File: path}, Next: "choose another publish.path, or publish.to: replace"}
}

// refusal says what a person can do about a publication that did not happen.
func refusal(ctx context.Context, path string, err error) error {
	var r *publish.Refusal
	var ours *step.Refusal
	switch {
	case err == nil, errors.As(err, &ours), errors.As(err, &r), ctx.Err() != nil:
		return err
	}
	return &step.Refusal{Class: "output-unwritable", Message: "the new file cannot be written", Place: step.Place{File: path}, Next: "see that its folder can be written and has room", Err: err}
}
