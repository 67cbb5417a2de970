package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis/fsys"
)

// version of the lines this package reads and writes.
const version = 1

// header identifies the record behind it.
type header struct {
	V    int               `json:"v"`
	ID   string            `json:"id,omitempty"`   // none when the record counts no more
	Owns map[string]string `json:"owns,omitempty"` // SHA-256 of what was published, by path
}

func (l *Ledger) line(r *Record) ([]byte, error) {
	record, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	h := header{V: version, ID: identity(r.Kind, r.Job, r.Source), Owns: map[string]string{}}
	for _, s := range r.Steps {
		for _, p := range s.Published {
			path, err := fsys.Canonical(l.fs, p.Path)
			if err != nil {
				return nil, err
			}
			h.Owns[path] = p.SHA256
		}
	}
	return h.line(record)
}

func (h header) line(record []byte) ([]byte, error) {
	line, err := json.Marshal(h)
	line = append(append(line, ' '), record...)
	return append(append(line, ' '), digest(line)...), err
}

// parse splits a line that is as it was written. The record is JSON.
func parse(line []byte) (h header, record []byte, ok bool) {
	at := len(line) - 2*sha256.Size - 1
	if at < 0 || line[at] != ' ' || string(line[at+1:]) != digest(line[:at]) {
		return header{}, nil, false
	}
	d := json.NewDecoder(bytes.NewReader(line[:at]))
	if d.Decode(&h) != nil || h.V != version {
		return header{}, nil, false
	}
	return h, bytes.TrimPrefix(line[d.InputOffset():at], []byte(" ")), true
}

// later tells whether a version that this program does not know wrote the line.
func later(line []byte) bool {
	var h struct{ V int }
	return json.NewDecoder(bytes.NewReader(line)).Decode(&h) == nil && h.V > version
}

// identity names an item across runs.
func identity(kind, job, source string) string {
	return digest([]byte(strings.Join([]string{kind, job, source}, "\x00")))[:32]
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
