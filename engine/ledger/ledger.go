package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
)

// Record is what the last run that finished an item left.
type Record struct {
	Kind   string      `json:"kind"`
	Job    string      `json:"job"`
	Source string      `json:"source"` // absolute
	Run    string      `json:"run"`
	Steps  []plan.Done `json:"steps"`
}

// Ledger is a ledger as it was when it was opened, and open for append, safe for
// concurrent use.
type Ledger struct {
	fs    afero.Fs
	name  string
	owner applog.Owner

	file  afero.File // nil when there is none yet
	items map[string]span
	owns  map[string]claim
	size  int64 // of all lines
	newer int64 // of those that a later version wrote

	writing sync.Mutex
}

// span is a line within the file.
type span struct {
	off    int64
	length int // without the newline
}

// claim is what a line says of a path.
type claim struct {
	sum string
	off int64 // of the line
}

// Open reads a ledger; a missing one is empty.
func Open(f afero.Fs, name string, owner applog.Owner) (*Ledger, error) {
	l := &Ledger{fs: f, name: name, owner: owner, items: map[string]span{}, owns: map[string]claim{}}
	file, err := f.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	l.file = file
	for line, err := range l.lines() {
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", errors.Join(err, file.Close()))
		}
		l.index(line)
	}
	return l, nil
}

// lines reads the file that is open: its name may lead to another one by now. What
// has no newline yet is no line.
func (l *Ledger) lines() iter.Seq2[applog.Line, error] {
	return func(yield func(applog.Line, error) bool) {
		r := bufio.NewReaderSize(io.NewSectionReader(l.file, 0, math.MaxInt64), 64<<10)
		at := applog.Line{Number: 1}
		for {
			text, err := r.ReadBytes('\n')
			if err == io.EOF {
				return
			}
			at.Bytes = bytes.TrimSuffix(text, []byte("\n"))
			if !yield(at, err) || err != nil {
				return
			}
			at = applog.Line{Number: at.Number + 1, Offset: at.Offset + int64(len(text))}
		}
	}
}

func (l *Ledger) index(line applog.Line) {
	l.size += int64(len(line.Bytes)) + 1
	h, _, ok := parse(line.Bytes)
	switch {
	case !ok && later(line.Bytes):
		l.newer += int64(len(line.Bytes)) + 1
	case h.ID != "":
		l.items[h.ID] = span{line.Offset, len(line.Bytes)}
	}
	for path, sum := range h.Owns {
		l.owns[path] = claim{sum, line.Offset}
	}
}

// Item is the record of an item, nil when there is none.
func (l *Ledger) Item(kind, job, source string) (*Record, error) {
	s, ok := l.items[identity(kind, job, source)]
	if !ok {
		return nil, nil
	}
	line := make([]byte, s.length)
	if _, err := l.file.ReadAt(line, s.off); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	_, text, ok := parse(line)
	if !ok {
		return nil, nil
	}
	var r Record
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&r) != nil || r.Kind != kind || r.Job != job || r.Source != source {
		return nil, nil
	}
	return &r, nil
}

// Owned is the SHA-256 of what was last published at a path.
func (l *Ledger) Owned(path string) (sha256hex string, ok bool) {
	path, err := fsys.Canonical(l.fs, path)
	if err != nil {
		return "", false
	}
	c, ok := l.owns[path]
	return c.sum, ok
}

// Append adds records, durably. The ledger goes on showing what it held when it
// was opened.
func (l *Ledger) Append(records []Record) error {
	if len(records) == 0 {
		return nil
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	log, err := l.open()
	if err != nil {
		return err
	}
	err = l.write(log, records)
	return errors.Join(err, log.Close())
}

// Two runs write to the ledger of one state folder in turn, each for an instant.
const (
	patience = 10 * time.Second
	pause    = 10 * time.Millisecond
)

func (l *Ledger) open() (*applog.Log, error) {
	for waited := time.Duration(0); ; waited += pause {
		log, err := applog.Open(l.fs, l.name, applog.Options{Owner: l.owner})
		if !errors.Is(err, fsys.ErrLocked) || waited >= patience {
			return log, err
		}
		time.Sleep(pause)
	}
}

func (l *Ledger) write(log *applog.Log, records []Record) error {
	var text bytes.Buffer
	for i := range records {
		line, err := l.line(&records[i])
		if err != nil {
			return err
		}
		if i > 0 {
			text.WriteByte('\n')
		}
		text.Write(line)
	}
	return log.AppendLines(text.Bytes())
}

// Close releases the file.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Find gives a finished step of the record, nil when there is none.
func (r *Record) Find(name string) *plan.Done {
	if r == nil {
		return nil
	}
	for i := range r.Steps {
		if r.Steps[i].Step == name {
			return &r.Steps[i]
		}
	}
	return nil
}

// Published is the file that the item left at a path, nil when it left none.
func (r *Record) Published(path string) *step.Published {
	if r == nil {
		return nil
	}
	for i := range r.Steps {
		for j := range r.Steps[i].Published {
			if p := &r.Steps[i].Published[j]; p.Path == path {
				return p
			}
		}
	}
	return nil
}
