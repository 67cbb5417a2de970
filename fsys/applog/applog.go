package applog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// Level is how far an append reaches before it returns.
type Level string

// The levels.
const (
	SyncedFile   Level = "file"        // content; the name is left to the filesystem
	SyncedFolder Level = "file+folder" // content, and the file's name
)

// Options of a log.
type Options struct {
	// Owner is told to whoever finds the log locked.
	Owner Owner
	// Complete tells whether bytes that lack only their newline are a line; nil
	// for never.
	Complete func(line []byte) bool
}

// Log is a log open for append, safe for concurrent use.
type Log struct {
	fs   afero.Fs
	name string

	mu   sync.Mutex
	file afero.File
	lock io.Closer
	err  error // what broke the log; sticky
}

// Open opens a log for append, creating it when it is missing, and seals its
// torn tail. A log that another holds is a *[LockedError].
func Open(f afero.Fs, name string, o Options) (*Log, error) {
	lock, err := acquire(f, name, o.Owner)
	if err != nil {
		return nil, err
	}
	file, err := prepare(f, name, o.Complete)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log %s: %w", name, err), release(f, name, lock))
	}
	return &Log{fs: f, name: name, file: file, lock: lock}, nil
}

func prepare(f afero.Fs, name string, complete func([]byte) bool) (afero.File, error) {
	file, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, fsys.FilePerm)
	if err != nil {
		return nil, err
	}
	err = seal(f, name, file, complete)
	if err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	if err == nil {
		err = fsys.SyncDir(f, filepath.Dir(name))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Level is the durability of an append on this filesystem.
func (l *Log) Level() Level {
	if _, ok := fsys.As[fsys.DirSyncer](l.fs); ok {
		return SyncedFolder
	}
	return SyncedFile
}

// Append adds a line, given without its newline, and returns when it is
// durable. After a failed append the log refuses all others: what the disk
// holds is unknown until it is opened again.
func (l *Log) Append(line []byte) error {
	if bytes.ContainsAny(line, "\n\x00") {
		return errors.New("a log line cannot hold a newline or NUL")
	}
	return l.append(line)
}

// AppendLines is Append for several lines, separated by newlines, at the cost of
// one. After a crash before it returned there may be some of them, the first ones;
// a power cut may also leave a line torn in the midst of them, so this is for logs
// whose reader passes over a line that it cannot read.
func (l *Log) AppendLines(lines []byte) error {
	if bytes.IndexByte(lines, 0) >= 0 {
		return errors.New("a log line cannot hold NUL")
	}
	return l.append(lines)
}

func (l *Log) append(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	_, err := l.file.Write(append(bytes.Clone(line), '\n'))
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.err = fmt.Errorf("append to log %s: %w", l.name, err)
	}
	return l.err
}

// Close ends the log and gives its lock up.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Close(), release(l.fs, l.name, l.lock))
	l.file, l.err = nil, fmt.Errorf("append to log %s: %w", l.name, fs.ErrClosed)
	return err
}
