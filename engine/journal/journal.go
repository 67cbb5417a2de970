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
	file string
	now  func() time.Time
	log  *applog.Log
	// Before is called before entries are made durable: what they speak of must be
	// so first. Nil for nothing.
	Before func() error

	mu      sync.Mutex
	state   State
	pending []envelope
	bytes   int // of the pending bodies

	// Commits come one at a time, and those who wait share the next one.
	turn   sync.Cond
	busy   bool
	begun  int64 // commits
	ended  int64
	seq    int64
	parent string
	err    error // of the first commit that failed; sticky
}

// Open opens the journal of a run for append, creating it when it is missing.
// Its torn tail is sealed and what it holds is checked; each, if not nil, is given
// the state of every item when it finishes, as [Scan] does. A journal that another
// process writes is an *[applog.LockedError].
func Open(f afero.Fs, name string, owner applog.Owner, now func() time.Time, each func(*Item) error) (*Journal, error) {
	// Read before the log seals its tail: what this program does not understand
	// stays untouched.
	if _, err := Scan(f, name, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	log, err := applog.Open(f, name, applog.Options{Owner: owner, Complete: intact})
	if err != nil {
		return nil, err
	}
	j := &Journal{file: name, now: now, log: log}
	j.turn.L = &j.mu
	// Again, under the lock: another process may have written in between.
	r := reader{file: name, each: each}
	if err := r.read(f); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	j.state, j.seq, j.parent = r.state, r.seq, r.parent
	return j, nil
}

// Durability is what a commit reaches.
func (j *Journal) Durability() applog.Level { return j.log.Level() }

// State is what the journal said when it was opened. It is not for use once
// entries are appended.
func (j *Journal) State() *State { return &j.state }

// most is how many bytes of entries wait for a commit; one more makes it.
const most = 256 << 10

// Append adds an entry. It is durable after the next Commit, and lost with all that
// followed it when the process dies before. An entry that the state does not allow
// is not added.
func (j *Journal) Append(b Body) error {
	e, v, err := Entry{j.now(), b}.settle()
	if err != nil {
		return fmt.Errorf("journal %s: %s: %w", j.file, b.Type(), err)
	}
	full, err := j.add(v, e)
	if err == nil && full {
		err = j.Commit()
	}
	return err
}

func (j *Journal) add(v envelope, e Entry) (full bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return false, j.err
	}
	if err := j.state.apply(e); err != nil {
		return false, fmt.Errorf("journal %s: %s: %w", j.file, v.Type, err)
	}
	_ = j.state.release(e.Body, nil)
	j.pending = append(j.pending, v)
	j.bytes += len(v.Body)
	return j.bytes > most, nil
}

// Commit returns when every entry appended before it is durable, as one line
// with what others appended meanwhile. After a failure the journal takes no more.
func (j *Journal) Commit() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	mine := j.begun + 1 // the next commit to begin has my entries
	if len(j.pending) == 0 {
		mine = j.begun // one at work may have them
	}
	for j.err == nil && j.ended < mine {
		if j.busy {
			j.turn.Wait()
			continue
		}
		j.commit()
	}
	return j.err
}

// commit writes what is pending, without the lock.
func (j *Journal) commit() {
	entries := j.pending
	j.pending, j.bytes, j.busy = nil, 0, true
	j.begun++
	j.mu.Unlock()
	line, err := j.write(entries)
	j.mu.Lock()
	j.busy = false
	j.ended++
	if err != nil {
		j.err = err
	} else {
		j.seq, j.parent = j.seq+1, digest(line)
	}
	j.turn.Broadcast()
}

func (j *Journal) write(entries []envelope) ([]byte, error) {
	if j.Before != nil {
		if err := j.Before(); err != nil {
			return nil, fmt.Errorf("journal %s: %w", j.file, err)
		}
	}
	line, err := encode(j.seq+1, j.parent, entries)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", j.file, err)
	}
	return line, j.log.Append(line)
}

// Close gives the journal up. Entries that were not committed are lost.
func (j *Journal) Close() error { return j.log.Close() }
