package applog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// tail is the state of a log's last line.
type tail int

const (
	whole    tail = iota // ends with its newline, or there is none
	unended              // complete, without its newline
	unwanted             // torn
)

// judge looks at a last line, with its newline if it has one.
func judge(last []byte, complete func([]byte) bool) tail {
	ended := bytes.HasSuffix(last, []byte("\n"))
	switch {
	case len(last) == 0:
		return whole
	case bytes.IndexByte(last, 0) >= 0:
		return unwanted
	case ended:
		return whole
	case complete != nil && complete(last):
		return unended
	}
	return unwanted
}

// seal makes the file end with a whole line, durably.
func seal(f afero.Fs, name string, file afero.File, complete func([]byte) bool) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	start, last, err := lastLine(file, size)
	if err != nil {
		return err
	}
	switch judge(last, complete) {
	case unended:
		_, err = file.WriteAt([]byte("\n"), size)
	case unwanted:
		if err = keepAside(f, name, last); err == nil {
			err = file.Truncate(start)
		}
	}
	if err != nil {
		return err
	}
	// Also where nothing was changed: a line of a process that died before its
	// own sync must not be built upon before it is durable.
	return file.Sync()
}

// lastLine reads the last line backwards, with its newline if it has one.
func lastLine(r io.ReaderAt, size int64) (start int64, last []byte, err error) {
	const chunk = 64 << 10
	for start = size; start > 0; {
		n := min(chunk, start)
		p := make([]byte, n, n+int64(len(last)))
		if _, err := r.ReadAt(p, start-n); err != nil && err != io.EOF {
			return 0, nil, err
		}
		start, last = start-n, append(p, last...)
		// The newline before the last line; the one that ends it does not count.
		if i := bytes.LastIndexByte(last[:len(last)-1], '\n'); i >= 0 {
			return start + int64(i) + 1, last[i+1:], nil
		}
	}
	return 0, last, nil
}

// keepAside saves torn bytes durably under the first free number. Bytes that a
// sealing which died before its cut has saved already are not saved again.
func keepAside(f afero.Fs, name string, torn []byte) error {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.torn-%d", name, n)
		err := fsys.WriteNew(f, aside, torn)
		if err == nil {
			return fsys.SyncDir(f, filepath.Dir(name))
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		there, err := afero.ReadFile(f, aside)
		if err != nil {
			return err
		}
		if bytes.Equal(there, torn) {
			return nil
		}
	}
}
