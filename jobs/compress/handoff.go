package compress

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/spec"
)

// maxHandoff bounds a handoff file: it is a text that a person wrote.
const maxHandoff = 16 << 20

// handoff is the optional text a person hands over with the sessions.
type handoff struct {
	file  []byte // nil for none
	lines []string
}

func (f *fold) readHandoff() error {
	file, err := ReadHandoff(f.env.FS, f.job)
	if err != nil || file == nil {
		return err
	}
	text := strings.TrimSuffix(string(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))), "\n")
	f.handoff = handoff{file, strings.Split(text, "\n")}
	return nil
}

// ReadHandoff reads the job's handoff file; nil when the job has none. What is no
// text of a person is a refusal.
func ReadHandoff(f afero.Fs, job *spec.Job) ([]byte, error) {
	if job.Input.Handoff == "" {
		return nil, nil
	}
	path := job.Resolve(job.Input.Handoff)
	refuse := func(class, message, next string, err error) error {
		return &step.Refusal{Class: class, Message: message, Place: step.Place{File: path}, Next: next, Err: err}
	}
	info, err := f.Stat(path)
	var file []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		return nil, refuse("handoff-not-a-file", "the handoff is no regular file", "name a text file", nil)
	case info.Size() > maxHandoff:
		return nil, refuse("handoff-too-large", "the handoff is larger than 16 MiB", "hand over less", nil)
	default:
		file, err = readAtMost(f, path, maxHandoff)
	}
	switch {
	case err != nil:
		var e *fs.PathError
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, refuse("handoff-unreadable", "the handoff file cannot be read", "correct input.handoff; it is relative to the job file", err)
	case !utf8.Valid(file):
		return nil, refuse("handoff-not-text", "the handoff is not UTF-8 text", "save it as UTF-8", nil)
	case len(bytes.TrimSpace(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf")))) == 0:
		return nil, refuse("handoff-empty", "the handoff file says nothing", "fill it, or remove input.handoff", nil)
	}
	return file, nil
}

// readAtMost reads a file, of one that grows meanwhile the first bytes.
func readAtMost(f afero.Fs, path string, limit int64) ([]byte, error) {
	r, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	file, err := io.ReadAll(io.LimitReader(r, limit))
	return file, errors.Join(err, r.Close())
}

// HandoffDigest is the hash of a handoff file, "none" for nil.
func HandoffDigest(file []byte) string { return evidence.HandoffDigest(file) }
