package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// Replacement is a file in use that is to be replaced where it stands.
type Replacement struct {
	// Path is a regular file, reached through no symbolic link.
	Path string
	// Old is what must stand there.
	Old Content
	// Token names the hidden files. It must be unique among live runs, and the
	// same when one of them is tried again: by it the second finds what the first
	// left.
	Token string
	// BackupDir takes the backup; "" for beside the file. It is made when missing.
	BackupDir string
	// AnyOwner lets the new file be the user's own where it cannot be given the old
	// one's owner, which is refused otherwise.
	AnyOwner bool
	// KeepTimes gives the new file the times of the old one.
	KeepTimes bool
	// Write writes the new content, the same bytes whenever it is called.
	Write func(io.Writer) error
	// Verify checks the staged bytes before they are put in place; nil for none.
	Verify func(r io.ReaderAt, size int64) error
	// Idle is asked immediately before the old file leaves its name, and returns
	// an error when it is in use; nil for none.
	Idle func() error
}

// Stands says which file stands under the name.
type Stands string

// What may stand. It is "" when nothing was looked at, or could be.
const (
	OldStands Stands = "old"
	NewStands Stands = "new"
	Foreign   Stands = "foreign" // neither, or nothing
)

// Method is how the name went from the old file to the new one.
type Method string

// The methods.
const (
	Exchange Method = "exchange" // in one step
	Capture  Method = "capture"  // with an instant between, in which there is no file
)

// Receipt says what stands under the name and everything that the replacement
// left. It holds no content of a file.
type Receipt struct {
	Path   string  `json:"path"`
	Stands Stands  `json:"stands"`
	Old    Content `json:"old"`
	New    Content `json:"new"`
	// Grown says that the new file has been appended to.
	Grown bool `json:"grown,omitempty"`
	// Method is "" when nothing was replaced, or by an earlier call.
	Method Method `json:"method,omitempty"`
	// Backup is the old file, or what an abandoned attempt could not take back.
	Backup string `json:"backup,omitempty"`
	// Kept are numbered backups with what others wrote into the old file, or put
	// in its place, meanwhile.
	Kept []string `json:"kept,omitempty"`
	// Left are hidden files that could not be removed; the next call does it.
	Left []string `json:"left,omitempty"`
	// Durable says that what stands outlives a power cut, as far as the
	// filesystem can tell.
	Durable bool `json:"durable"`
	// Mode and TimesKept describe the new file when this call made it; OwnerError
	// is why it does not have the old owner.
	Mode       fs.FileMode `json:"mode,omitempty"`
	TimesKept  bool        `json:"times_kept,omitempty"`
	OwnerError string      `json:"owner_error,omitempty"`
}

// live is one replacement under way. Everything that decides is in the names and
// the bytes behind them, so that it can be taken up by another process.
type live struct {
	fs afero.Fs
	Intent
	job     Replacement
	info    fs.FileInfo // of the old file, before it was read
	stage   string      // the new file, being written
	swap    string      // the new file, complete; after the exchange, what stood at Path
	taken   string      // what stood at Path, when there is no exchange
	links   bool        // the session's folder has hard links
	backup  backup
	locks   []io.Closer
	receipt Receipt
}

func newLive(f afero.Fs, i Intent) *live {
	return &live{
		fs: f, Intent: i, stage: stageName(i.Path, i.Token),
		swap:    besideName(i.Path, ".swap-", i.Token),
		taken:   besideName(i.Path, ".old-", i.Token),
		receipt: Receipt{Path: i.Path, Old: i.Old, New: i.New},
	}
}

// InPlace replaces a file where it stands and keeps the old one as a numbered
// backup. The receipt is also to be read beside an error: it says whether the new
// file stands. Called again after a crash, with the same token and old content,
// it finishes what was begun.
func InPlace(ctx context.Context, f afero.Fs, r Replacement) (Receipt, error) {
	l := newLive(f, Intent{Path: r.Path, Token: r.Token, BackupDir: r.BackupDir, Old: r.Old})
	l.job = r
	return l.end(l.run(ctx))
}

func (l *live) run(ctx context.Context) error {
	if err := l.lock(); err != nil {
		return err
	}
	begun, err := l.begun()
	if err != nil {
		return err
	}
	if begun {
		if err := l.resume(ctx); err != nil || l.receipt.Stands != OldStands {
			return l.verdict(err)
		}
	}
	err = l.attempt(ctx)
	return l.verdict(errors.Join(err, l.settle()))
}

// lock holds the session against another precis. It is a courtesy that spares
// the work: what is safe is so by the order of the steps.
func (l *live) lock() error {
	for _, name := range []string{l.Path, l.taken} {
		info, err := fsys.Lstat(l.fs, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.Mode().IsRegular() {
			err = &Refusal{SourceNotAFile, l.Path, "the session is a folder, a symbolic link or a special file", "name the file itself"}
		}
		if err != nil {
			return err
		}
		l.info = info
		return l.hold(name)
	}
	return nil
}

// hold locks one file until the end. A missing one needs none.
func (l *live) hold(name string) error {
	locker, ok := fsys.As[fsys.Locker](l.fs)
	if !ok {
		return nil
	}
	lock, who, err := l.tryLock(locker, name)
	switch {
	case err == nil:
		l.locks = append(l.locks, lock)
	case errors.Is(err, fsys.ErrLocked):
		return &Refusal{SessionLocked, l.Path, "another precis is replacing the session" + who, "wait until it has ended"}
	case !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// tryLock takes a lock or says who has it. A holder whom nobody can name has let go
// meanwhile, or has exchanged the file: then it is tried again.
func (l *live) tryLock(locker fsys.Locker, name string) (lock io.Closer, who string, err error) {
	for range 3 {
		lock, err = locker.Lock(name)
		if !errors.Is(err, fsys.ErrLocked) {
			return lock, "", err
		}
		if who = l.holders(name); who != "" {
			return nil, who, err
		}
		time.Sleep(pause)
	}
	return nil, "", err
}

// holders names the processes that have a file open, where that can be told.
func (l *live) holders(name string) string {
	p, ok := fsys.As[fsys.Processes](l.fs)
	if !ok {
		return ""
	}
	pids, err := p.OpenBy(name)
	if err != nil || len(pids) == 0 {
		return ""
	}
	return fmt.Sprintf(": open in process %s of this machine", strings.Trim(strings.ReplaceAll(fmt.Sprint(pids), " ", ", "), "[]"))
}

// begun tells whether there is more to see than an old file that nobody touched.
func (l *live) begun() (bool, error) {
	at, err := l.look(l.Path)
	if err != nil {
		return false, err
	}
	return at.Content != l.Old || len(l.left(l.swap, l.taken)) > 0, nil
}

// resume settles what an earlier call left. Which bytes it meant to put in place
// is found by writing them again, to nowhere.
func (l *live) resume(ctx context.Context) error {
	c, err := digest(ctx, l.job.Write)
	if err != nil {
		return errors.Join(l.changed(), err)
	}
	l.New = c
	return l.settle()
}

// verdict makes the error of a call from what stands.
func (l *live) verdict(err error) error {
	r := &l.receipt
	switch {
	case r.Stands == NewStands && err != nil:
		return fmt.Errorf("the new file stands, but: %w", err)
	case r.Stands == NewStands && r.Grown:
		return &Refusal{TargetChanged, l.Path, "the new file stands and was appended to at once", "see that no client has the session open"}
	case r.Stands == NewStands && len(r.Kept) > 0:
		return &Refusal{TargetChanged, l.Path, "the new file stands, but the old one was still written to" + l.where(), "take what is missing from the backup"}
	case r.Stands == NewStands:
		return nil
	}
	if refusal := new(Refusal); r.Stands == "" || errors.As(err, &refusal) || r.Stands == OldStands && err != nil {
		return err
	}
	return errors.Join(l.changed(), err)
}

// changed refuses to go on: somebody else's bytes are in the way.
func (l *live) changed() error {
	return &Refusal{SourceChanged, l.Path, "another program changed the session" + l.where(), "close the session and run again"}
}

// where names the files that hold what is not under the name.
func (l *live) where() string {
	names := append([]string{l.backup.path}, l.receipt.Kept...)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return ""
	}
	return "; see " + strings.Join(names, ", ")
}

// end gives up the locks and completes the receipt.
func (l *live) end(err error) (Receipt, error) {
	for _, lock := range l.locks {
		err = errors.Join(err, lock.Close())
	}
	l.receipt.New = l.New
	l.receipt.Backup = l.backup.path
	l.receipt.Left = l.left(l.stage, l.swap, l.taken)
	if err != nil {
		err = fmt.Errorf("replace %s: %w", l.Path, err)
	}
	return l.receipt, err
}

// left is those of the names that are there.
func (l *live) left(names ...string) (there []string) {
	for _, name := range names {
		if _, err := fsys.Lstat(l.fs, name); !errors.Is(err, fs.ErrNotExist) {
			there = append(there, name)
		}
	}
	return there
}
