package faultfs

import (
	"errors"
	"io/fs"

	"github.com/spf13/afero"
)

// file carries the plan into an open file.
type file struct {
	afero.File
	fs     *FS
	writes bool
}

func (h *file) op(k Kind) error { return h.fs.op(k, h.Name(), "") }

func (h *file) Read(p []byte) (int, error) {
	if err := h.op(Read); err != nil {
		return 0, err
	}
	return h.File.Read(p)
}

func (h *file) ReadAt(p []byte, off int64) (int, error) {
	if err := h.op(Read); err != nil {
		return 0, err
	}
	return h.File.ReadAt(p, off)
}

func (h *file) Stat() (fs.FileInfo, error) {
	if err := h.op(Stat); err != nil {
		return nil, err
	}
	return h.File.Stat()
}

func (h *file) Readdir(count int) ([]fs.FileInfo, error) {
	if err := h.op(List); err != nil {
		return nil, err
	}
	return h.File.Readdir(count)
}

func (h *file) Readdirnames(count int) ([]string, error) {
	if err := h.op(List); err != nil {
		return nil, err
	}
	return h.File.Readdirnames(count)
}

func (h *file) Write(p []byte) (int, error) {
	return h.write(p, h.File.Write)
}

func (h *file) WriteString(s string) (int, error) { return h.Write([]byte(s)) }

func (h *file) WriteAt(p []byte, off int64) (int, error) {
	return h.write(p, func(p []byte) (int, error) { return h.File.WriteAt(p, off) })
}

// write fails before the first byte, or halfway with a short plan. Writes of a
// world that stopped earlier leave nothing.
func (h *file) write(p []byte, write func([]byte) (int, error)) (int, error) {
	dead := h.fs.dead()
	err := h.op(Write)
	if err == nil {
		return write(p)
	}
	if !h.fs.plan.Short || dead {
		return 0, err
	}
	n, short := write(p[:len(p)/2])
	return n, errors.Join(err, short)
}

func (f *FS) dead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped
}

func (h *file) Truncate(size int64) error {
	if err := h.op(Truncate); err != nil {
		return err
	}
	return h.File.Truncate(size)
}

func (h *file) Sync() error {
	if err := h.op(Sync); err != nil {
		return err
	}
	return h.File.Sync()
}

// Close always closes below: a failed close releases the file all the same.
func (h *file) Close() error {
	if !h.writes {
		return h.File.Close()
	}
	err := h.op(Close)
	return errors.Join(err, h.File.Close())
}
