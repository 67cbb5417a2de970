package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/agents"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// Session is an opened and indexed session file. Its bytes are those of one
// pass: whoever reads from it later compares [Session.Unchanged] before trusting
// the outcome.
type Session struct {
	*transcript.Source
	Path  string
	Agent string
	// Empty tells that the file holds no bytes at all.
	Empty bool
	file  afero.File
	stamp stamp
}

// stamp is what a file's change shows in first.
type stamp struct {
	size  int64
	mtime int64
}

// Open reads and indexes a file. Damaged lines are part of the index.
func Open(ctx context.Context, f afero.Fs, path string, progress func(done, total int64)) (*Session, error) {
	file, stamp, err := open(f, path)
	if err != nil {
		return nil, err
	}
	s := &Session{Path: path, file: file, stamp: stamp}
	if err := s.read(ctx, progress); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// Sum is the size and the SHA-256 of a file as [Open] would find it.
func Sum(ctx context.Context, f afero.Fs, path string) (size int64, sha256hex string, err error) {
	file, _, err := open(f, path)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, cancelled{ctx, file})
	if err = errors.Join(err, file.Close()); err != nil && ctx.Err() == nil {
		err = refuse(path, "unreadable", "the session file cannot be read", checkFile, err)
	}
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// cancelled is a reader that ends with a context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelled) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, c.ctx.Err()
	}
	return c.r.Read(p)
}

func open(f afero.Fs, path string) (afero.File, stamp, error) {
	info, err := f.Stat(path)
	if err != nil {
		return nil, stamp{}, refuse(path, "no-such-session", "the session file cannot be found", "check the path; in a job file it is relative to that file", err)
	}
	if !info.Mode().IsRegular() {
		return nil, stamp{}, refuse(path, "not-a-regular-file", "a session is a regular file", "name the file itself", nil)
	}
	file, err := f.Open(path)
	if err != nil {
		return nil, stamp{}, refuse(path, "unreadable", "the session file cannot be opened", checkFile, err)
	}
	return file, stamp{info.Size(), info.ModTime().UnixNano()}, nil
}

func (s *Session) read(ctx context.Context, progress func(done, total int64)) error {
	head := make([]byte, min(agents.HeadBytes, s.stamp.size))
	n, err := s.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return refuse(s.Path, "unreadable", "the session file cannot be read", checkFile, err)
	}
	s.Agent = agents.Detect(head[:n])
	x, err := transcript.Read(io.NewSectionReader(s.file, 0, s.stamp.size), func(done int64) error {
		progress(done, s.stamp.size)
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return refuse(s.Path, "unreadable", "the session file cannot be read", checkFile, err)
	}
	if x.Size != s.stamp.size {
		return refuse(s.Path, "source-changed", "the file became shorter while it was read", "close the session and run again", nil)
	}
	s.Source, s.Empty = transcript.NewSource(x, s.file), x.Size == 0
	return nil
}

// SHA256 is the hash of the file as it was read.
func (s *Session) SHA256() string { return hex.EncodeToString(s.Index.SHA256[:]) }

// Unchanged reports a refusal when the file is no longer the one that was read.
func (s *Session) Unchanged(f afero.Fs) error {
	info, err := f.Stat(s.Path)
	if err == nil && (stamp{info.Size(), info.ModTime().UnixNano()}) == s.stamp {
		return nil
	}
	return &step.Refusal{
		Class: "source-changed", Message: "the session file changed while the job ran; nothing was published",
		Place: step.Place{File: s.Path}, Next: "close the session and run the job again", Err: err,
	}
}

// Close releases the file.
func (s *Session) Close() error { return s.file.Close() }

const checkFile = "check the file's permissions and the disk"

func refuse(path, class, message, next string, err error) error {
	return &step.Refusal{Class: class, Message: message, Place: step.Place{File: path}, Next: next, Err: cause(err)}
}

// Damaged refuses a file with lines that are no records: what they held cannot
// be told, so nothing may be decided on the rest.
func (s *Session) Damaged() error {
	if len(s.Damage) == 0 {
		return nil
	}
	d := s.Damage[0]
	message := d.Reason
	if n := len(s.Damage) - 1; n > 0 {
		message = fmt.Sprintf("%s (and %d more damaged places)", message, n)
	}
	return &step.Refusal{
		Class: string(d.Kind), Message: message,
		Place: step.Place{File: s.Path, Line: d.Line, Byte: d.Off + int64(d.At)},
		Next:  "precis validate lists every damaged place and what to do about it",
	}
}
