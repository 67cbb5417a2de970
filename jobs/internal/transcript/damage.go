package transcript

import (
	"bytes"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// DamageKind classifies a line that is no single record.
type DamageKind string

// Kinds of damage, as rule ids.
const (
	Malformed DamageKind = "malformed-json"
	Torn      DamageKind = "torn-final-line"
	Glued     DamageKind = "glued-records"
	NulBlock  DamageKind = "nul-block"
	Split     DamageKind = "split-record"
	NoObject  DamageKind = "not-an-object"
	TooLong   DamageKind = "line-too-long"
)

// Damage is one place where the file holds something else than a record a line.
type Damage struct {
	Kind     DamageKind
	Line     int // physical, from 1
	LastLine int
	Off      int64
	Len      int64
	// At is the offset within the line of the fault; for glued records of the
	// second one.
	At     int
	Reason string
}

// maxSplit bounds how far a record is followed over unescaped newlines.
const maxSplit = 1 << 20

// damaged books a line that did not parse as one record.
func (r *reader) damaged(line []byte, off int64, err *jsonspan.Error) {
	d := Damage{Kind: Malformed, Line: r.x.Lines, LastLine: r.x.Lines, Off: off, Len: int64(len(line)), At: err.Pos, Reason: err.Reason}
	switch {
	case bytes.IndexByte(line, 0) >= 0:
		d.Kind, d.At, d.Reason = NulBlock, bytes.IndexByte(line, 0), "NUL bytes"
	case err.EOF && r.unterminated:
		d.Kind = Torn
	}
	r.x.Damage = append(r.x.Damage, d)
	if err.EOF && err.InText || len(r.pending) > 0 {
		r.join(line, off)
	}
}

// join tries whether the pending damaged lines are one record whose writer left
// newlines in a string unescaped.
func (r *reader) join(line []byte, off int64) {
	if len(r.pending) == 0 {
		r.pendingFrom, r.pendingOff = len(r.x.Damage)-1, off
	} else {
		r.pending = append(r.pending, '\n')
	}
	r.pending = append(r.pending, line...)
	s := jsonspan.Scanner{Data: r.pending, RawNewlines: true}
	_, kind, err := s.Value()
	switch {
	case err != nil && err.EOF && len(r.pending) < maxSplit:
		return
	case err == nil && kind == jsonspan.Object && s.Peek() == 0:
		r.splitRecord()
	}
	r.pending = r.pending[:0]
}

// splitRecord replaces the damage of the single lines by one entry.
func (r *reader) splitRecord() {
	first := r.x.Damage[r.pendingFrom]
	last := r.x.Damage[len(r.x.Damage)-1]
	if last.Line == first.Line {
		return
	}
	first.Kind, first.LastLine = Split, last.Line
	first.Len = int64(len(r.pending))
	first.Reason = "unescaped line breaks within a string"
	r.x.Damage = append(r.x.Damage[:r.pendingFrom], first)
}
