package overlay

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Op is what a real run would have done to a path.
type Op string

// The operations. What became of another kind, a file where a folder was, is
// removed and made.
const (
	Create  Op = "create"
	Replace Op = "replace"
	Remove  Op = "remove"
	Mkdir   Op = "mkdir"
)

// Change is one difference between the overlay and base.
type Change struct {
	Op     Op
	Path   string // without symbolic links
	Bytes  int64  // of what is there now; of a symbolic link or folder 0
	SHA256 string // of what is there now, hexadecimal; empty but for files
}

// Changes is what a real run would have changed, by path: everything that
// appeared or went, each file of a tree by itself, and every file with other
// content than base has under that name. A change of mode, time or owner is not
// listed, nor what was changed and put back. Base is read, as is what was
// renamed in it; what cannot be read is the error.
func (f *FS) Changes() ([]Change, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := differ{fs: f}
	for _, volume := range slices.Sorted(maps.Keys(f.roots)) {
		root := f.roots[volume]
		if err := d.entry(root.base, root); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return d.changes, nil
}

type differ struct {
	fs      *FS
	changes []Change
}

// entry compares what base has at a path with what is there now, nil for
// nothing.
func (d *differ) entry(path string, now *node) error {
	if now != nil && now.base == path && now.content == nil {
		return d.known(path, now)
	}
	was, err := d.fs.load(path)
	switch {
	case err != nil:
		return err
	case was == nil || now == nil || was.kind != now.kind:
		return errors.Join(d.tree(Remove, path, was), d.tree(Create, path, now))
	case now.isDir():
		return d.folders(path, was, now)
	}
	return d.files(path, was, now)
}

// known looks into a folder of base that is where it was. Names not looked at
// yet are as they were.
func (d *differ) known(path string, dir *node) error {
	for _, name := range slices.Sorted(maps.Keys(dir.names)) {
		if err := d.entry(filepath.Join(path, name), dir.names[name]); err != nil {
			return err
		}
	}
	return nil
}

// folders compares a folder with another one that took its place.
func (d *differ) folders(path string, was, now *node) error {
	names := map[string]bool{}
	for _, dir := range []*node{was, now} {
		list, err := d.fs.list(dir)
		if err != nil {
			return err
		}
		for _, i := range list {
			names[i.Name()] = true
		}
	}
	for name := range names {
		n, err := d.fs.child(now, name)
		if err == nil {
			err = d.entry(filepath.Join(path, name), n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// files compares two files or two symbolic links.
func (d *differ) files(path string, was, now *node) error {
	if was.kind != 0 {
		if was.target != now.target {
			d.changes = append(d.changes, Change{Op: Replace, Path: path})
		}
		return nil
	}
	before, err := d.file(Replace, path, was)
	if err != nil {
		return err
	}
	after, err := d.file(Replace, path, now)
	if err == nil && after != before {
		d.changes = append(d.changes, after)
	}
	return err
}

// tree lists everything from a node down as made or gone.
func (d *differ) tree(op Op, path string, n *node) error {
	switch {
	case n == nil:
		return nil
	case n.isDir():
		return d.folder(op, path, n)
	}
	c := Change{Op: op, Path: path}
	var err error
	if op == Create && n.kind == 0 {
		c, err = d.file(op, path, n)
	}
	d.changes = append(d.changes, c)
	return err
}

func (d *differ) folder(op Op, path string, dir *node) error {
	own := op
	if op == Create {
		own = Mkdir
	}
	d.changes = append(d.changes, Change{Op: own, Path: path})
	list, err := d.fs.list(dir)
	if err != nil {
		return err
	}
	for _, i := range list {
		n, err := d.fs.child(dir, i.Name())
		if err == nil {
			err = d.tree(op, filepath.Join(path, i.Name()), n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file is a change that leaves a file with this content.
func (d *differ) file(op Op, path string, n *node) (Change, error) {
	h := sha256.New()
	size, err := d.fs.copyTo(h, n)
	return Change{Op: op, Path: path, Bytes: size, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// copyTo writes out the content of a file.
func (f *FS) copyTo(w io.Writer, n *node) (int64, error) {
	if !n.inBase() {
		size, err := w.Write(n.content.data)
		return int64(size), err
	}
	r, err := f.base.Open(n.base)
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(w, r)
	return size, errors.Join(err, r.Close())
}
