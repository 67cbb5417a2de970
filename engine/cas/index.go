package cas

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/spf13/afero"
)

// find gives the place of an artifact's frame, and the file.
func (s *Store) find(sum digest) (place, afero.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return place{}, nil, fs.ErrClosed
	}
	p, ok := s.index[sum]
	if !ok && !s.writer { // a writer knows all there is
		if err := s.extend(); err != nil {
			return place{}, nil, err
		}
		p, ok = s.index[sum]
	}
	if !ok {
		return place{}, nil, fmt.Errorf("%s: %w", s.name, fs.ErrNotExist)
	}
	return p, s.file, nil
}

// extend indexes the frames that came since the last time. Of two frames for one
// artifact the later counts: it was written because the first is damaged.
func (s *Store) extend() error {
	if err := s.attach(); err != nil || s.end == 0 {
		return err
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	for f, err := range frames(s.file, s.end, info.Size()) {
		if err != nil {
			return err
		}
		s.add(f)
	}
	return nil
}

// attach opens the file and reads its header, once they are there.
func (s *Store) attach() (err error) {
	if s.file == nil {
		file, err := s.fs.Open(s.name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		s.file = file
	}
	if s.end == 0 {
		s.end, err = readHeader(s.file)
	}
	return err
}

func (s *Store) add(f frame) {
	s.index[f.sum] = place{at: f.at, bytes: f.bytes}
	s.end = f.end
}

// frame is a frame that lies whole within its file.
type frame struct {
	head
	at, end int64
}

// frames walks from one frame to the next by their lines, up to the first that
// is torn or no frame at all.
func frames(r io.ReaderAt, at, size int64) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		lines := liner{r: r, size: size}
		for {
			f, err := lines.frame(at)
			if err == io.EOF || !yield(f, err) || err != nil {
				return
			}
			at = f.end
		}
	}
}

// liner reads the lines between the bytes of the chunks, those of several small
// frames at once.
type liner struct {
	r      io.ReaderAt
	size   int64
	from   int64 // where the window begins
	window []byte
}

// frame finds the end of the frame at an offset; io.EOF where no whole one is.
func (l *liner) frame(at int64) (frame, error) {
	lines, err := l.read(at)
	if err != nil {
		return frame{}, err
	}
	h, rest, ok := parseHead(lines)
	f := frame{head: h, at: at, end: at + int64(len(lines)-len(rest))}
	for left := h.bytes; ok && left > 0; left -= chunkSize {
		if lines = rest; left < h.bytes { // the line of a later chunk
			if lines, err = l.read(f.end); err != nil {
				return frame{}, err
			}
		}
		var c chunk
		c, rest, ok = parseChunk(lines, min(left, chunkSize))
		f.end += int64(len(lines)-len(rest)) + c.stored + int64(len("\n"))
	}
	if !ok || f.end > l.size {
		return frame{}, io.EOF
	}
	return f, nil
}

// read gives what there is at an offset, enough for a frame's first two lines.
func (l *liner) read(at int64) ([]byte, error) {
	const size = 16 << 10
	if i := at - l.from; i <= int64(len(l.window))-maxLines {
		return l.window[i:], nil
	}
	n := max(0, min(size, l.size-at))
	l.from, l.window = at, slices.Grow(l.window[:0], int(n))[:n]
	k, err := l.r.ReadAt(l.window, at)
	if err == io.EOF { // cut since its size was asked for
		err = nil
	}
	l.window = l.window[:k]
	return l.window, err
}
