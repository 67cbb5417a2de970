// Package fstest is the behaviour every writable filesystem of precis owes its
// callers, as a suite that the disk, the memory filesystem and the overlay all run: what
// holds in a test of a transaction must hold where it matters. [Same] compares two
// of them in operations that nobody thought of.
package fstest

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
)

// Test runs the suite; make gives a filesystem and an empty folder on it.
func Test(t *testing.T, make func(t *testing.T) (afero.Fs, string)) {
	for name, test := range map[string]func(c){
		"missing parent":    missingParent,
		"exclusive create":  exclusiveCreate,
		"create flags":      createFlags,
		"handle positions":  handlePositions,
		"nothing":           nothing,
		"one content":       oneContent,
		"outlives its name": outlivesItsName,
		"rename":            rename,
		"rename folders":    renameFolders,
		"remove":            remove,
		"listing":           listing,
		"emptying":          emptying,
		"permissions":       permissions,
		"times":             times,
		"owner":             owner,
		"hard link":         hardLink,
		"exchange":          exchange,
		"lock":              lock,
		"folder sync":       folderSync,
		"resolve":           resolve,
		"write file":        writeFile,
		"case":              caseSensitive,
	} {
		t.Run(name, func(t *testing.T) {
			f, dir := make(t)
			test(c{t, f, dir})
		})
	}
}

type c struct {
	*testing.T
	fs  afero.Fs
	dir string
}

func (c c) at(name string) string { return filepath.Join(c.dir, name) }

func (c c) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c c) is(err, want error) {
	c.Helper()
	if !errors.Is(err, want) {
		c.Fatalf("error %v, want %v", err, want)
	}
}

func (c c) write(name, data string) {
	c.Helper()
	c.ok(afero.WriteFile(c.fs, c.at(name), []byte(data), fsys.FilePerm))
}

func (c c) holds(name, want string) {
	c.Helper()
	got, err := afero.ReadFile(c.fs, c.at(name))
	c.ok(err)
	if string(got) != want {
		c.Fatalf("%s holds %q, want %q", name, got, want)
	}
}

func missingParent(c c) {
	c.write("file", "")
	_, err := c.fs.Create(c.at("no/file"))
	c.is(err, fs.ErrNotExist)
	c.is(c.fs.Mkdir(c.at("no/dir"), 0o700), fs.ErrNotExist)
	c.is(c.fs.Rename(c.at("file"), c.at("no/file")), fs.ErrNotExist)
	if _, err = c.fs.Create(c.at("file/below")); err == nil {
		c.Fatal("created a file below a file")
	}
}

func exclusiveCreate(c c) {
	results := make(chan error, 8)
	for range cap(results) {
		go func() {
			w, err := fsys.CreateNew(c.fs, c.at("one"))
			if err == nil {
				err = w.Close()
			}
			results <- err
		}()
	}
	won := 0
	for range cap(results) {
		if err := <-results; err == nil {
			won++
		} else if !errors.Is(err, fs.ErrExist) {
			c.Error(err)
		}
	}
	if won != 1 {
		c.Fatalf("%d of %d exclusive creations succeeded", won, cap(results))
	}
}

func rename(c c) {
	c.write("a", "new")
	c.write("b", "old")
	c.ok(c.fs.Rename(c.at("a"), c.at("b")))
	c.holds("b", "new")
	_, err := c.fs.Stat(c.at("a"))
	c.is(err, fs.ErrNotExist)
	c.is(c.fs.Rename(c.at("a"), c.at("b")), fs.ErrNotExist)
}

func renameFolders(c c) {
	c.ok(c.fs.MkdirAll(c.at("d/e"), 0o700))
	c.ok(c.fs.Mkdir(c.at("empty"), 0o700))
	c.write("f", "x")
	for _, pair := range [][2]string{{"d", "d/e/d"}, {"d", "f"}, {"f", "d"}, {"empty", "d"}, {"d", "empty"}, {"d", "d"}, {"d", "d/e"}} {
		if c.fs.Rename(c.at(pair[0]), c.at(pair[1])) == nil {
			c.Fatalf("renamed %s to %s", pair[0], pair[1])
		}
	}
	c.ok(c.fs.Rename(c.at("d"), c.at("new")))
	_, err := c.fs.Stat(c.at("new/e"))
	c.ok(err)
}

func remove(c c) {
	c.ok(c.fs.MkdirAll(c.at("d/e"), 0o700))
	if c.fs.Remove(c.at("d")) == nil {
		c.Fatal("removed a folder that is not empty")
	}
	c.ok(c.fs.RemoveAll(c.at("d")))
	c.ok(c.fs.RemoveAll(c.at("d")))
	c.is(c.fs.Remove(c.at("d")), fs.ErrNotExist)
}

func listing(c c) {
	for _, name := range []string{"b", "a", "c"} {
		c.write(name, name)
	}
	d, err := c.fs.Open(c.dir)
	c.ok(err)
	var names []string
	for {
		some, err := d.Readdirnames(2)
		names = append(names, some...)
		if err == io.EOF {
			break
		}
		c.ok(err)
	}
	c.ok(d.Close())
	slices.Sort(names)
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		c.Fatalf("listed %q", names)
	}
}

// emptying removes what a listing gives, batch by batch, before the next.
func emptying(c c) {
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		c.write(name, "")
	}
	d, err := c.fs.Open(c.dir)
	c.ok(err)
	for {
		names, err := d.Readdirnames(2)
		if err == io.EOF {
			break
		}
		c.ok(err)
		for _, name := range names {
			c.ok(c.fs.Remove(c.at(name)))
		}
	}
	c.ok(d.Close())
	list, err := afero.ReadDir(c.fs, c.dir)
	c.ok(err)
	if len(list) != 0 {
		c.Fatalf("%d files were not listed", len(list))
	}
}

func permissions(c c) {
	c.ok(fsys.MkdirAll(c.fs, c.at("d/e")))
	c.ok(fsys.WriteNew(c.fs, c.at("d/e/f"), nil))
	for name, want := range map[string]fs.FileMode{
		"d": fsys.DirPerm | fs.ModeDir, "d/e": fsys.DirPerm | fs.ModeDir, "d/e/f": fsys.FilePerm,
	} {
		info, err := fsys.Lstat(c.fs, c.at(name))
		c.ok(err)
		if info.Mode() != want {
			c.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
	c.ok(c.fs.Chmod(c.at("d/e/f"), 0o640))
	info, err := c.fs.Stat(c.at("d/e/f"))
	c.ok(err)
	if info.Mode() != 0o640 {
		c.Fatalf("mode %v", info.Mode())
	}
}

func times(c c) {
	when := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	c.write("a", "")
	c.ok(c.fs.Chtimes(c.at("a"), when, when))
	info, err := c.fs.Stat(c.at("a"))
	c.ok(err)
	if !info.ModTime().Equal(when) {
		c.Fatalf("modified %v", info.ModTime())
	}
}

func owner(c c) {
	o, ok := fsys.As[fsys.Owner](c.fs)
	if !ok {
		c.Skip("no owners")
	}
	c.write("a", "")
	uid, gid, err := o.IDs(c.at("a"))
	if errors.Is(err, errors.ErrUnsupported) {
		c.Skip(err)
	}
	c.ok(err)
	c.ok(c.fs.Chown(c.at("a"), -1, -1))
	uid2, gid2, err := o.IDs(c.at("a"))
	c.ok(err)
	if uid2 != uid || gid2 != gid {
		c.Fatalf("%d:%d became %d:%d", uid, gid, uid2, gid2)
	}
	if own, err := o.Owned(c.at("a")); !own || err != nil {
		c.Fatalf("the file just made is another's: %v", err)
	}
	_, err = o.Owned(c.at("none"))
	c.is(err, fs.ErrNotExist)
}

func hardLink(c c) {
	linker, ok := fsys.As[fsys.Linker](c.fs)
	same, ok2 := fsys.As[fsys.Identity](c.fs)
	if !ok || !ok2 {
		c.Skip("no links")
	}
	c.write("a", "1")
	c.write("b", "1")
	c.is(linker.Link(c.at("a"), c.at("b")), fs.ErrExist)
	c.ok(linker.Link(c.at("a"), c.at("l")))
	c.write("l", "2")
	c.holds("a", "2")
	c.ok(c.fs.Remove(c.at("a")))
	c.holds("l", "2")
	c.is(linker.Link(c.at("a"), c.at("x")), fs.ErrNotExist)
	c.ok(linker.Link(c.at("l"), c.at("a")))
	for other, want := range map[string]bool{"a": true, "b": false} {
		if got, err := same.SameFile(c.at("l"), c.at(other)); err != nil || got != want {
			c.Errorf("l and %s: same %v, %v", other, got, err)
		}
	}
}

func exchange(c c) {
	x, ok := fsys.As[fsys.Exchanger](c.fs)
	if !ok {
		c.Skip("no exchange")
	}
	c.write("a", "1")
	c.write("b", "2")
	if err := x.Exchange(c.at("a"), c.at("b")); errors.Is(err, errors.ErrUnsupported) {
		c.Skip(err)
	} else {
		c.ok(err)
	}
	c.holds("a", "2")
	c.holds("b", "1")
	c.is(x.Exchange(c.at("a"), c.at("none")), fs.ErrNotExist)
	c.is(x.Exchange(c.at("none"), c.at("a")), fs.ErrNotExist)
	c.holds("a", "2")
}

func lock(c c) {
	locker, ok := fsys.As[fsys.Locker](c.fs)
	if !ok {
		c.Skip("no locks")
	}
	_, err := locker.Lock(c.at("lock"))
	c.is(err, fs.ErrNotExist)
	c.write("lock", "")
	l, err := locker.Lock(c.at("lock"))
	c.ok(err)
	_, err = locker.Lock(c.at("lock"))
	c.is(err, fsys.ErrLocked)
	c.ok(l.Close())
	l, err = locker.Lock(c.at("lock"))
	c.ok(err)
	c.ok(c.fs.Rename(c.at("lock"), c.at("moved")))
	c.write("lock", "")
	other, err := locker.Lock(c.at("lock"))
	c.ok(err)
	c.ok(errors.Join(l.Close(), other.Close()))
	_, err = fsys.LockFile(c.fs, c.at("no/lock"))
	c.is(err, fs.ErrNotExist)
	for range 2 {
		l, err = fsys.LockFile(c.fs, c.at("new"))
		c.ok(err)
		c.ok(l.Close())
	}
}

func folderSync(c c) {
	c.ok(fsys.SyncDir(c.fs, c.dir))
	c.is(fsys.SyncDir(c.fs, c.at("none")), fs.ErrNotExist)
}

func resolve(c c) {
	c.ok(c.fs.Mkdir(c.at("d"), 0o700))
	plain, err := fsys.Canonical(c.fs, c.at("d/new/file"))
	c.ok(err)
	dotted, err := fsys.Canonical(c.fs, c.at("d/../d/./new/file"))
	c.ok(err)
	if plain != dotted || !filepath.IsAbs(plain) {
		c.Fatalf("%s and %s", plain, dotted)
	}
}

func writeFile(c c) {
	c.write(".a.tmp-t", "left over")
	c.ok(fsys.WriteFile(c.fs, c.at("a"), "t", []byte("one")))
	c.ok(fsys.WriteFile(c.fs, c.at("a"), "t", []byte("two")))
	c.holds("a", "two")
	list, err := afero.ReadDir(c.fs, c.dir)
	c.ok(err)
	if len(list) != 1 {
		c.Fatalf("%d files", len(list))
	}
	c.is(fsys.WriteNew(c.fs, c.at("a"), nil), fs.ErrExist)
	size, sum, err := fsys.Sum(c.fs, c.at("a"))
	c.ok(err)
	// printf two | sha256sum
	const want = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
	if size != 3 || sum != want {
		c.Fatalf("%d bytes, %s", size, sum)
	}
}

func caseSensitive(c c) {
	c.write("a", "")
	_, err := c.fs.Stat(c.at("A"))
	if err == nil {
		c.Skip("this volume folds case")
	}
	c.is(err, fs.ErrNotExist)
}
