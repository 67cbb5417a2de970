package overlay

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/afero"
)

// file is an open file or directory.
type file struct {
	fs     *FS
	node   *node
	below  afero.File // what is read as long as the content is base's
	name   string
	flag   int
	off    int64
	list   []fs.FileInfo // of a directory, what is still to be handed out
	listed bool          // list has been made
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
	return f.do("close", true, func() error {
		f.closed = true
		if f.below != nil {
			return f.below.Close()
		}
		return nil
	})
}

// Stat describes the open file: base may have another of its name by now.
func (f *file) Stat() (i fs.FileInfo, err error) {
	err = f.do("stat", true, func() error {
		if f.below == nil || !f.node.inBase() || f.node.attr != nil {
			i, err = f.fs.info(f.node, filepath.Base(f.name))
			return err
		}
		below, err := f.below.Stat()
		if err == nil {
			i = describe(below, filepath.Base(f.name))
		}
		return err
	})
	return i, err
}

func (f *file) Read(p []byte) (n int, err error) {
	err = f.do("read", reads(f.flag), func() error {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		if n > 0 && err == io.EOF {
			err = nil
		}
		return err
	})
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", reads(f.flag), func() error {
		n, err = f.readAt(p, off)
		return err
	})
	return n, err
}

func (f *file) readAt(p []byte, off int64) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case f.node.isDir():
		return 0, syscall.EISDIR
	case f.node.inBase():
		return f.below.ReadAt(p, off)
	}
	return f.node.content.readAt(p, off)
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.do("write", writes(f.flag), func() error {
		if f.flag&os.O_APPEND != 0 {
			f.off = int64(len(f.node.content.data))
		}
		n, err = f.writeAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", writes(f.flag), func() error {
		if f.flag&os.O_APPEND != 0 || off < 0 {
			return syscall.EINVAL
		}
		n, err = f.writeAt(p, off)
		return err
	})
	return n, err
}

func (f *file) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// writeAt changes content that the open has taken into memory.
func (f *file) writeAt(p []byte, off int64) (int, error) {
	f.node.content.writeAt(p, off)
	return len(p), f.fs.touch(f.node)
}

func (f *file) Seek(off int64, whence int) (at int64, err error) {
	err = f.do("seek", true, func() error {
		switch whence {
		case io.SeekCurrent:
			off += f.off
		case io.SeekEnd:
			size, err := f.size()
			if err != nil {
				return err
			}
			off += size
		}
		if off < 0 {
			return syscall.EINVAL
		}
		f.off, at = off, off
		return nil
	})
	return at, err
}

func (f *file) size() (int64, error) {
	switch {
	case f.node.isDir():
		return 0, nil
	case !f.node.inBase():
		return int64(len(f.node.content.data)), nil
	}
	info, err := f.below.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *file) Truncate(size int64) error {
	return f.do("truncate", true, func() error {
		if size < 0 || !writes(f.flag) { // ftruncate(2) has one word for both
			return syscall.EINVAL
		}
		f.node.content.truncate(size)
		return f.fs.touch(f.node)
	})
}

// Sync has nothing to make durable.
func (f *file) Sync() error {
	return f.do("sync", true, func() error { return nil })
}

// Readdir hands out the entries there were when it was first asked.
func (f *file) Readdir(count int) (list []fs.FileInfo, err error) {
	err = f.do("readdir", true, func() error {
		if !f.node.isDir() {
			return syscall.ENOTDIR
		}
		if !f.listed {
			if f.list, err = f.fs.list(f.node); err != nil {
				return err
			}
			f.listed = true
		}
		if count > 0 && len(f.list) == 0 {
			return io.EOF
		}
		if count <= 0 {
			count = len(f.list)
		}
		count = min(count, len(f.list))
		list, f.list = f.list[:count:count], f.list[count:]
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

// content is the bytes of a file that was made or changed here.
type content struct{ data []byte }

func (c *content) readAt(p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, errors.New("negative offset")
	case off >= int64(len(c.data)):
		return 0, io.EOF
	}
	n := copy(p, c.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// writeAt writes; nothing, at any place, makes no file longer.
func (c *content) writeAt(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	if end := off + int64(len(p)); end > int64(len(c.data)) {
		c.data = append(c.data, make([]byte, end-int64(len(c.data)))...)
	}
	copy(c.data[off:], p)
}

func (c *content) truncate(size int64) {
	if grow := size - int64(len(c.data)); grow > 0 {
		c.data = append(c.data, make([]byte, grow)...)
	}
	c.data = c.data[:size:size]
}
