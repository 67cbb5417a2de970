package compress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/pack"
	"github.com/precis-dev/precis/spec"
)

// maxText bounds a file that a person wrote.
const maxText = 16 << 20

// Texts are the files beside the sessions that a job names; nil for none.
type Texts struct {
	Handoff []byte // what a person hands over with the sessions
	Terms   []byte // word lists that rank optional evidence
}

// textFile is one that a person wrote, with the prefix of its classes.
type textFile struct {
	name, class, what, field, next string
}

// ReadTexts reads the files that a job names. What is no text of a person is a
// refusal.
func ReadTexts(f afero.Fs, job *spec.Job) (t Texts, err error) {
	t.Handoff, err = textFile{job.Input.Handoff, "handoff", "the handoff", "input.handoff", "fill it, or remove input.handoff"}.read(f, job)
	if err != nil || job.Mode.Summary != "model" {
		return t, err
	}
	lists := textFile{job.Author.Terms, "terms", "the file of the word lists", "author.terms", "write lines of the form: topic = term | term"}
	if t.Terms, err = lists.read(f, job); err != nil || t.Terms == nil {
		return t, err
	}
	if noTerm(pack.ParseTerms(string(t.Terms))) {
		err = lists.refuse(job, "empty", "has no word list in it", lists.next, nil)
	}
	return t, err
}

// noTerm tells whether word lists are all empty.
func noTerm(t pack.Terms) bool {
	all := t.Words
	for _, topic := range t.Topics {
		all = append(all, topic.Needles...)
	}
	return strings.Join(all, "") == ""
}

func (t textFile) refuse(job *spec.Job, class, message, next string, err error) error {
	return &step.Refusal{Class: t.class + "-" + class, Message: t.what + " " + message, Place: step.Place{File: job.Resolve(t.name)}, Next: next, Err: err}
}

func (t textFile) read(f afero.Fs, job *spec.Job) ([]byte, error) {
	if t.name == "" {
		return nil, nil
	}
	path := job.Resolve(t.name)
	info, err := f.Stat(path)
	var file []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		return nil, t.refuse(job, "not-a-file", "is no regular file", "name a text file", nil)
	case info.Size() > maxText:
		return nil, t.refuse(job, "too-large", "is larger than 16 MiB", "name a smaller one", nil)
	default:
		file, err = readAtMost(f, path, maxText)
	}
	switch {
	case err != nil:
		var e *fs.PathError
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, t.refuse(job, "unreadable", "cannot be read", "correct "+t.field+"; it is relative to the job file", err)
	case !utf8.Valid(file):
		return nil, t.refuse(job, "not-text", "is not UTF-8 text", "save it as UTF-8", nil)
	case len(bytes.TrimSpace(unmarked(file))) == 0:
		return nil, t.refuse(job, "empty", "says nothing", t.next, nil)
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

// unmarked is a text without its byte order mark.
func unmarked(file []byte) []byte { return bytes.TrimPrefix(file, []byte("\xef\xbb\xbf")) }

// handoff are the lines of the handoff.
func (t *Texts) handoff() []string {
	if t.Handoff == nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(unmarked(t.Handoff)), "\n"), "\n")
}

// terms are the word lists that count.
func (t *Texts) terms() pack.Terms {
	if t.Terms == nil {
		return pack.DefaultTerms()
	}
	return pack.ParseTerms(string(t.Terms))
}

// termsDigest is that of the word lists that count.
func (t *Texts) termsDigest() string {
	words, topics, err := t.terms().Digests()
	if err != nil {
		panic("compress: internal error: " + err.Error())
	}
	return hash([]byte(words + topics))
}

// handoffDigest is the hash of the handoff file, "none" without one.
func (t *Texts) handoffDigest() string { return evidence.HandoffDigest(t.Handoff) }

// observeTexts gives those files, with the digests of now.
func (f *fold) observeTexts(context.Context) ([]step.Observed, error) {
	var list []step.Observed
	for _, t := range []struct {
		name, path string
		text       []byte
	}{{"handoff", f.job.Input.Handoff, f.texts.Handoff}, {"terms", f.job.Author.Terms, f.texts.Terms}} {
		if t.text != nil {
			a := step.Artifact{SHA256: hash(t.text), Bytes: int64(len(t.text))}
			list = append(list, step.Observed{Name: t.name, Path: f.job.Resolve(t.path), Artifact: a})
		}
	}
	return list, nil
}
