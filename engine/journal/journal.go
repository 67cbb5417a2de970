package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys/applog"
)

// Journal is a journal open for append, safe for concurrent use.
type Journal struct {
	now func() time.Time
	log *applog.Log

	mu sync.Mutex
	reader
}

// Open opens the journal of a run for append, creating it when it is missing.
// Its torn tail is sealed and what it holds is checked. A journal that another
// process writes is an *[applog.LockedError].
func Open(f afero.Fs, name string, owner applog.Owner, now func() time.Time) (*Journal, error) {
	// Read before the log seals its tail: what this program does not understand
	// stays untouched.
	if _, err := Read(f, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	log, err := applog.Open(f, name, applog.Options{Owner: owner, Complete: intact})
	if err != nil {
		return nil, err
	}
	j := &Journal{now: now, log: log, reader: reader{file: name}}
	// Again, under the lock: another process may have written in between.
	for line, err := range applog.Read(f, name, intact) {
		if err == nil {
			_, err = j.next(line)
		}
		if err != nil {
			return nil, errors.Join(err, log.Close())
		}
	}
	return j, nil
}

// Durability is what an append reaches.
func (j *Journal) Durability() applog.Level { return j.log.Level() }

// Append writes an entry; it is durable when Append returns. An entry that the
// state does not allow is not written. After a failed write the journal takes no
// more.
func (j *Journal) Append(b Body) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, err := encode(Entry{j.seq + 1, j.parent, j.now(), b})
	if err != nil {
		return fmt.Errorf("journal %s: %w", j.file, err)
	}
	// Decoding shows whether the entry can be read back, and makes the state the
	// one that a reader would have.
	e, bad := decode(line)
	if bad != nil {
		return fmt.Errorf("journal %s: %s: %s", j.file, b.Type(), bad.detail)
	}
	if err := j.state.apply(e.Body); err != nil {
		return fmt.Errorf("journal %s: %s: %w", j.file, b.Type(), err)
	}
	if err := j.log.Append(line); err != nil {
		return err // the state is ahead of the file, and the log takes no more
	}
	j.seq, j.parent = e.Seq, digest(line)
	return nil
}

// Close gives the journal up.
func (j *Journal) Close() error { return j.log.Close() }

// Read reads and checks the entries of a journal, also of one that is being
// written.
func Read(f afero.Fs, name string) ([]Entry, error) {
	r := reader{file: name}
	var entries []Entry
	for line, err := range applog.Read(f, name, intact) {
		if err != nil {
			return nil, err
		}
		e, err := r.next(line)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// reader is the end of what was read so far.
type reader struct {
	file   string
	seq    int64
	parent string
	state  State
}

// next decodes a line, checks that it follows the last one and that the state
// allows it.
func (r *reader) next(line applog.Line) (Entry, error) {
	e, bad := decode(line.Bytes)
	switch {
	case bad != nil:
	case e.Seq != r.seq+1:
		bad = &fault{BadSequence, fmt.Sprintf("entry %d follows entry %d", e.Seq, r.seq)}
	case e.Parent != r.parent:
		bad = &fault{BadParent, "the line before is not the one that was there when this one was written"}
	}
	if bad != nil {
		return Entry{}, r.fail(line, bad)
	}
	if err := r.state.apply(e.Body); err != nil {
		return Entry{}, r.fail(line, &fault{BadOrder, err.Error()})
	}
	r.seq, r.parent = e.Seq, digest(line.Bytes)
	return e, nil
}

func (r *reader) fail(line applog.Line, bad *fault) error {
	return &Error{r.file, line.Number, line.Offset, bad.problem, bad.detail}
}
