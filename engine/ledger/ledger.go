package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
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

// version of the lines this package reads and writes.
const version = 1

// header identifies the record behind it.
type header struct {
	V    int               `json:"v"`
	ID   string            `json:"id"`
	Owns map[string]string `json:"owns,omitempty"` // SHA-256 of what was published, by path
	Sum  string            `json:"sum"`            // SHA-256 of the record's bytes
}

// Ledger is a ledger as it was when it was opened, and open for append.
type Ledger struct {
	fs    afero.Fs
	name  string
	owner applog.Owner

	file  afero.File // nil when there is none yet
	items map[string]span
	owns  map[string]string
	size  int64 // of all lines
	live  int64 // of those that count
}

// span is a line within the file.
type span struct {
	off    int64
	length int
}

// Open reads a ledger; a missing one is empty.
func Open(f afero.Fs, name string, owner applog.Owner) (*Ledger, error) {
	l := &Ledger{fs: f, name: name, owner: owner, items: map[string]span{}, owns: map[string]string{}}
	file, err := f.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	l.file = file
	for line, err := range applog.Read(f, name, nil) {
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", errors.Join(err, file.Close()))
		}
		l.index(line)
	}
	return l, nil
}

func (l *Ledger) index(line applog.Line) {
	length := len(line.Bytes) + 1
	l.size += int64(length)
	h, _, ok := parse(line.Bytes)
	if !ok {
		return
	}
	l.live += int64(length - l.items[h.ID].length)
	l.items[h.ID] = span{line.Offset, length}
	for path, sum := range h.Owns {
		l.owns[path] = sum
	}
}

// parse splits a line. The record is not checked.
func parse(line []byte) (h header, record []byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(line))
	if d.Decode(&h) != nil || h.V != version || h.ID == "" {
		return header{}, nil, false
	}
	return h, bytes.TrimPrefix(line[d.InputOffset():], []byte(" ")), true
}

// Item is the record of an item, nil when there is none.
func (l *Ledger) Item(kind, job, source string) (*Record, error) {
	s, ok := l.items[identity(kind, job, source)]
	if !ok {
		return nil, nil
	}
	line, err := l.read(s)
	if err != nil {
		return nil, err
	}
	h, text, ok := parse(line)
	if !ok || h.Sum != digest(text) {
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

func (l *Ledger) read(s span) ([]byte, error) {
	line := make([]byte, s.length-1)
	if _, err := l.file.ReadAt(line, s.off); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return line, nil
}

// Owned is the SHA-256 of what was last published at a path.
func (l *Ledger) Owned(path string) (sha256hex string, ok bool) {
	path, err := fsys.Canonical(l.fs, path)
	if err != nil {
		return "", false
	}
	sum, ok := l.owns[path]
	return sum, ok
}

// Append adds records, durably. The ledger goes on showing what it held when it
// was opened.
func (l *Ledger) Append(records []Record) error {
	if len(records) == 0 {
		return nil
	}
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

func (l *Ledger) line(r *Record) ([]byte, error) {
	record, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	h := header{V: version, ID: identity(r.Kind, r.Job, r.Source), Sum: digest(record)}
	for _, s := range r.Steps {
		for _, p := range s.Published {
			if h.Owns == nil {
				h.Owns = map[string]string{}
			}
			path, err := fsys.Canonical(l.fs, p.Path)
			if err != nil {
				return nil, err
			}
			h.Owns[path] = p.SHA256
		}
	}
	head, err := json.Marshal(h)
	return append(append(head, ' '), record...), err
}

// wasteful is the size below which nothing is gained by dropping old lines.
const wasteful = 4 << 20

// Tidy drops the lines that count no more, when they outweigh the others.
func (l *Ledger) Tidy() error {
	if l.size < wasteful || l.live*2 > l.size {
		return nil
	}
	log, err := l.open()
	if err != nil {
		return err
	}
	// Another run may have written since this ledger was opened.
	now, err := Open(l.fs, l.name, l.owner)
	if err == nil {
		err = errors.Join(now.rewrite(), now.Close())
	}
	return errors.Join(err, log.Close())
}

func (l *Ledger) rewrite() error {
	var text bytes.Buffer
	for line, err := range applog.Read(l.fs, l.name, nil) {
		if err != nil {
			return err
		}
		if h, _, ok := parse(line.Bytes); ok && l.items[h.ID].off == line.Offset {
			text.Write(line.Bytes)
			text.WriteByte('\n')
		}
	}
	return fsys.WriteFile(l.fs, l.name, "tidy", text.Bytes())
}

// Close releases the file.
func (l *Ledger) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// identity names an item across runs.
func identity(kind, job, source string) string {
	return digest([]byte(strings.Join([]string{kind, job, source}, "\x00")))[:32]
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
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
