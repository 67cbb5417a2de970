package publish

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/precis-dev/precis/fsys"
)

// write stages the content, durably, and remembers what it was.
func (t *transaction) write(ctx context.Context) error {
	if err := fsys.Remove(t.fs, t.stage); err != nil {
		return err
	}
	w, err := fsys.CreateNew(t.fs, t.stage)
	if err != nil {
		return err
	}
	t.staged = true
	if err := t.hold(); err != nil {
		return errors.Join(err, w.Close())
	}
	h := sha256.New()
	counted := &counter{}
	buffered := bufio.NewWriterSize(w, 64<<10)
	err = t.Write(guard{ctx, io.MultiWriter(buffered, h, counted)})
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = w.Sync()
	}
	t.Content = Content{counted.n, hex.EncodeToString(h.Sum(nil))}
	return errors.Join(err, w.Close())
}

// check reads the stage again, compares it with what was written and has the
// caller verify it.
func (t *transaction) check() error {
	r, err := t.fs.Open(t.stage)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err == nil && (Content{n, hex.EncodeToString(h.Sum(nil))}) != t.Content {
		err = fmt.Errorf("read %s back: the bytes are not those written", t.stage)
	}
	if err == nil && t.Verify != nil {
		err = t.Verify(r, n)
	}
	return errors.Join(err, r.Close())
}

// discard removes the stage, if it is there.
func (t *transaction) discard() error {
	err := t.release()
	if !t.staged {
		return err
	}
	if e := fsys.Remove(t.fs, t.stage); e != nil {
		return errors.Join(err, e)
	}
	t.staged = false
	return err
}

// guard ends a long write when its context does.
type guard struct {
	ctx context.Context
	w   io.Writer
}

func (g guard) Write(p []byte) (int, error) {
	if g.ctx.Err() != nil {
		return 0, context.Cause(g.ctx)
	}
	return g.w.Write(p)
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
