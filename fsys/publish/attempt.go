package publish

import (
	"context"
	"errors"
	"io/fs"

	"github.com/precis-dev/precis/fsys"
)

// attempt goes from the old file to the new one. It takes nothing back: whatever
// it returns, settle looks at the names and ends what it began.
func (l *live) attempt(ctx context.Context) error {
	for _, step := range []func(context.Context) error{l.write, l.dress, l.park, l.save, l.last, l.commit} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write stages the new file as a candidate is.
func (l *live) write(ctx context.Context) error {
	t := &transaction{fs: l.fs, stage: l.stage, Request: Request{
		Path: l.Path, Token: l.Token, Write: l.job.Write, Verify: l.job.Verify}}
	err := t.write(ctx)
	if t.lock != nil {
		l.locks = append(l.locks, t.lock)
	}
	if err == nil {
		err = t.check()
	}
	l.New = t.Content
	return err
}

// dress gives the new file what belongs to the old one. Who could not read the
// session before cannot afterwards, so without its owner it is the user's alone.
func (l *live) dress(context.Context) error {
	if l.info == nil { // the old file appeared only now
		return l.changed()
	}
	mode := l.info.Mode().Perm()
	kept, err := l.own()
	if err != nil {
		return err
	}
	if !kept {
		mode &= fsys.DirPerm
	}
	if err := l.fs.Chmod(l.stage, mode); err != nil {
		return err
	}
	if l.job.KeepTimes {
		if err := l.fs.Chtimes(l.stage, accessTime(l.info), l.info.ModTime()); err != nil {
			return err
		}
	}
	l.receipt.Mode, l.receipt.TimesKept = mode, l.job.KeepTimes
	return syncFile(l.fs, l.stage)
}

// own gives the stage the owner of the session, where that is another one.
func (l *live) own() (kept bool, err error) {
	o, ok := fsys.As[fsys.Owner](l.fs)
	if !ok {
		return true, nil
	}
	uid, gid, err := o.IDs(l.Path)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, l.changed()
	case err != nil:
		return false, err
	}
	u, g, err := o.IDs(l.stage)
	if err != nil || u == uid && g == gid {
		return true, err
	}
	return l.give(uid, gid)
}

// give changes the stage's owner, or refuses, or notes why it could not.
func (l *live) give(uid, gid int) (given bool, err error) {
	err = l.fs.Chown(l.stage, uid, gid)
	if err == nil {
		return true, nil
	}
	if !l.job.AnyOwner {
		return false, &Refusal{OwnerNotKept, l.Path, "the new file cannot be given the session's owner and group", "run as that user, or override with --force"}
	}
	l.receipt.OwnerError = err.Error()
	return false, nil
}

// park gives the complete stage a name that no sweep removes, since after the
// exchange that name leads to the user's bytes. By then it must be durable: it is
// the evidence by which a later call knows a backup for one of this attempt.
func (l *live) park(context.Context) error {
	err := l.link(l.stage, l.swap)
	l.links = err == nil
	switch {
	case err == nil:
		err = l.fs.Remove(l.stage)
	case errors.Is(err, errors.ErrUnsupported):
		err = l.fs.Rename(l.stage, l.swap)
	}
	if err != nil {
		return err
	}
	return l.syncFolder()
}

// save makes the backup and reads it again.
func (l *live) save(ctx context.Context) error {
	b, err := l.backUp(ctx, l.Path, l.Old)
	l.backup = b
	if err != nil {
		return err
	}
	got, err := l.look(b.path)
	if err == nil && got.Content != l.Old {
		err = l.changed()
	}
	return err
}

// last is asked when nothing else is left to do.
func (l *live) last(ctx context.Context) error {
	at, err := l.look(l.Path)
	if err != nil {
		return err
	}
	if at.Content != l.Old {
		return l.changed()
	}
	if l.job.Idle != nil {
		if err := l.job.Idle(); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// commit exchanges the two files, or captures the old one where the volume
// cannot exchange.
func (l *live) commit(context.Context) error {
	l.receipt.Method = Exchange
	err := l.exchange()
	if errors.Is(err, errors.ErrUnsupported) {
		l.receipt.Method = Capture
		err = l.capture()
	}
	return err
}

func (l *live) exchange() error {
	x, ok := fsys.As[fsys.Exchanger](l.fs)
	if !ok {
		return errors.ErrUnsupported
	}
	return x.Exchange(l.swap, l.Path)
}

// capture renames the old file away and links the new one to its name, which
// cannot clobber. What was taken is looked at in between: it may be a file that
// came after the last look.
func (l *live) capture() error {
	if !l.links {
		return &Refusal{VolumeUnsupported, l.Path, "the volume can neither exchange files nor link them", "write a new file to another path instead"}
	}
	if err := l.fs.Rename(l.Path, l.taken); err != nil {
		return err
	}
	if err := l.syncFolder(); err != nil {
		return err
	}
	got, err := l.look(l.taken)
	if err != nil {
		return err
	}
	frozen, err := l.frozen(l.taken, got)
	if err == nil && !frozen {
		err = l.changed()
	}
	if err == nil {
		err = l.link(l.swap, l.Path)
	}
	if errors.Is(err, fs.ErrExist) {
		return l.changed()
	}
	return err
}
