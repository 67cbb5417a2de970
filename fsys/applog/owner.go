package applog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// Owner is the process that writes a log.
type Owner struct {
	Host  string    `json:"host"`
	Boot  string    `json:"boot,omitempty"` // id of the machine's boot, where it has one
	PID   int       `json:"pid"`
	Start time.Time `json:"start"`
}

func (o Owner) String() string {
	return fmt.Sprintf("process %d on %s since %s", o.PID, o.Host, o.Start.UTC().Format(time.RFC3339))
}

// LockedError says that another process writes the log. It is fsys.ErrLocked.
type LockedError struct {
	Name  string
	Owner *Owner // nil when its record cannot be read
}

func (e *LockedError) Error() string {
	if e.Owner == nil {
		return fmt.Sprintf("log %s is being written by another process", e.Name)
	}
	return fmt.Sprintf("log %s is being written by %s", e.Name, e.Owner)
}

// Unwrap makes errors.Is find fsys.ErrLocked.
func (e *LockedError) Unwrap() error { return fsys.ErrLocked }

// Who has just taken a lock has not yet said so: there is no record, or that of a
// process which was killed.
const (
	tries = 20
	pause = 2 * time.Millisecond
)

// tells is false for a record that is not of the lock's holder, as far as we know.
func tells(f afero.Fs, record *Owner, self Owner) bool {
	p, ok := fsys.As[fsys.Processes](f)
	if record == nil || !ok || record.Host != self.Host || record.Boot != self.Boot {
		return record != nil
	}
	alive, err := p.Alive(record.PID)
	return alive || err != nil
}

// acquire takes the lock, then says who has it. The record is for a message
// only, so it is neither durable nor trusted.
func acquire(f afero.Fs, name string, owner Owner) (io.Closer, error) {
	lock, err := fsys.LockFile(f, name+".lock")
	for try := 0; errors.Is(err, fsys.ErrLocked) && !tells(f, readOwner(f, name), owner) && try < tries; try++ {
		time.Sleep(pause)
		lock, err = fsys.LockFile(f, name+".lock")
	}
	if errors.Is(err, fsys.ErrLocked) {
		return nil, &LockedError{Name: name, Owner: readOwner(f, name)}
	}
	if err != nil {
		return nil, err
	}
	record, err := json.Marshal(owner)
	if err == nil {
		err = afero.WriteFile(f, name+".owner", record, fsys.FilePerm)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func readOwner(f afero.Fs, name string) *Owner {
	var o Owner
	data, err := afero.ReadFile(f, name+".owner")
	if err != nil || json.Unmarshal(data, &o) != nil {
		return nil
	}
	return &o
}

func release(f afero.Fs, name string, lock io.Closer) error {
	return errors.Join(fsys.Remove(f, name+".owner"), lock.Close())
}
