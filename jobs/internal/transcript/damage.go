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
	Spread    DamageKind = "record-over-lines"
	NoObject  DamageKind = "not-an-object"
	TooDeep   DamageKind = "nested-too-deeply"
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
	// Null tells that the line is the bare word null.
	Null bool
}

// maxSplit bounds how far a record is followed over unescaped newlines.
const maxSplit = 1 << 20

// damaged books a line that did not parse as one record.
func (r *reader) damaged(line []byte, off int64, err *jsonspan.Error) {
	d := Damage{Kind: Malformed, Line: r.x.Lines, LastLine: r.x.Lines, Off: off, Len: int64(len(line)), At: err.Pos, Reason: err.Reason}
	switch {
	case bytes.IndexByte(line, 0) >= 0:
		d.Kind, d.At, d.Reason = NulBlock, bytes.IndexByte(line, 0), "NUL bytes"
	case err.Deep:
		d.Kind = TooDeep
	case err.EOF && r.unterminated:
		d.Kind = Torn
	}
	r.x.Damage = append(r.x.Damage, d)
	if !r.nesting.text && line[0] == '{' {
		r.pending = r.pending[:0] // a record begins; the one before stays torn
	}
	if len(r.pending) > 0 && r.join(line) {
		return
	}
	r.pending = r.pending[:0]
	if err.EOF {
		r.pendingFrom, r.nesting, r.spread = len(r.x.Damage)-1, nesting{}, !err.InText
		r.pending = append(r.pending, line...)
		r.nesting.feed(line)
	}
}

// join adds a line to the pending ones, which may be one record: its writer left
// line breaks in a string unescaped, or indented it. ok tells that they are, or
// still may be.
func (r *reader) join(line []byte) (ok bool) {
	r.pending = append(append(r.pending, '\n'), line...)
	if r.nesting.feed(line); r.nesting.text || r.spread && r.nesting.depth > 0 {
		return len(r.pending) < maxSplit
	}
	s := jsonspan.Scanner{Data: r.pending, RawNewlines: true}
	if _, kind, err := s.Value(); err != nil || kind != jsonspan.Object || s.Peek() != 0 {
		return false
	}
	r.splitRecord()
	r.spreadRecord()
	r.pending = r.pending[:0]
	return true
}

// nesting follows a text over its lines just far enough to know whether it may be
// complete, so that the lines are parsed together once, not each time.
type nesting struct {
	text, escape bool
	depth        int
}

func (n *nesting) feed(line []byte) {
	for _, c := range line {
		switch {
		case n.escape:
			n.escape = false
		case c == '"':
			n.text = !n.text
		case c == '\\':
			n.escape = n.text
		case n.text:
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			n.depth--
		}
	}
}

// splitRecord replaces the damage of the single lines by one entry.
func (r *reader) splitRecord() {
	first := r.x.Damage[r.pendingFrom]
	last := r.x.Damage[len(r.x.Damage)-1]
	first.Kind, first.LastLine = Split, last.Line
	first.Len = last.Off + last.Len - first.Off
	first.Reason = "unescaped line breaks within a string"
	r.x.Damage = append(r.x.Damage[:r.pendingFrom], first)
}

// spreadRecord indexes a record that is valid but for standing on several lines;
// clients read it. With line ends of two bytes it is told and not indexed: its
// offsets would not be those of the file.
func (r *reader) spreadRecord() {
	p, d := &r.p, &r.x.Damage[len(r.x.Damage)-1]
	tools, refs := len(r.x.Tools), len(r.x.refs)
	p.s = jsonspan.Scanner{Data: r.pending}
	err := p.record()
	if err == nil {
		d.Kind, d.Reason = Spread, "a record over several lines"
	}
	if err != nil || int64(len(r.pending)) != d.Len {
		r.x.Tools, r.x.refs = r.x.Tools[:tools], r.x.refs[:refs]
		return
	}
	r.keep(d.Off, len(r.pending), 0)
	r.x.Records[len(r.x.Records)-1].Line = int32(d.Line)
}
