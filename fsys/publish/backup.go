package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// A backup of NAME is NAME.backup, NAME.backup1, NAME.backup2 and so on, one above
// the highest that exists: a gap is never filled, so the order is that of time.

// backup is one that a replacement rests on.
type backup struct {
	path   string
	made   bool // by this call
	linked bool // it is the old file itself, under a second name
}

// numbered is a backup that is there; whether it is a file is not said.
type numbered struct {
	n    int
	path string
}

func backupName(path, dir string, n int) string {
	name := filepath.Join(dir, filepath.Base(path)+".backup")
	if n > 0 {
		name += strconv.Itoa(n)
	}
	return name
}

func backupDir(path, dir string) string {
	if dir == "" {
		return filepath.Dir(path)
	}
	return dir
}

// backups lists the backups of a file, the newest first.
func backups(f afero.Fs, path, dir string) ([]numbered, error) {
	there, err := names(f, dir)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var list []numbered
	for _, name := range there {
		digits, ok := strings.CutPrefix(name, filepath.Base(path)+".backup")
		if n, err := strconv.Atoi("0" + digits); ok && err == nil && backupName(path, dir, n) == filepath.Join(dir, name) {
			list = append(list, numbered{n, filepath.Join(dir, name)})
		}
	}
	slices.SortFunc(list, func(a, b numbered) int { return cmp.Compare(b.n, a.n) })
	return list, nil
}

func (l *live) backups() ([]numbered, error) {
	return backups(l.fs, l.Path, backupDir(l.Path, l.BackupDir))
}

// next is the name of the next backup.
func next(path, dir string, list []numbered) string {
	if len(list) == 0 {
		return backupName(path, dir, 0)
	}
	return backupName(path, dir, list[0].n+1)
}

// claims is how often a number may be lost to somebody else.
const claims = 100

// backUp gives a file the next number: the file itself by a hard link, so that
// what a program still writes into it lands in the backup, or else a copy.
func (l *live) backUp(ctx context.Context, from string, c Content) (backup, error) {
	dir := backupDir(l.Path, l.BackupDir)
	if err := errors.Join(fsys.MkdirAll(l.fs, dir), syncFile(l.fs, from)); err != nil {
		return backup{}, err
	}
	for range claims {
		list, err := l.backups()
		if err != nil {
			return backup{}, err
		}
		b, err := l.claim(ctx, from, c, list)
		if refusal := new(Refusal); !errors.Is(err, fs.ErrExist) && !(errors.As(err, &refusal) && refusal.Class == OutputExists) {
			return b, err
		}
	}
	return backup{}, fmt.Errorf("another program takes every number for a backup in %s", dir)
}

func (l *live) claim(ctx context.Context, from string, c Content, list []numbered) (backup, error) {
	dir := backupDir(l.Path, l.BackupDir)
	name := next(l.Path, dir, list)
	err := l.link(from, name)
	switch {
	case err == nil:
		// Where the filesystem cannot even tell that, it cannot tell anything.
		known, err := l.same(name, name)
		return backup{name, true, known}, errors.Join(err, fsys.SyncDir(l.fs, dir))
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.EMLINK):
		return l.copy(ctx, from, c, name, list)
	}
	return backup{}, err
}

// copy publishes the bytes as a candidate is, unless the newest backup has them:
// one that an attempt made before it died is not made again.
func (l *live) copy(ctx context.Context, from string, c Content, name string, list []numbered) (backup, error) {
	if len(list) > 0 {
		if s, err := l.look(list[0].path); err != nil || s.Content == c {
			return backup{path: list[0].path}, err
		}
	}
	p, err := Candidate(ctx, l.fs, Request{Path: name, Token: l.Token, Write: func(w io.Writer) error {
		return copyFile(l.fs, from, w)
	}})
	b := backup{path: p.Path, made: p.Op == Create}
	if err == nil && (Content{p.Bytes, p.SHA256}) != c {
		err = l.changed()
	}
	return b, err
}

func copyFile(f afero.Fs, name string, w io.Writer) error {
	r, err := f.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}

// holding finds the newest backup that is this file, or has its bytes.
func (l *live) holding(name string, c Content) (string, error) {
	list, err := l.backups()
	if err != nil {
		return "", err
	}
	for _, b := range list {
		if holds, err := l.holds(b.path, name, c); err != nil || holds {
			return b.path, err
		}
	}
	return "", nil
}

func (l *live) holds(backup, name string, c Content) (bool, error) {
	info, err := fsys.Lstat(l.fs, backup)
	if err != nil || !info.Mode().IsRegular() {
		return false, ignoreMissing(err)
	}
	if name != "" {
		if same, err := l.same(name, backup); err != nil || same {
			return same, err
		}
	}
	if info.Size() != c.Bytes {
		return false, nil
	}
	s, err := l.look(backup)
	return s.Content == c, err
}

// dropBackup takes back the backup of an attempt that did not replace the file:
// a second name of the very file that stands, or a copy made by this call of
// bytes with which that begins.
func (l *live) dropBackup() error {
	list, err := l.backups()
	if err != nil || len(list) == 0 {
		return err
	}
	name := list[0].path
	needless, err := l.same(name, l.Path)
	if err == nil && !needless {
		name = l.backup.path
		needless, err = l.copied()
	}
	if err != nil || !needless {
		return err
	}
	if err := fsys.Remove(l.fs, name); err != nil {
		return err
	}
	l.backup = backup{}
	return fsys.SyncDir(l.fs, filepath.Dir(name))
}

// copied tells whether this call's backup holds nothing that the session does not.
func (l *live) copied() (bool, error) {
	if !l.backup.made {
		return false, nil
	}
	at, err := l.look(l.Path)
	if err != nil {
		return false, err
	}
	return startsWith(l.fs, l.Path, at, l.Old)
}

// sweepCopies removes what a killed copy left. It was for the newest number, which
// it may have claimed with an empty file, or for the next.
func (l *live) sweepCopies() error {
	list, err := l.backups()
	if err != nil {
		return err
	}
	if len(list) > 0 {
		err = l.sweepCopy(list[0].path)
	}
	return errors.Join(err, l.sweepCopy(next(l.Path, backupDir(l.Path, l.BackupDir), list)))
}

func (l *live) sweepCopy(name string) error {
	stage := stageName(name, l.Token)
	if _, err := fsys.Lstat(l.fs, stage); err != nil {
		return ignoreMissing(err)
	}
	if info, err := fsys.Lstat(l.fs, name); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		err := errors.Join(l.fs.Remove(name), fsys.SyncDir(l.fs, filepath.Dir(name)))
		if err != nil {
			return err
		}
	}
	return fsys.Remove(l.fs, stage)
}

// Removed is a backup that was removed.
type Removed struct {
	Path   string
	Bytes  int64
	SHA256 string
}

// Prune removes all but the newest backups of a file, where keep is at least 1.
// An older one goes only if its content still has the digest known for it: the
// rest holds bytes of which nobody else knows.
func Prune(f afero.Fs, path, dir string, keep int, known func(backup string) (sha256hex string, ok bool)) (removed []Removed, err error) {
	dir = backupDir(path, dir)
	list, err := backups(f, path, dir)
	if err != nil || keep < 1 {
		return nil, err
	}
	for _, b := range list[min(keep, len(list)):] {
		sum, ok := known(b.path)
		if !ok {
			continue
		}
		pruned, size, err := prune(f, b.path, sum)
		if err != nil {
			return removed, err
		}
		if pruned {
			removed = append(removed, Removed{b.path, size, sum})
		}
	}
	return removed, fsys.SyncDir(f, dir)
}

func prune(f afero.Fs, name, sha256hex string) (pruned bool, size int64, err error) {
	info, err := fsys.Lstat(f, name)
	if err != nil || !info.Mode().IsRegular() {
		return false, 0, ignoreMissing(err)
	}
	size, sum, err := fsys.Sum(f, name)
	if err != nil || sum != sha256hex {
		return false, 0, err
	}
	err = fsys.Remove(f, name)
	return err == nil, size, err
}
