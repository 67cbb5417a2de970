package transcript

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// MaxLine is the longest line that is read. Sessions with lines of 100 MB are
// known; the limit only keeps a file without line ends from taking all memory.
const MaxLine = 1 << 30

// chunk is what is read at once: small enough to stay in the cache between hashing
// and scanning.
const chunk = 32 << 10

var bom = []byte("\xef\xbb\xbf")

// reader carries the state of one pass.
type reader struct {
	p            parser
	x            *Index
	hash         hash.Hash
	off          int64 // of the next line
	total        int64 // bytes of the file, 0 when not known
	unterminated bool  // the line at hand has no line end
	// Damaged lines that may be one record with raw line breaks.
	pending     []byte
	pendingFrom int
	spread      bool // the first of them ends between two values
	nesting     nesting
}

// Read indexes a session file. progress is called with the bytes read so far; an
// error it returns ends the pass. The only other errors are the reader's own and
// a line beyond [MaxLine]: damaged lines are part of the result.
func Read(src io.Reader, progress func(done int64) error) (*Index, error) {
	x := &Index{symbols: newSymbols()}
	r := &reader{x: x, hash: sha256.New()}
	if s, ok := src.(interface{ Size() int64 }); ok {
		r.total = s.Size()
	}
	r.p.x = x
	if err := r.run(src, progress); err != nil {
		return nil, err
	}
	r.hash.Sum(x.SHA256[:0])
	x.link()
	return x, nil
}

func (r *reader) run(src io.Reader, progress func(int64) error) error {
	buf := make([]byte, chunk)
	held := 0 // bytes of an unfinished line at the start of buf
	for {
		if held == len(buf) {
			if len(buf) >= MaxLine {
				return fmt.Errorf("line %d is longer than %d bytes", r.x.Lines+1, MaxLine)
			}
			buf = longer(buf)
		}
		n, err := src.Read(buf[held:min(len(buf), held+maxRead)])
		r.hash.Write(buf[held : held+n])
		r.x.Size += int64(n)
		rest := r.lines(buf[:held+n], held)
		if err == io.EOF {
			r.last(rest)
			return progress(r.x.Size)
		}
		if err != nil {
			return err
		}
		if len(rest) < held+n {
			buf = shorter(buf, rest)
		}
		held = len(rest)
		if err := progress(r.x.Size); err != nil {
			return err
		}
	}
}

// maxRead bounds one read, however long the line: nothing may keep the program
// from answering for long.
const maxRead = 1 << 20

// longer is the buffer with more room. Beyond some size it grows by half.
func longer(buf []byte) []byte {
	n := 2 * len(buf)
	if len(buf) >= 64<<20 {
		n = len(buf) + len(buf)/2
	}
	out := make([]byte, min(n, MaxLine))
	copy(out, buf)
	return out
}

// shorter moves the rest to the start of the buffer, of a small one when a very
// long line has gone.
func shorter(buf, rest []byte) []byte {
	if len(buf) > 64*maxRead && len(rest) < chunk {
		buf = make([]byte, chunk)
	}
	copy(buf, rest)
	return buf
}

// lines handles the complete lines of b, whose first held bytes are known to
// hold no line end, and returns what is left.
func (r *reader) lines(b []byte, held int) []byte {
	for {
		i := bytes.IndexByte(b[held:], '\n')
		if i < 0 {
			return b
		}
		r.line(b[:held+i], int64(held+i+1))
		b, held = b[held+i+1:], 0
	}
}

// last handles what stands after the last line end.
func (r *reader) last(b []byte) {
	if len(b) == 0 {
		return
	}
	r.unterminated, r.x.NoNewline = true, true
	r.line(b, int64(len(b)))
}

// line handles one physical line that takes size bytes of the file.
func (r *reader) line(b []byte, size int64) {
	x, off := r.x, r.off
	r.off += size
	x.Lines++
	x.LongestLine = max(x.LongestLine, len(b))
	if x.Lines == 1 && bytes.HasPrefix(b, bom) {
		x.BOM = true
		b, off = b[len(bom):], off+int64(len(bom))
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
		x.CRLF = x.CRLF || x.Lines == 1
	}
	if len(b) == 0 || b[0] != '{' && len(bytes.TrimSpace(b)) == 0 {
		x.Blank++
		return
	}
	r.content(b, off)
}

// content parses a line that is not blank.
func (r *reader) content(b []byte, off int64) {
	p := &r.p
	p.s = jsonspan.Scanner{Data: b}
	if p.s.Peek() != '{' {
		r.noObject(b, off)
		return
	}
	r.records(b, off, 0)
}

// records parses the record at the scanner's position, and any others glued to
// it on the same line.
func (r *reader) records(b []byte, off int64, start int) {
	p, tools, refs := &r.p, len(r.x.Tools), len(r.x.refs)
	if err := p.record(); err != nil {
		r.x.Tools, r.x.refs = r.x.Tools[:tools], r.x.refs[:refs]
		r.damaged(b, off, err)
		return
	}
	end := p.s.Pos
	next := p.s.Peek()
	if next == 0 && p.s.Pos >= len(b) && start == 0 {
		end = len(b)
	}
	r.keep(off+int64(start), end-start, start)
	switch {
	case next == 0 && p.s.Pos >= len(b):
		return
	case next != '{':
		r.damaged(b, off, &jsonspan.Error{Pos: p.s.Pos, Reason: "text after the record"})
		return
	}
	second := p.s.Pos
	r.x.Damage = append(r.x.Damage, Damage{Kind: Glued, Line: r.x.Lines, LastLine: r.x.Lines, Off: off, Len: int64(len(b)), At: second, Reason: "two records on one line"})
	p.s = jsonspan.Scanner{Data: b, Pos: second}
	r.records(b, off, second)
}

// keep appends the parsed record. Its offsets are made relative to its own
// start.
func (r *reader) keep(off int64, n, start int) {
	rec := &r.p.rec
	rec.Off, rec.Len, rec.Line = off, int32(n), int32(r.x.Lines)
	if start > 0 {
		rec.TimeOff -= int32(start)
		rec.ParentOff -= int32(start)
		rec.ContentOff -= int32(start)
		if rec.surrogate > 0 {
			rec.surrogate -= int32(start)
		}
	}
	r.p.count()
	r.makeRoom()
	r.x.Records = append(r.x.Records, *rec)
	r.pending = r.pending[:0]
}

// makeRoom grows the index once to what the rest of the file will need, by what
// it held so far, instead of by doubling: the index is what memory goes to.
func (r *reader) makeRoom() {
	x := r.x
	if n := len(x.Records); n < cap(x.Records) || n < 256 || r.off == 0 {
		return
	}
	rest := float64(r.total-r.off) / float64(r.off) * 1.1
	if rest <= 0 {
		return
	}
	x.Records = withRoom(x.Records, int(float64(len(x.Records))*rest)+256)
	x.Tools = withRoom(x.Tools, int(float64(len(x.Tools))*rest)+256)
}

// withRoom is s with room for n more. Unlike append it does not clear what is not
// used yet: fresh memory is clear, and touching it all at once costs a page fault
// for each page while the collector waits.
func withRoom[T any](s []T, n int) []T {
	out := make([]T, len(s), len(s)+n)
	copy(out, s)
	return out
}

// noObject handles a line that is JSON of another type, or nothing known.
func (r *reader) noObject(b []byte, off int64) {
	s := &r.p.s
	_, kind, err := s.Value()
	if err == nil && s.Peek() == 0 && s.Pos >= len(b) {
		r.x.Damage = append(r.x.Damage, Damage{Kind: NoObject, Line: r.x.Lines, LastLine: r.x.Lines, Off: off, Len: int64(len(b)), Reason: "a JSON value that is no record", Null: kind == jsonspan.Null})
		if len(r.pending) > 0 && !r.join(b) {
			r.pending = r.pending[:0]
		}
		return
	}
	if err == nil {
		err = &jsonspan.Error{Pos: s.Pos, Reason: "text after the value"}
	}
	r.damaged(b, off, err)
}
