package publish

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// write stages the content, durably, and remembers what it was.
func (t *transaction) write(ctx context.Context) error {
	w, err := t.begin()
	if err != nil {
		return err
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

// Before a stage is locked, another run's sweep may take it for a leftover. Then it
// is made again; a sweep comes once a run.
const (
	sweeps = 100
	pause  = time.Millisecond
)

// begin makes the stage and locks it.
func (t *transaction) begin() (afero.File, error) {
	for try := 1; ; try++ {
		w, err := t.makeStage()
		if err != nil {
			return nil, err
		}
		if err = t.lockStage(); err == nil {
			return w, nil
		}
		swept := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsys.ErrLocked)
		err = errors.Join(err, t.release(), w.Close())
		if !swept || try == sweeps {
			return nil, err
		}
		time.Sleep(pause)
	}
}

func (t *transaction) makeStage() (afero.File, error) {
	if err := fsys.Remove(t.fs, t.stage); err != nil {
		return nil, err
	}
	w, err := fsys.CreateNew(t.fs, t.stage)
	t.staged = t.staged || err == nil
	return w, err
}

// lockStage locks the stage, and sees that it was not a file which had just lost
// its name.
func (t *transaction) lockStage() error {
	if err := t.hold(); err != nil {
		return err
	}
	_, err := fsys.Lstat(t.fs, t.stage)
	return err
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
