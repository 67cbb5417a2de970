package memfs

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
)

// CrashClone is the disk as a machine would find it that lost power now. Seed 0
// loses everything that was not synced. Any other seed keeps a part of it: each
// change of a directory by a coin's fall, and of a file's content some blocks,
// the rest of a longer file reading as zeros. Locks and processes are gone. The
// filesystem itself goes on undisturbed.
func (f *FS) CrashClone(seed uint64) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &crash{seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), clones: map[*node]*node{}}
	return &FS{now: f.now, root: c.clone(f.root)}
}

type crash struct {
	seed   uint64
	rng    *rand.Rand
	clones map[*node]*node // hard links stay one file
}

// keeps tells whether something that was not synced survives.
func (c *crash) keeps() bool { return c.seed != 0 && c.rng.IntN(2) == 0 }

func (c *crash) clone(n *node) *node {
	if n2, ok := c.clones[n]; ok {
		return n2
	}
	n2 := &node{mode: n.mode, mtime: n.mtime, uid: n.uid, gid: n.gid}
	c.clones[n] = n2
	if n.isDir() {
		n2.entries = c.entries(n.entries)
	} else {
		n2.data = c.content(n.content)
	}
	n2.sync()
	return n2
}

func (c *crash) entries(e *entries) *entries {
	survive := maps.Clone(e.durable)
	for _, change := range e.pending {
		if c.keeps() {
			apply(survive, change)
		}
	}
	names := map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(survive)) {
		names[name] = c.clone(survive[name])
	}
	return &entries{names: names}
}

// block is the unit in which content survives; small, so that small files tear.
const block = 64

func (c *crash) content(f content) []byte {
	size := len(f.synced)
	if c.keeps() {
		size = len(f.data)
	} else if tail := len(f.data) - size; tail > 0 && c.seed != 0 {
		size += c.rng.IntN(tail + 1)
	}
	out := make([]byte, size)
	copy(out, f.synced)
	if bytes.Equal(f.data, f.synced) {
		return out
	}
	for at := 0; at < size && at < len(f.data); at += block {
		if c.keeps() {
			copy(out[at:min(at+block, size)], f.data[at:])
		}
	}
	return out
}
