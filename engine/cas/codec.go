package cas

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Encoders and decoders are large and slow to make, so they are kept.
var (
	encoders = sync.Pool{New: func() any { return newEncoder() }}
	decoders = sync.Pool{New: func() any { return newDecoder() }}
	buffers  = sync.Pool{New: func() any { return new([]byte) }}
)

// encoder compresses one chunk at a time; out is the last one.
type encoder struct {
	zstd *zstd.Encoder
	out  []byte
}

func newEncoder() *encoder {
	// On transcripts the default level takes half as long again for 4 % less.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(chunkSize), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // an option out of its range
	}
	return &encoder{zstd: z}
}

// pack compresses; the result is good until the next call.
func (e *encoder) pack(raw []byte) []byte {
	e.out = e.zstd.EncodeAll(raw, e.out[:0])
	return e.out
}

func newDecoder() *zstd.Decoder {
	// With its limit a decoder never writes more than it was given room for.
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(chunkSize))
	if err != nil {
		panic(err) // an option out of its range
	}
	return z
}

// unpack appends the size bytes that a chunk holds.
func (c chunk) unpack(dst, stored []byte, size int64) ([]byte, error) {
	if !c.packed {
		return append(dst, stored...), nil
	}
	d := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(d)
	dst = slices.Grow(dst, int(size))
	out, err := d.DecodeAll(stored, dst[len(dst):len(dst):len(dst)+int(size)])
	if err != nil || int64(len(out)) != size {
		return dst, ErrCorrupt
	}
	return append(dst, out...), nil // in place
}

// giveBack keeps a buffer for others, unless a large artifact made it large.
func giveBack(buf *[]byte) {
	if cap(*buf) <= 2*chunkSize {
		buffers.Put(buf)
	}
}
