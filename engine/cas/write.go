package cas

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// Put stores bytes. They are in the pack when it returns, and durable after the
// next [Store.Sync]. After a failed append the store refuses all others: what the
// disk holds is unknown until it is opened again.
func (s *Store) Put(data []byte) (step.Artifact, error) {
	h := head{sha256.Sum256(data), int64(len(data))}
	if err := s.put(h, data); err != nil {
		return step.Artifact{}, fmt.Errorf("store artifact %x: %w", h.sum, err)
	}
	return h.artifact(), nil
}

func (s *Store) put(h head, data []byte) error {
	if s.holds(h) {
		return nil
	}
	buf := buffers.Get().(*[]byte)
	defer giveBack(buf)
	*buf = appendFrame((*buf)[:0], h, data)
	return s.append(h, func(at int64) (int64, error) {
		return at + int64(len(*buf)), s.write(*buf, at)
	})
}

// PutFrom is Put for bytes of a known digest, in little memory however many they
// are. Others are [ErrCorrupt], and not stored. Where the artifact is in the pack
// already, nothing is read. Other puts wait until it returns.
func (s *Store) PutFrom(r io.Reader, want step.Artifact) error {
	h, err := parse(want)
	if err != nil {
		return err
	}
	err = s.append(h, func(at int64) (int64, error) { return s.copy(r, h, at) })
	if err != nil {
		return fmt.Errorf("store artifact %s: %w", want.SHA256, err)
	}
	return nil
}

// copy writes a frame as its bytes come. The last chunk, which makes the frame
// whole, waits until they are known to be right: no reader sees others.
func (s *Store) copy(r io.Reader, h head, at int64) (end int64, err error) {
	sum, raw := sha256.New(), make([]byte, min(h.bytes, chunkSize))
	r = io.TeeReader(r, sum)
	out := appendHead(nil, h)
	for left := h.bytes; left > 0; left -= int64(len(raw)) {
		raw = raw[:min(left, chunkSize)]
		if err := readFull(r, raw); err != nil {
			return 0, err
		}
		if err := s.write(out, at); err != nil {
			return 0, err
		}
		at += int64(len(out))
		out = appendChunk(out[:0], raw)
	}
	if err := atEnd(r, sum, h); err != nil {
		return 0, err
	}
	return at + int64(len(out)), s.write(out, at)
}

func readFull(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrCorrupt
	}
	return err
}

// atEnd tells whether what was read is the artifact and nothing follows it.
func atEnd(r io.Reader, sum hash.Hash, h head) error {
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case err == nil, err == io.EOF && !bytes.Equal(sum.Sum(nil), h.sum[:]):
		return ErrCorrupt
	case err != io.EOF:
		return err
	}
	return nil
}

// append adds a frame, which write puts at the end of the pack, unless it has
// come into it by now.
func (s *Store) append(h head, write func(at int64) (end int64, err error)) error {
	s.appending.Lock()
	defer s.appending.Unlock()
	if s.holds(h) {
		return nil
	}
	at, err := s.begin()
	if err != nil {
		return err
	}
	end, err := write(at)
	if err != nil {
		return errors.Join(err, s.takeBack(at))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(frame{h, at, end})
	return nil
}

// holds tells whether a put has nothing to do.
func (s *Store) holds(h head) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.index[h.sum]
	return ok && s.writer && p.bytes == h.bytes
}

// begin makes the file and its header where they are missing, and gives the
// place of the next frame.
func (s *Store) begin() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.file == nil {
		s.file, s.err = fsys.CreateNew(s.fs, s.name)
	}
	if s.err == nil && s.end == 0 {
		_, s.err = s.file.WriteAt([]byte(header), 0)
		s.end = int64(len(header))
	}
	return s.end, s.err
}

// write is part of an append.
func (s *Store) write(p []byte, at int64) error {
	_, err := s.file.WriteAt(p, at)
	if err != nil {
		s.fail(err)
	}
	return err
}

func (s *Store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// takeBack cuts off a frame whose source was not what it should be. After a
// failed append the next [OpenWriter] does it.
func (s *Store) takeBack(at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.file.Truncate(at)
		return s.err
	}
	return nil
}

// Sync makes everything durable that was put before the call: the content, and
// the first time the file's name. Concurrent calls share one sync of the file.
// After a failed one all fail, and so do puts.
func (s *Store) Sync() error {
	target := s.written()
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if s.syncErr != nil || s.synced >= target {
		return s.syncErr
	}
	end := s.written() // also what came while another call synced
	if err := s.flush(); err != nil {
		s.syncErr = fmt.Errorf("sync artifacts: %w", err)
		s.fail(s.syncErr)
		return s.syncErr
	}
	s.synced = end
	return nil
}

// written is how much of the file this store answers for.
func (s *Store) written() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.writer {
		return 0
	}
	return s.end
}

func (s *Store) flush() error {
	if err := s.file.Sync(); err != nil {
		return err
	}
	if s.synced > 0 {
		return nil
	}
	return fsys.SyncDir(s.fs, filepath.Dir(s.name))
}
