package memfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"syscall"
)

// file is an open file or directory.
type file struct {
	fs     *FS
	node   *node
	name   string
	flag   int
	off    int64
	names  []string // of a directory, what is still to be handed out
	listed bool     // names has been set
	closed bool
}

// do runs one operation under the filesystem's lock.
func (f *file) do(op string, allowed bool, run func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return pathError(op, f.name, fs.ErrClosed)
	}
	if !allowed {
		return pathError(op, f.name, syscall.EBADF)
	}
	err := run()
	if err == io.EOF {
		return err
	}
	return pathError(op, f.name, err)
}

func (f *file) Name() string { return f.name }

func (f *file) Close() error {
	return f.do("close", true, func() error { f.closed = true; return nil })
}

func (f *file) Stat() (i fs.FileInfo, err error) {
	err = f.do("stat", true, func() error { i = f.node.info(path.Base(clean(f.name))); return nil })
	return i, err
}

func (f *file) Read(p []byte) (n int, err error) {
	err = f.do("read", reads(f.flag), func() error {
		n, err = f.node.readAt(p, f.off)
		f.off += int64(n)
		if n > 0 {
			err = nil
		}
		return err
	})
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", reads(f.flag), func() error {
		n, err = f.node.readAt(p, off)
		return err
	})
	return n, err
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.do("write", writes(f.flag), func() error {
		if f.flag&os.O_APPEND != 0 {
			f.off = int64(len(f.node.data))
		}
		f.write(p, f.off)
		f.off += int64(len(p))
		n = len(p)
		return nil
	})
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", writes(f.flag), func() error {
		if f.flag&os.O_APPEND != 0 || off < 0 {
			return syscall.EINVAL
		}
		f.write(p, off)
		n = len(p)
		return nil
	})
	return n, err
}

func (f *file) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *file) write(p []byte, off int64) {
	f.node.writeAt(p, off)
	f.node.mtime = f.fs.now()
}

func (f *file) Seek(off int64, whence int) (at int64, err error) {
	err = f.do("seek", true, func() error {
		switch whence {
		case io.SeekCurrent:
			off += f.off
		case io.SeekEnd:
			off += int64(len(f.node.data))
		}
		if off < 0 {
			return syscall.EINVAL
		}
		f.off, at = off, off
		return nil
	})
	return at, err
}

func (f *file) Truncate(size int64) error {
	return f.do("truncate", true, func() error {
		if size < 0 || !writes(f.flag) { // ftruncate(2) has one word for both
			return syscall.EINVAL
		}
		f.node.truncate(size)
		f.node.mtime = f.fs.now()
		return nil
	})
}

// Sync makes a file's content durable, or a directory's entries.
func (f *file) Sync() error {
	return f.do("sync", true, func() error { f.node.sync(); return nil })
}

// Readdir hands out the entries there were when it was first asked, without
// those that have gone since.
func (f *file) Readdir(count int) (list []fs.FileInfo, err error) {
	err = f.do("readdir", true, func() error {
		if !f.node.isDir() {
			return syscall.ENOTDIR
		}
		if !f.listed {
			f.names, f.listed = slices.Sorted(maps.Keys(f.node.names)), true
		}
		for len(f.names) > 0 && (count <= 0 || len(list) < count) {
			if n := f.node.names[f.names[0]]; n != nil {
				list = append(list, n.info(f.names[0]))
			}
			f.names = f.names[1:]
		}
		if count > 0 && len(list) == 0 {
			return io.EOF
		}
		return nil
	})
	return list, err
}

func (f *file) Readdirnames(count int) ([]string, error) {
	list, err := f.Readdir(count)
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names, err
}

func (n *node) readAt(p []byte, off int64) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case n.isDir():
		return 0, syscall.EISDIR
	case off < 0:
		return 0, errors.New("negative offset")
	case off >= int64(len(n.data)):
		return 0, io.EOF
	}
	c := copy(p, n.data[off:])
	if c < len(p) {
		return c, io.EOF
	}
	return c, nil
}

// own unshares the content from its synced state before it is overwritten.
// Bytes behind the synced ones are appended to the shared memory instead, so
// that a log of many appends is not copied at each.
func (c *content) own() {
	if c.shared {
		c.data, c.shared = bytes.Clone(c.data), false
	}
}

// writeAt writes; nothing, at any place, makes no file longer.
func (c *content) writeAt(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	if off < int64(len(c.synced)) {
		c.own()
	}
	if end := off + int64(len(p)); end > int64(len(c.data)) {
		c.data = append(c.data, make([]byte, end-int64(len(c.data)))...)
	}
	copy(c.data[off:], p)
}

func (c *content) truncate(size int64) {
	c.own()
	if grow := size - int64(len(c.data)); grow > 0 {
		c.data = append(c.data, make([]byte, grow)...)
	}
	c.data = c.data[:size:size]
}

func (n *node) sync() {
	if n.isDir() {
		n.durable, n.pending = maps.Clone(n.names), nil
		return
	}
	n.synced, n.shared = n.data[:len(n.data):len(n.data)], true
}
