package compress

import (
	"context"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
	"github.com/precis-dev/precis/jobs/internal/inuse"
)

// Idle refuses a session that a client may still write to.
func (Kind) Idle(f afero.Fs, path string) error { return inuse.Check(f, path, 0, time.Time{}) }

// idle refuses to replace what is no client's session, and, unless forced, one that
// a client may still write to.
func (f *fold) idle() error {
	if !utf8.ValidString(f.item.Source) {
		return f.refuse("name-not-text", "the file's name is not UTF-8, so the record could not name it", "rename it, or use publish.to: candidate")
	}
	if f.env.Force {
		return inuse.Locate(f.env.FS, f.item.Source)
	}
	return inuse.Check(f.env.FS, f.item.Source, time.Duration(f.job.Publish.Quiet), f.env.Now())
}

// replaceStep puts the candidate in the place of the session.
func (f *fold) replaceStep(ctx context.Context, in step.Input) (step.Output, error) {
	if err := f.composed(ctx, in); err != nil {
		return step.Output{}, err
	}
	i := f.intent()
	if err := f.prepare(i.Path); err != nil {
		return step.Output{}, refusal(ctx, i.Path, err)
	}
	r, err := publish.InPlace(ctx, f.env.FS, publish.Replacement{
		Path: i.Path, Old: i.Old, Token: i.Token, BackupDir: i.BackupDir, KeepTimes: f.job.Publish.KeepTimes, AnyOwner: f.env.Force,
		Write: f.write, Verify: f.verifyStaged, Idle: f.idle,
	})
	if len(r.Left) > 0 { // once more: the trouble may have passed
		if again, e := publish.Recover(f.env.FS, i); e == nil && again.Stands == r.Stands {
			r.Left = again.Left
		}
	}
	return f.replaced(r), refusal(ctx, i.Path, err)
}

// intent is the replacement as it can be taken up again.
func (f *fold) intent() publish.Intent {
	return publish.Intent{
		Path: f.item.Source, Token: f.env.Token, BackupDir: f.backupDir(),
		Old: publish.Content{Bytes: f.session.Index.Size, SHA256: f.session.SHA256()},
		New: publish.Content{Bytes: f.verified.Size, SHA256: f.candidateSum()},
	}
}

// backupDir is the folder of this session's backups. Sessions of different projects
// may have one name, and the count of backups is a session's.
func (f *fold) backupDir() string {
	dir := filepath.Join(f.job.Resolve(f.job.Publish.WorkDir), "backups")
	if own := f.job.Publish.BackupDir; own != "" {
		dir = f.job.Resolve(own)
	}
	project := filepath.Dir(f.item.Source)
	if real, err := fsys.Canonical(f.env.FS, project); err == nil {
		project = real
	}
	return filepath.Join(dir, filepath.Base(project)+"-"+hash([]byte(project))[:8])
}

// intendReplacement says what will stand under the session's name, and instead of
// what.
func (f *fold) intendReplacement(ctx context.Context, in step.Input) ([]step.Published, error) {
	if err := f.composed(ctx, in); err != nil {
		return nil, err
	}
	i := f.intent()
	return []step.Published{{
		Op: step.Replace, Path: i.Path, Bytes: i.New.Bytes, SHA256: i.New.SHA256,
		Old: &step.Artifact{SHA256: i.Old.SHA256, Bytes: i.Old.Bytes},
	}}, nil
}

// settleReplacement ends a replacement that was cut short: the session is the new
// file, or the old one as if nothing had been tried.
func (f *fold) settleReplacement(ctx context.Context, intent []step.Published) (step.Output, bool, error) {
	p := intent[0]
	r, err := publish.Recover(f.env.FS, publish.Intent{
		Path: p.Path, Token: f.env.Token, BackupDir: f.backupDir(),
		Old: publish.Content{Bytes: p.Old.Bytes, SHA256: p.Old.SHA256},
		New: publish.Content{Bytes: p.Bytes, SHA256: p.SHA256},
	})
	if err != nil || r.Stands != publish.NewStands {
		return step.Output{}, false, refusal(ctx, p.Path, err)
	}
	return f.replaced(r), true, nil
}

// replaced is the output for a receipt. What it names besides the session are
// files with bytes that stand nowhere else.
func (f *fold) replaced(r publish.Receipt) step.Output {
	out := step.Output{Published: step.Replacement(r), Facts: map[string]any{
		"method": string(r.Method), "durable": r.Durable, "mode": r.Mode.String(), "timesKept": r.TimesKept,
	}}
	f.tell(out.Facts, r)
	if r.Stands == publish.NewStands && r.Backup != "" {
		out.Published = append(out.Published, f.pruned(out.Facts)...)
	}
	return out
}

// tell adds what is not usual.
func (f *fold) tell(facts map[string]any, r publish.Receipt) {
	for name, list := range map[string][]string{"kept": r.Kept, "left": r.Left} {
		if len(list) > 0 {
			facts[name] = list
		}
	}
	if r.OwnerError != "" {
		facts["ownerError"] = r.OwnerError
	}
	if r.Grown {
		facts["grown"] = true
	}
}

// pruned removes older backups that are too many.
func (f *fold) pruned(facts map[string]any) (out []step.Published) {
	removed, err := publish.Prune(f.env.FS, f.item.Source, f.backupDir(), f.job.Publish.Backups, f.env.Owned)
	if err != nil { // an old backup too many does no harm
		facts["pruneError"] = err.Error()
	}
	for _, b := range removed {
		out = append(out, step.Published{Op: step.Remove, Path: b.Path, Bytes: b.Bytes, SHA256: b.SHA256})
	}
	return out
}
