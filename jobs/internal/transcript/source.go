package transcript

import (
	"fmt"
	"io"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// Source gives the bytes of an indexed file's records. Records are mostly asked
// for in file order, so it reads a window ahead; what it returns is valid until
// the next call.
type Source struct {
	*Index
	At     io.ReaderAt
	window []byte
	start  int64 // of the window in the file
}

// ahead is the size of a window.
const ahead = 64 << 10

// NewSource joins an index with the file it was made from.
func NewSource(x *Index, at io.ReaderAt) *Source { return &Source{Index: x, At: at} }

// Record returns the bytes of a record.
func (s *Source) Record(r int) ([]byte, error) {
	return s.bytes(r, 0, s.Records[r].Len)
}

// Content returns the bytes of a record's message.content, empty without one.
func (s *Source) Content(r int) ([]byte, error) {
	return s.bytes(r, s.Records[r].ContentOff, s.Records[r].ContentLen)
}

// Time returns a record's timestamp text, "" without one.
func (s *Source) Time(r int) (string, error) {
	b, err := s.bytes(r, s.Records[r].TimeOff, int32(s.Records[r].TimeLen))
	return string(b), err
}

func (s *Source) bytes(r int, off, n int32) ([]byte, error) {
	at := s.Records[r].Off + int64(off)
	if at < s.start || at+int64(n) > s.start+int64(len(s.window)) {
		if err := s.fill(at, int(n)); err != nil {
			return nil, fmt.Errorf("read record L%d again: %w", r+1, err)
		}
	}
	i := at - s.start
	return s.window[i : i+int64(n)], nil
}

// fill reads a window that begins at the offset and holds at least n bytes.
func (s *Source) fill(at int64, n int) error {
	size := max(n, ahead)
	if cap(s.window) < size || cap(s.window) > 4*size {
		s.window = make([]byte, size)
	}
	b := s.window[:size]
	got, err := 0, error(nil)
	for got < size && err == nil {
		var m int
		m, err = s.At.ReadAt(b[got:min(size, got+maxRead)], at+int64(got))
		got += m
	}
	s.window, s.start = b[:got], at
	if got >= n {
		return nil
	}
	s.window = b[:0]
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Compaction is what a client's boundary says about the records it kept: their
// uuids in order, or in older files the ends of the line they form, and the
// record below which they belong.
type Compaction struct {
	Kept               []string
	Anchor, Head, Tail string
}

// Compaction reads a boundary's metadata. The list goes before the segment.
func (s *Source) Compaction(boundary int) (Compaction, error) {
	line, err := s.Record(boundary)
	if err != nil {
		return Compaction{}, err
	}
	meta := jsonspan.Value{Kind: jsonspan.Object, Raw: line}.Get("compactMetadata")
	list, segment := meta.Get("preservedMessages"), meta.Get("preservedSegment")
	c := Compaction{Anchor: list.Get("anchorUuid").Text()}
	for u := range list.Get("uuids").Elements() {
		c.Kept = append(c.Kept, u.Text())
	}
	if len(c.Kept) == 0 {
		c.Anchor = segment.Get("anchorUuid").Text()
		c.Head, c.Tail = segment.Get("headUuid").Text(), segment.Get("tailUuid").Text()
	}
	return c, nil
}
