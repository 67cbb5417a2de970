package memfs

import (
	"fmt"
	"io/fs"
	"slices"
)

// SetOpen makes these the other processes that have a file open, in place of
// those set before. It stays true of the file whatever its name becomes.
func (f *FS) SetOpen(name string, pids ...int) error {
	return f.edit("setopen", name, func(n *node) {
		n.open = slices.Compact(slices.Sorted(slices.Values(pids)))
	})
}

// SetAlive makes these the processes that there are, in place of those set
// before.
func (f *FS) SetAlive(pids ...int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alive = map[int]bool{}
	for _, pid := range pids {
		f.alive[pid] = true
	}
}

// OpenBy is what SetOpen said of the file.
func (f *FS) OpenBy(name string) (pids []int, err error) {
	err = f.edit("openby", name, func(n *node) { pids = slices.Clone(n.open) })
	return pids, err
}

// Alive is what SetAlive said of the process.
func (f *FS) Alive(pid int) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive[pid], nil
}

// Started tells processes apart by their number: none is ever used again.
func (f *FS) Started(pid int) (string, error) {
	if alive, _ := f.Alive(pid); !alive {
		return "", pathError("started", fmt.Sprint("process ", pid), fs.ErrNotExist)
	}
	return fmt.Sprint("memfs:", pid), nil
}
