package journal

import (
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys/applog"
)

// Read gives the checked entries of a journal in order, also of one that is being
// written. It ends with the first error.
func Read(f afero.Fs, name string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := reader{file: name}
		for line, err := range applog.Read(f, name, intact) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			c, err := r.next(line)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range c.entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Scan folds a journal. Each, if not nil, is given every item as it finishes, with
// its steps; afterwards they are forgotten, so that memory does not grow with the
// steps of items that are finished. An error of each ends the scan and is returned
// as it is. An item may be given twice.
func Scan(f afero.Fs, name string, each func(*Item) error) (State, error) {
	r := reader{file: name, each: each}
	err := r.read(f)
	if _, bad := errors.AsType[*Error](err); bad {
		// While another process seals a torn tail and goes on, its beginning may be read
		// and the end of what replaced it. What is wrong twice is wrong.
		r = reader{file: name, each: each}
		err = r.read(f)
	}
	return r.state, err
}

// reader is the end of what was read so far.
type reader struct {
	file   string
	seq    int64
	parent string
	state  State
	each   func(*Item) error
}

func (r *reader) read(f afero.Fs) error {
	for line, err := range applog.Read(f, r.file, intact) {
		if err != nil {
			return err
		}
		if _, err := r.next(line); err != nil {
			return err
		}
	}
	return nil
}

// next decodes a line, checks that it follows the last one and that the state
// allows what it says.
func (r *reader) next(line applog.Line) (commit, error) {
	c, bad := decode(line.Bytes)
	switch {
	case bad != nil:
	case c.seq != r.seq+1:
		bad = &fault{BadSequence, fmt.Sprintf("line %d follows line %d", c.seq, r.seq)}
	case c.parent != r.parent:
		bad = &fault{BadParent, "the line before is not the one that was there when this one was written"}
	}
	if bad != nil {
		return commit{}, r.fail(line, bad)
	}
	for _, e := range c.entries {
		if err := r.state.apply(e); err != nil {
			return commit{}, r.fail(line, &fault{BadOrder, err.Error()})
		}
		if err := r.state.release(e.Body, r.each); err != nil {
			return commit{}, err // the caller's, and no fault of the journal
		}
	}
	r.seq, r.parent = c.seq, digest(line.Bytes)
	return c, nil
}

func (r *reader) fail(line applog.Line, bad *fault) error {
	return &Error{r.file, line.Number, line.Offset, bad.problem, bad.detail}
}
