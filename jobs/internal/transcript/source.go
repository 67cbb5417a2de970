package transcript

import (
	"fmt"
	"io"
)

// Source gives the bytes of an indexed file's records.
type Source struct {
	*Index
	At  io.ReaderAt
	buf []byte
}

// NewSource joins an index with the file it was made from.
func NewSource(x *Index, at io.ReaderAt) *Source { return &Source{Index: x, At: at} }

// Record returns the bytes of a record, valid until the next call.
func (s *Source) Record(r int) ([]byte, error) {
	return s.bytes(r, 0, s.Records[r].Len)
}

// Content returns the bytes of a record's message.content, empty without one,
// valid until the next call.
func (s *Source) Content(r int) ([]byte, error) {
	return s.bytes(r, s.Records[r].ContentOff, s.Records[r].ContentLen)
}

func (s *Source) bytes(r int, off, n int32) ([]byte, error) {
	if cap(s.buf) < int(n) {
		s.buf = make([]byte, n, n+n/4)
	}
	b := s.buf[:n]
	if _, err := s.At.ReadAt(b, s.Records[r].Off+int64(off)); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read record L%d again: %w", r+1, err)
	}
	return b, nil
}

// Time returns a record's timestamp text, "" without one.
func (s *Source) Time(r int) (string, error) {
	rec := &s.Records[r]
	if rec.TimeLen == 0 {
		return "", nil
	}
	b := make([]byte, rec.TimeLen)
	_, err := s.At.ReadAt(b, rec.Off+int64(rec.TimeOff))
	if err == io.EOF {
		err = nil
	}
	return string(b), err
}
