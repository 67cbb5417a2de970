package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/local"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
	"github.com/precis-dev/precis/spec"
)

// Restore puts back the files that a run replaced, from their backups: those of
// the named items, of all for none. What stands there now becomes a backup in its
// turn, so a restoration can be undone as well. A file that was changed since the
// run is replaced with Options.Force only.
func (e *Engine) Restore(ctx context.Context, id string, items []string, o Options) (Result, error) {
	return e.tell(ctx, o, func(o Options) (Result, error) {
		state, err := e.scan(id, nil)
		if err != nil {
			return Result{}, err
		}
		r, err := e.restoration(state, items, o)
		if err != nil {
			return Result{}, err
		}
		err = r.all(ctx)
		return Result{Run: r.run, Items: r.results}, errors.Join(err, r.journal.Close())
	})
}

// restoration is a restore under way.
type restoration struct {
	Env
	opts    Options
	run     string
	file    string // the journal's
	job     *spec.Job
	guard   step.Guard // nil where nobody else uses the files
	journal *journal.Journal
	items   []*journal.Item
	results []ItemResult
}

// restoration opens the run's record for what is about to be done.
func (e *Engine) restoration(state *journal.State, items []string, o Options) (*restoration, error) {
	job, err := e.frozenJob(state.Run)
	if err != nil {
		return nil, err
	}
	kind, err := e.kind(job.Kind, job.File)
	if err != nil {
		return nil, err
	}
	r := &restoration{Env: e.env, opts: o, run: state.Run.Run, file: e.journalOf(state.Run.Run), job: job}
	r.guard, _ = kind.(step.Guard)
	if r.items, err = e.replacedItems(state, items); err != nil {
		return nil, err
	}
	if r.guard != nil && !o.SessionClosed {
		return nil, &step.Refusal{
			Class: "session-closed-required", Message: "putting a session back needs your word, --session-closed, that no client has it open",
			Next: "close the client, then " + e.env.command("restore", r.run, "--session-closed"),
		}
	}
	r.journal, err = journal.Open(e.env.FS, r.file, e.env.Host, e.env.Now, nil)
	return r, locked(filepath.Dir(r.file), err)
}

// replacedItems are the items whose sources the run replaced.
func (e *Engine) replacedItems(state *journal.State, names []string) ([]*journal.Item, error) {
	if err := e.allNamed(state, names); err != nil {
		return nil, err
	}
	var list []*journal.Item
	for _, i := range state.Items {
		if (len(names) == 0 || slices.ContainsFunc(names, e.naming(i))) && slices.ContainsFunc(i.Published, replacement) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil, &step.Refusal{
			Class: "nothing-to-restore", Message: "the run replaced no session that could be put back", Place: step.Place{File: state.Run.Run},
			Next: e.env.command("show", state.Run.Run) + " tells what it did; if it was cut short, " + e.env.command("resume", state.Run.Run) + " settles it",
		}
	}
	return list, nil
}

func replacement(p step.Published) bool { return p.Op == step.Replace && p.Old != nil }

func (r *restoration) all(ctx context.Context) error {
	r.results = make([]ItemResult, len(r.items))
	for n, i := range r.items {
		result := ItemResult{Item: i.ItemOpened.Item, Session: i.Source, Status: step.Interrupted}
		if ctx.Err() == nil {
			result.Status = step.Done
			err := local.Protect(func() error { return r.item(ctx, i, &result) })
			if err != nil {
				result.set(outcome(ctx, err))
			}
		}
		r.results[n] = result
	}
	return nil
}

// item puts one file back and records it.
func (r *restoration) item(ctx context.Context, i *journal.Item, result *ItemResult) error {
	if i.Result == nil {
		return &step.Refusal{Class: "run-not-finished", Message: "the item was cut short", Place: step.Place{File: i.Source}, Next: r.command("resume", r.run) + " settles it first"}
	}
	was := i.Published[slices.IndexFunc(i.Published, replacement)]
	var err error
	result.Outputs, err = r.putBack(ctx, i, was)
	if len(result.Outputs) == 0 || err == nil && !committed(result.Outputs) {
		result.Status = step.UpToDate
		return err
	}
	recorded := r.journal.Append(&journal.ItemRestored{Item: i.ItemOpened.Item, Published: result.Outputs})
	if recorded == nil {
		recorded = r.journal.Commit()
	}
	return errors.Join(err, recorded)
}

// backup is where the run put the file that it replaced, "" for nowhere.
func backup(i *journal.Item, was step.Published) string {
	for _, p := range i.Published {
		if p.Op == step.Backup && p.SHA256 == was.Old.SHA256 {
			return p.Path
		}
	}
	return ""
}

// write writes the old content: from the backup, or from the run's artifacts if
// that is gone or damaged.
func (r *restoration) write(name string, old step.Artifact) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, sum, err := fsys.Sum(r.FS, name); err == nil && sum == old.SHA256 {
			return r.copy(name, w)
		}
		pack, err := cas.Open(r.FS, filepath.Join(filepath.Dir(r.file), packName))
		if err != nil {
			return err
		}
		data, err := pack.Open(old)
		if err == nil {
			_, err = io.Copy(w, data)
			err = errors.Join(err, data.Close())
		}
		if err = errors.Join(err, pack.Close()); err != nil {
			return &step.Refusal{Class: "no-backup", Message: "neither the backup nor the run's artifacts have the old session", Place: step.Place{File: name}, Next: "look for another copy of it; what stands was left alone", Err: err}
		}
		return nil
	}
}

// putBack replaces what stands by the backup.
func (r *restoration) putBack(ctx context.Context, i *journal.Item, was step.Published) ([]step.Published, error) {
	from := backup(i, was)
	old := publish.Content{Bytes: was.Old.Bytes, SHA256: was.Old.SHA256}
	token := sha256.Sum256([]byte(r.run + "/" + i.ItemOpened.Item + "/restore"))
	intent := publish.Intent{
		Path: was.Path, Token: hex.EncodeToString(token[:8]), BackupDir: r.backups(from),
		Old: publish.Content{Bytes: was.Bytes, SHA256: was.SHA256}, New: old,
	}
	if _, err := fsys.Lstat(r.FS, was.Path); errors.Is(err, fs.ErrNotExist) {
		return r.create(ctx, intent, r.write(from, *was.Old))
	}
	now, err := r.standing(intent)
	if err != nil {
		return nil, err
	}
	if now == old {
		return []step.Published{{Op: step.Keep, Path: was.Path, Bytes: old.Bytes, SHA256: old.SHA256}}, nil
	}
	got, err := publish.InPlace(ctx, r.FS, publish.Replacement{
		Path: intent.Path, Token: intent.Token, BackupDir: intent.BackupDir, Old: now, KeepTimes: r.job.Publish.KeepTimes, AnyOwner: r.opts.Force,
		Write: r.write(from, *was.Old), Idle: func() error { return r.idle(was.Path) },
	})
	return step.Replacement(got), err
}

// backups is the folder for what the restoration takes away.
func (r *restoration) backups(from string) string {
	if from == "" {
		return filepath.Join(filepath.Dir(r.file), "backups")
	}
	return filepath.Dir(from)
}

// create puts a session back of which there is nothing any more.
func (r *restoration) create(ctx context.Context, i publish.Intent, write func(io.Writer) error) ([]step.Published, error) {
	p, err := publish.Candidate(ctx, r.FS, publish.Request{Path: i.Path, Token: i.Token, Write: write})
	return step.Candidate(p), err
}

// standing settles what an earlier attempt left and says what is there.
func (r *restoration) standing(i publish.Intent) (publish.Content, error) {
	if err := r.idle(i.Path); err != nil {
		return publish.Content{}, err
	}
	_, _ = publish.Recover(r.FS, i) // what it cannot settle is foreign, and seen below
	size, sum, err := fsys.Sum(r.FS, i.Path)
	now := publish.Content{Bytes: size, SHA256: sum}
	switch {
	case err != nil:
		return now, err
	case now == i.Old, now == i.New, r.opts.Force:
		return now, nil
	}
	return now, &step.Refusal{
		Class: "session-changed", Message: "the session was gone on with since the run: it is not what the run put there", Place: step.Place{File: i.Path},
		Next: "--force puts the old one back all the same, and keeps what is there as a backup",
	}
}

func (r *restoration) idle(path string) error {
	if r.guard == nil || r.opts.Force {
		return nil
	}
	return r.guard.Idle(r.FS, path)
}

func (r *restoration) copy(name string, w io.Writer) error {
	file, err := r.FS.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}
