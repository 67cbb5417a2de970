package cas

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/precis-dev/precis/engine/step"
)

// Get reads an artifact and checks it; the error is [ErrCorrupt] or
// fs.ErrNotExist where it is not what it should be.
func (s *Store) Get(a step.Artifact) ([]byte, error) {
	r, err := s.reader(a)
	if err != nil {
		return nil, err
	}
	// A large size is believed as its bytes come.
	data := make([]byte, 0, min(a.Bytes, 16*chunkSize))
	for err == nil {
		data, err = r.next(data)
	}
	if err != io.EOF {
		return nil, err
	}
	return data, nil
}

// Verify is Get without keeping the bytes.
func (s *Store) Verify(a step.Artifact) error {
	r, err := s.reader(a)
	if err != nil {
		return err
	}
	return r.verify()
}

// Open is Get as a stream. Bytes that are not the artifact's are an error, at
// the latest at the end, in place of io.EOF. The stream ends with the store.
func (s *Store) Open(a step.Artifact) (io.ReadCloser, error) {
	r, err := s.reader(a)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(&stream{reader: r}), nil
}

func (s *Store) reader(a step.Artifact) (*reader, error) {
	h, err := parse(a)
	if err != nil {
		return nil, err
	}
	p, file, err := s.find(h.sum)
	if err == nil && p.bytes != h.bytes {
		err = ErrCorrupt
	}
	if err != nil {
		return nil, fmt.Errorf("read artifact %s: %w", a.SHA256, err)
	}
	return newReader(file, p.at, h)
}

// reader reads one frame, chunk by chunk.
type reader struct {
	src  *bufio.Reader
	want head
	left int64
	sum  hash.Hash
	err  error // sticky
}

func newReader(file io.ReaderAt, at int64, want head) (*reader, error) {
	r := &reader{
		src:  bufio.NewReaderSize(io.NewSectionReader(file, at, math.MaxInt64-at), maxLines),
		want: want, left: want.bytes, sum: sha256.New(),
	}
	line, err := r.line()
	if got, _, ok := parseHead(line); err == nil && (!ok || got != want) {
		err = ErrCorrupt
	}
	return r, r.explain(err)
}

// next appends the next chunk. After the last one it is io.EOF, if the digest is
// right.
func (r *reader) next(dst []byte) ([]byte, error) {
	if r.err != nil {
		return dst, r.err
	}
	if r.left == 0 {
		r.err = r.finish()
		return dst, r.err
	}
	before := len(dst)
	dst, err := r.chunk(dst)
	r.sum.Write(dst[before:])
	r.err = r.explain(err)
	return dst, r.err
}

func (r *reader) finish() error {
	if digest(r.sum.Sum(nil)) != r.want.sum {
		return r.explain(ErrCorrupt)
	}
	return io.EOF
}

func (r *reader) chunk(dst []byte) ([]byte, error) {
	line, err := r.line()
	if err != nil {
		return dst, err
	}
	size := min(r.left, chunkSize)
	c, _, ok := parseChunk(line, size)
	if !ok {
		return dst, ErrCorrupt
	}
	r.left -= size
	buf := buffers.Get().(*[]byte)
	defer giveBack(buf)
	*buf = slices.Grow((*buf)[:0], int(c.stored)+1)[:c.stored+1]
	if _, err := io.ReadFull(r.src, *buf); err != nil {
		return dst, err
	}
	if (*buf)[c.stored] != '\n' {
		return dst, ErrCorrupt
	}
	return c.unpack(dst, (*buf)[:c.stored], size)
}

// line reads a line; all that are written fit the buffer.
func (r *reader) line() ([]byte, error) {
	line, err := r.src.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		err = ErrCorrupt
	}
	return line, err
}

// explain names the artifact. A file that ends within a frame has been cut.
func (r *reader) explain(err error) error {
	switch err {
	case nil:
		return nil
	case io.EOF, io.ErrUnexpectedEOF:
		err = ErrCorrupt
	}
	return fmt.Errorf("read artifact %x: %w", r.want.sum, err)
}

// verify reads to the end.
func (r *reader) verify() error {
	buf := buffers.Get().(*[]byte)
	defer giveBack(buf)
	var err error
	for err == nil {
		*buf, err = r.next((*buf)[:0])
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// stream hands out what a reader gives; rest is the part of buf still to come.
type stream struct {
	*reader
	buf, rest []byte
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		var err error
		if s.buf, err = s.next(s.buf[:0]); err != nil {
			return 0, err
		}
		s.rest = s.buf
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
