package publish

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// Request is a candidate to publish.
type Request struct {
	// Path is the target; missing parents are made.
	Path string
	// Prepared says that the caller has made the folder with [fsys.MkdirAll].
	Prepared bool
	// Token names the stage. It must be unique among live publications to Path
	// and the same when one of them is tried again: a stage that bears it
	// already is taken for a leftover and removed.
	Token string
	// Replaces is the SHA-256 of the bytes that may be replaced, usually what
	// was published at Path before; "" for none.
	Replaces string
	// Force replaces whatever file is there.
	Force bool
	// Write writes the content, once.
	Write func(io.Writer) error
	// Verify checks the staged bytes before they are published; nil for none.
	Verify func(r io.ReaderAt, size int64) error
}

// Op is what a publication did to its target.
type Op string

// The operations.
const (
	Create  Op = "create"
	Replace Op = "replace"
	Keep    Op = "keep" // the bytes were there already
)

// Published is the file at the target.
type Published struct {
	Op     Op
	Path   string
	Bytes  int64
	SHA256 string
}

// Candidate publishes a file at a name of its own. Content and name are durable
// when it returns without error. With an error the result is zero, or says what
// stands at the target nevertheless.
func Candidate(ctx context.Context, f afero.Fs, r Request) (Published, error) {
	if !r.Prepared {
		if err := fsys.MkdirAll(f, filepath.Dir(r.Path)); err != nil {
			return Published{}, fmt.Errorf("publish %s: %w", r.Path, err)
		}
	}
	t := &transaction{fs: f, Request: r, stage: stageName(r.Path, r.Token)}
	p, err := t.run(ctx)
	if err = errors.Join(err, t.discard()); err != nil {
		return p, fmt.Errorf("publish %s: %w", r.Path, err)
	}
	return p, nil
}

// nameBytes is how long a file's name may be on the usual filesystems, and
// tokenBytes what of it is left for a token.
const (
	nameBytes  = 255
	tokenBytes = 64
)

// stageName is hidden, beside the target, and begins alike for every token.
func stageName(path, token string) string { return besideName(path, ".stage-", token) }

// besideName is a hidden name beside a path. Any name that a file can have has
// one: a digest stands for the end of a long one.
func besideName(path, mark, token string) string {
	dir, base := filepath.Split(path)
	if most := nameBytes - tokenBytes - len("."+mark); len(base) > most {
		sum := fmt.Sprintf("-%.8x", sha256.Sum256([]byte(base)))
		base = strings.ToValidUTF8(base[:most-len(sum)], "") + sum
	}
	return filepath.Join(dir, "."+base+mark+token)
}

// transaction is one publication under way.
type transaction struct {
	fs afero.Fs
	Request
	stage  string
	staged bool // the stage is ours to remove
	lock   io.Closer
	Content
}

// Content identifies bytes.
type Content struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (t *transaction) run(ctx context.Context) (Published, error) {
	if err := t.write(ctx); err != nil {
		return Published{}, err
	}
	if err := t.check(); err != nil {
		return Published{}, err
	}
	if ctx.Err() != nil {
		return Published{}, context.Cause(ctx)
	}
	op, err := t.claim()
	if op == "" {
		return Published{}, err
	}
	return Published{op, t.Path, t.Bytes, t.SHA256}, err
}

// claim decides by what stands at the target. The operation is "" when the
// target does not hold the new bytes.
func (t *transaction) claim() (Op, error) {
	old, err := t.target()
	switch {
	case err != nil:
		return "", err
	case old == nil:
		return t.create()
	case *old == t.Content:
		return t.keep()
	case t.Force || old.SHA256 == t.Replaces:
		return t.replace(*old)
	}
	return "", Exists(t.Path, "a file that precis did not write stands there")
}

// target is the content at the target, nil when there is none.
func (t *transaction) target() (*Content, error) {
	info, err := fsys.Lstat(t.fs, t.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notAFile(t.Path)
	}
	size, sum, err := fsys.Sum(t.fs, t.Path)
	return &Content{size, sum}, err
}

// keep makes durable what an earlier attempt may have claimed before it died.
func (t *transaction) keep() (Op, error) {
	if err := t.settle(); err != nil {
		return "", err
	}
	return Keep, nil
}

func (t *transaction) create() (Op, error) {
	err := t.link()
	if errors.Is(err, errors.ErrUnsupported) {
		err = t.mark()
	}
	if errors.Is(err, fs.ErrExist) && t.same() == nil {
		return t.keep() // another run of the same job came first
	}
	if errors.Is(err, fs.ErrExist) {
		return "", Exists(t.Path, "a file appeared there meanwhile")
	}
	if err != nil {
		return "", err
	}
	if err := t.settle(); err != nil {
		return "", errors.Join(err, t.withdraw())
	}
	return Create, nil
}

// link claims the name; it fails with fs.ErrExist rather than clobber.
func (t *transaction) link() error {
	l, ok := fsys.As[fsys.Linker](t.fs)
	if !ok {
		return errors.ErrUnsupported
	}
	return l.Link(t.stage, t.Path)
}

// mark claims the name with an empty file and renames the stage over it. The
// stage is durable before, and so tells after a power cut whose the empty file is.
func (t *transaction) mark() error {
	if err := fsys.SyncDir(t.fs, filepath.Dir(t.Path)); err != nil {
		return err
	}
	m, err := fsys.CreateNew(t.fs, t.Path)
	if err != nil {
		return err
	}
	err = m.Close()
	if err == nil {
		err = t.rename()
	}
	if err == nil {
		return nil
	}
	if info, stat := fsys.Lstat(t.fs, t.Path); stat == nil && info.Size() == 0 {
		err = errors.Join(err, t.fs.Remove(t.Path))
	}
	return err
}

// replace renames over the target if it still holds what it held.
func (t *transaction) replace(old Content) (Op, error) {
	now, err := t.target()
	if err != nil {
		return "", err
	}
	if now == nil || *now != old {
		return "", Exists(t.Path, "the file there is being changed by another program")
	}
	if err := t.rename(); err != nil {
		return "", err
	}
	return Replace, t.settle()
}

// rename gives the stage its name. It stays locked until then, lest a sweep takes it
// for a leftover, except where a locked file cannot be renamed.
func (t *transaction) rename() error {
	err := t.fs.Rename(t.stage, t.Path)
	if err == nil || t.lock == nil {
		return err
	}
	if e := t.release(); e != nil {
		return errors.Join(err, e)
	}
	return t.fs.Rename(t.stage, t.Path)
}

// settle makes the claim durable and believes nothing.
func (t *transaction) settle() error {
	if err := t.discard(); err != nil {
		return err
	}
	if err := fsys.SyncDir(t.fs, filepath.Dir(t.Path)); err != nil {
		return err
	}
	return t.same()
}

// same reads the target again.
func (t *transaction) same() error {
	now, err := t.target()
	if err != nil {
		return err
	}
	if now == nil || *now != t.Content {
		return errors.New("the published file was changed by another program")
	}
	return nil
}

// withdraw takes a new name away again, if it still leads to the new bytes.
func (t *transaction) withdraw() error {
	if t.same() != nil {
		return nil
	}
	if err := t.fs.Remove(t.Path); err != nil {
		return err
	}
	return fsys.SyncDir(t.fs, filepath.Dir(t.Path))
}
