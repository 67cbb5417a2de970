package fstest

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/precis-dev/precis/fsys"
)

func createFlags(c c) {
	c.write("a", "12345")
	w, err := c.fs.OpenFile(c.at("a"), os.O_WRONLY|os.O_APPEND, 0)
	c.ok(err)
	_, err = w.WriteString("67")
	c.ok(err)
	if _, err = w.Read([]byte{0}); err == nil {
		c.Fatal("read through a handle for writing")
	}
	c.ok(w.Close())
	c.holds("a", "1234567")
	w, err = c.fs.Create(c.at("a"))
	c.ok(err)
	c.ok(w.Close())
	c.holds("a", "")
	if _, err = c.fs.OpenFile(c.dir, os.O_WRONLY, 0); err == nil {
		c.Fatal("opened a folder for writing")
	}
	_, err = c.fs.OpenFile(c.at("none"), os.O_WRONLY, 0)
	c.is(err, fs.ErrNotExist)
}

func handlePositions(c c) {
	w, err := fsys.CreateNew(c.fs, c.at("a"))
	c.ok(err)
	_, err = w.Write([]byte("abcdef"))
	c.ok(err)
	_, err = w.WriteAt([]byte("X"), 1)
	c.ok(err)
	at, err := w.Seek(-2, io.SeekEnd)
	c.ok(err)
	if at != 4 {
		c.Fatalf("seek gave %d", at)
	}
	rest, err := io.ReadAll(w)
	c.ok(err)
	if string(rest) != "ef" {
		c.Fatalf("read %q", rest)
	}
	p := make([]byte, 3)
	if n, err := w.ReadAt(p, 4); n != 2 || err != io.EOF {
		c.Fatalf("ReadAt over the end: %d, %v", n, err)
	}
	c.ok(w.Truncate(2))
	_, err = w.WriteAt([]byte("z"), 4)
	c.ok(err)
	c.ok(w.Sync())
	c.ok(w.Close())
	c.holds("a", "aX\x00\x00z")
	c.is(w.Close(), fs.ErrClosed)
}

// nothing reads and writes no bytes at places where there is something to do
// wrong.
func nothing(c c) {
	w, err := fsys.CreateNew(c.fs, c.at("a"))
	c.ok(err)
	if n, err := w.Read(nil); n != 0 || err != nil {
		c.Fatalf("reading nothing at the end: %d, %v", n, err)
	}
	_, err = w.Seek(5, io.SeekStart)
	c.ok(err)
	_, err = w.Write(nil)
	c.ok(err)
	c.ok(w.Close())
	c.holds("a", "")
}

// oneContent has a file open several times: all see what one does.
func oneContent(c c) {
	c.write("a", "old")
	r, err := c.fs.Open(c.at("a"))
	c.ok(err)
	w, err := c.fs.OpenFile(c.at("a"), os.O_RDWR, 0)
	c.ok(err)
	_, err = w.WriteString("newer")
	c.ok(err)
	got, err := io.ReadAll(r)
	c.ok(err)
	info, err := r.Stat()
	c.ok(err)
	if string(got) != "newer" || info.Size() != 5 {
		c.Fatalf("read %q of %d", got, info.Size())
	}
	c.ok(errors.Join(r.Close(), w.Close()))
}

func outlivesItsName(c c) {
	c.write("a", "kept")
	r, err := c.fs.Open(c.at("a"))
	c.ok(err)
	c.ok(c.fs.Remove(c.at("a")))
	got, err := io.ReadAll(r)
	c.ok(err)
	c.ok(r.Close())
	if string(got) != "kept" {
		c.Fatalf("read %q", got)
	}
}
