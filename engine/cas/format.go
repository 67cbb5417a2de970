package cas

import (
	"bytes"
	"encoding/hex"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/afero"
)

const (
	version = 1
	// versionAt begins the header of every version.
	versionAt = `{"pack":"precis-artifacts","v":`
	header    = versionAt + "1}\n"

	// chunkSize bounds the memory that an artifact of any size takes, and what a
	// damaged line can ask for.
	chunkSize = 1 << 20
	// maxLines is longer than the longest first two lines of a frame.
	maxLines = 160

	zstdEnd = `,"codec":"zstd"}` + "\n"
	noneEnd = `,"codec":"none"}` + "\n"
)

// appendFrame appends the frame of an artifact.
func appendFrame(dst []byte, h head, data []byte) []byte {
	dst = appendHead(dst, h)
	for raw := range slices.Chunk(data, chunkSize) {
		dst = appendChunk(dst, raw)
	}
	return dst
}

func appendHead(dst []byte, h head) []byte {
	dst = append(dst, `{"sha256":"`...)
	dst = hex.AppendEncode(dst, h.sum[:])
	dst = append(dst, `","bytes":`...)
	dst = strconv.AppendInt(dst, h.bytes, 10)
	return append(dst, "}\n"...)
}

// parseHead reads the first line of a frame.
func parseHead(p []byte) (h head, rest []byte, ok bool) {
	l := cursor{p}
	ok = l.text(`{"sha256":"`) && l.digest(&h.sum) && l.text(`","bytes":`) && l.number(&h.bytes) && l.text("}\n")
	return h, l.rest, ok
}

// chunk is the line before a chunk's bytes.
type chunk struct {
	stored int64
	packed bool
}

// appendChunk appends a chunk of an artifact.
func appendChunk(dst, raw []byte) []byte {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	stored, end := e.pack(raw), zstdEnd
	if len(stored) >= len(raw) {
		stored, end = raw, noneEnd
	}
	dst = append(dst, `{"stored":`...)
	dst = strconv.AppendInt(dst, int64(len(stored)), 10)
	dst = append(dst, end...)
	dst = append(dst, stored...)
	return append(dst, '\n')
}

// parseChunk reads the line of a chunk that holds size bytes of its artifact.
func parseChunk(p []byte, size int64) (c chunk, rest []byte, ok bool) {
	l := cursor{p}
	if !l.text(`{"stored":`) || !l.number(&c.stored) {
		return chunk{}, nil, false
	}
	c.packed = l.text(zstdEnd)
	if c.packed {
		return c, l.rest, 0 < c.stored && c.stored < size
	}
	return c, l.rest, l.text(noneEnd) && c.stored == size
}

// readHeader gives the end of the header; 0 where it is missing or torn.
func readHeader(file afero.File) (int64, error) {
	buf := make([]byte, maxLines)
	n, err := file.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	l := cursor{buf[:n]}
	var v int64
	switch {
	case l.text(header):
		return int64(len(header)), nil
	// The last digit may be missing at the end of the file.
	case l.text(versionAt) && l.number(&v) && v != version && len(l.rest) > 0:
		return 0, &VersionError{File: file.Name(), Byte: int64(len(versionAt)), Version: v}
	}
	return 0, nil
}

// cursor takes apart a line that was written here: anything else, however good
// as JSON, is damage.
type cursor struct{ rest []byte }

func (l *cursor) text(want string) bool {
	if len(l.rest) < len(want) || string(l.rest[:len(want)]) != want {
		return false
	}
	l.rest = l.rest[len(want):]
	return true
}

func (l *cursor) digest(sum *digest) bool {
	var again [2 * len(sum)]byte
	if len(l.rest) < len(again) {
		return false
	}
	text := l.rest[:len(again)]
	if _, err := hex.Decode(sum[:], text); err != nil {
		return false
	}
	l.rest = l.rest[len(again):]
	hex.Encode(again[:], sum[:])
	return bytes.Equal(again[:], text) // Decode takes capital letters too
}

func (l *cursor) number(n *int64) bool {
	const maxDigits = 18 // fit an int64
	digits := 0
	for digits < len(l.rest) && l.rest[digits] >= '0' && l.rest[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > maxDigits || digits > 1 && l.rest[0] == '0' {
		return false
	}
	for _, c := range l.rest[:digits] {
		*n = *n*10 + int64(c-'0')
	}
	l.rest = l.rest[digits:]
	return true
}
