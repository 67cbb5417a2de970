package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// sight is what a name leads to. Its content is zero, and that of no file, unless
// it is regular.
type sight struct {
	there, regular bool
	Content
}

// look reads a file. A missing one is no error.
func (l *live) look(name string) (sight, error) {
	info, err := fsys.Lstat(l.fs, name)
	if err != nil {
		return sight{}, ignoreMissing(err)
	}
	if !info.Mode().IsRegular() {
		return sight{there: true}, nil
	}
	size, sum, err := fsys.Sum(l.fs, name)
	if err != nil {
		return sight{}, ignoreMissing(err)
	}
	return sight{true, true, Content{size, sum}}, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// startsWith tells whether a longer file begins with these bytes.
func startsWith(f afero.Fs, name string, s sight, c Content) (bool, error) {
	if !s.regular || s.Bytes < c.Bytes {
		return false, nil
	}
	r, err := f.Open(name)
	if err != nil {
		return false, ignoreMissing(err)
	}
	h := sha256.New()
	_, err = io.CopyN(h, r, c.Bytes)
	if err = errors.Join(err, r.Close()); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == c.SHA256, nil
}

// digest is the content that a function writes.
func digest(ctx context.Context, write func(io.Writer) error) (Content, error) {
	h, counted := sha256.New(), &counter{}
	err := write(guard{ctx, io.MultiWriter(h, counted)})
	return Content{counted.n, hex.EncodeToString(h.Sum(nil))}, err
}

// syncFile makes the content of a file durable, whoever wrote it.
func syncFile(f afero.Fs, name string) error {
	r, err := f.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(r.Sync(), r.Close())
}
