// Package cas stores artifacts under their SHA-256, those of a run in one file:
// its pack. A pack only grows; one [Store] writes it, any number read it at the
// same time. An artifact is stored once.
//
// # Durability
//
// [Store.Put] and [Store.PutFrom] return when an artifact is in the pack,
// [Store.Sync] when everything put before is on the disk, the file's name too.
// What was synced is never lost or changed by a later opening. What was not may
// be missing, torn, or hold zeros after a crash: a reader passes over it without
// an error, and [OpenWriter] keeps it aside in NAME.torn-N and cuts it off. Every
// read checks the digest.
//
// # Format
//
//	{"pack":"precis-artifacts","v":1}
//	{"sha256":"<64 hex digits>","bytes":<size>}
//	{"stored":<size>,"codec":"zstd"|"none"}
//	<that many bytes>
//	...
//
// After the header come frames, one for each artifact: a line that names it and
// a chunk for every MiB of it, the last one of what is left. A chunk is a line
// and its bytes, compressed on their own where that makes them smaller, and a
// newline. The lines are JSON in exactly this form. Chunks let an artifact of
// any size be written without going back and read in little memory; the same
// artifacts put in the same order give the same pack.
package cas

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/memfs"
)

// ErrCorrupt reports bytes that are not those of their digest.
var ErrCorrupt = errors.New("the bytes do not match their digest")

// VersionError is a pack in a format that this program does not know.
type VersionError struct {
	File    string
	Byte    int64 // of the version, from 0
	Version int64
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: byte %d: pack version %d; this program knows %d", e.File, e.Byte, e.Version, version)
}

// Store is an open pack, safe for concurrent use.
type Store struct {
	fs     afero.Fs
	name   string
	writer bool

	appending sync.Mutex // held while a frame is written; taken before mu

	mu     sync.Mutex // guards all below
	file   afero.File // nil while there is none
	index  map[digest]place
	end    int64 // of the last frame in the index; 0 before the header
	err    error // why nothing can be put; sticky
	closed bool

	syncing sync.Mutex // held during a sync; guards all below
	synced  int64      // how far the file is durable; 0 also for its name
	syncErr error      // sticky: what a failed sync dropped, the next would not report
}

// digest is a SHA-256.
type digest [sha256.Size]byte

// place is where the frame of an artifact begins, and the artifact's size.
type place struct{ at, bytes int64 }

// Open opens a pack for reading, also one that is being written: what is added
// later is found too. A missing pack is an empty one. One of an unknown version
// is a *[VersionError].
func Open(f afero.Fs, name string) (*Store, error) {
	s := &Store{fs: f, name: name, index: map[digest]place{}, err: errors.New("the pack is open for reading")}
	if err := s.attach(); err != nil {
		return nil, errors.Join(fmt.Errorf("open artifacts: %w", err), s.Close())
	}
	return s, nil
}

// Memory is an empty store in memory, open for reading and writing.
func Memory() *Store {
	f := memfs.New(func() time.Time { return time.Time{} })
	return &Store{fs: f, name: "/artifacts.pack", writer: true, index: map[digest]place{}}
}

// Has tells whether an artifact is in the pack; its bytes are not looked at.
func (s *Store) Has(a step.Artifact) bool {
	h, err := parse(a)
	if err != nil {
		return false
	}
	p, _, err := s.find(h.sum)
	return err == nil && p.bytes == h.bytes
}

// Close closes the pack, without a sync.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed, s.err = true, fs.ErrClosed
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// head names an artifact: the first line of its frame.
type head struct {
	sum   digest
	bytes int64
}

// parse is the head of an artifact's frame. It refuses what no frame can have.
func parse(a step.Artifact) (h head, err error) {
	h.bytes = a.Bytes
	l := cursor{[]byte(a.SHA256)}
	if !l.digest(&h.sum) || len(l.rest) > 0 || a.Bytes < 0 {
		return head{}, fmt.Errorf("%q with %d bytes is no artifact", a.SHA256, a.Bytes)
	}
	return h, nil
}

func (h head) artifact() step.Artifact {
	return step.Artifact{SHA256: hex.EncodeToString(h.sum[:]), Bytes: h.bytes}
}
