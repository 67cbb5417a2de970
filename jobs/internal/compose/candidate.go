package compose

import (
	"fmt"
	"io"
	"sort"
)

// Candidate is the new file as a list of pieces: bytes of our own, and spans of
// the source. It is never in memory as a whole.
type Candidate struct {
	Boundary, Summary string // uuids of the pair
	Leaf              string // uuid the pointer names
	// PairTokens is the token estimate of the pair.
	PairTokens int64
	// Kept lists where the raw records stand: which source record, and from which
	// byte of the candidate on.
	Kept   []Kept
	pieces []piece
	size   int64
	source io.ReaderAt
}

// Kept is a record that the candidate takes from the source; Record is negative
// for a result that it adds to close a call.
type Kept struct {
	Record  int
	Off     int64
	Changed bool // its parent value was set
}

// piece is own bytes, or n bytes of the source from off.
type piece struct {
	at    int64 // in the candidate
	bytes []byte
	off   int64
	n     int64
}

// Size is the candidate's length in bytes.
func (c *Candidate) Size() int64 { return c.size }

func (c *Candidate) literal(b []byte) {
	c.pieces = append(c.pieces, piece{at: c.size, bytes: b, n: int64(len(b))})
	c.size += int64(len(b))
}

// line adds own bytes as a line.
func (c *Candidate) line(b []byte) { c.literal(append(b[:len(b):len(b)], '\n')) }

// span adds a line of the source. Lines that follow each other there with a
// single line feed between them become one piece.
func (c *Candidate) span(off int64, n int) {
	if k := len(c.pieces) - 2; k >= 0 && c.pieces[k].bytes == nil && c.pieces[k].off+c.pieces[k].n+1 == off && len(c.pieces[k+1].bytes) == 1 && c.adjacent(c.pieces[k]) {
		c.pieces[k].n += 1 + int64(n)
		c.pieces[k+1].at += 1 + int64(n)
		c.size += 1 + int64(n)
		return
	}
	c.pieces = append(c.pieces, piece{at: c.size, off: off, n: int64(n)})
	c.size += int64(n)
	c.literal([]byte{'\n'})
}

// adjacent reports that the byte after the piece is a line feed in the source,
// not the second byte of another line ending.
func (c *Candidate) adjacent(p piece) bool {
	var b [1]byte
	n, _ := c.source.ReadAt(b[:], p.off+p.n)
	return n == 1 && b[0] == '\n'
}

// ReadAt reads the candidate as if it were a file.
func (c *Candidate) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	i := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].at > off }) - 1
	done := 0
	for ; i >= 0 && i < len(c.pieces) && done < len(b); i++ {
		n, err := c.read(&c.pieces[i], b[done:], off+int64(done))
		if done += n; err != nil {
			return done, err
		}
	}
	if done < len(b) {
		return done, io.EOF
	}
	return done, nil
}

// read fills b from the piece that holds the candidate's byte off.
func (c *Candidate) read(p *piece, b []byte, off int64) (int, error) {
	from := off - p.at
	b = b[:max(0, min(int64(len(b)), p.n-from))]
	if p.bytes != nil {
		return copy(b, p.bytes[from:]), nil
	}
	n, err := c.source.ReadAt(b, p.off+from)
	if err == io.EOF && n == len(b) {
		err = nil
	}
	return n, err
}

// WriteTo streams the candidate.
func (c *Candidate) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(c, 0, c.size))
}
