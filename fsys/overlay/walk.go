package overlay

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/precis-dev/precis/fsys"
)

// maxLinks bounds a chain of symbolic links, as Linux does (path_resolution(7)).
const maxLinks = 40

// step is a name on the way to a file; its node is nil when there is none.
type step struct {
	name string
	node *node
}

// way leads from a root, which is the first step and has the volume's path for a
// name, through folders to a file. No step but the last can be missing, and none
// but the last is a symbolic link.
type way []step

func (w way) last() step { return w[len(w)-1] }

// dir is the folder that holds the last step, which must not be the root.
func (w way) dir() *node { return w[len(w)-2].node }

func (w way) path() string {
	names := make([]string, len(w))
	for i, s := range w {
		names[i] = s.name
	}
	return filepath.Join(names...)
}

// enters tells whether the way leads through a node.
func (w way) enters(n *node) bool {
	return slices.ContainsFunc(w, func(s step) bool { return s.node == n })
}

// walk goes to a name, whose folder must exist. A symbolic link in the last
// element is followed when follow says so.
func (f *FS) walk(name string, follow bool) (way, error) {
	w, err := f.start(name)
	if err == nil {
		err = w.run(follow)
	}
	if err == nil && len(w.todo) > 0 {
		err = syscall.ENOENT
	}
	return w.done, err
}

// find is walk to what must exist.
func (f *FS) find(name string, follow bool) (*node, error) {
	w, err := f.walk(name, follow)
	if err != nil {
		return nil, err
	}
	if w.last().node == nil {
		return nil, syscall.ENOENT
	}
	return w.last().node, nil
}

// slot is walk to a name that is to be changed in its folder.
func (f *FS) slot(name string) (way, error) {
	w, err := f.walk(name, false)
	switch {
	case err != nil:
		return nil, err
	case len(w) == 1:
		return nil, syscall.EBUSY
	}
	return w, f.writable(w.dir())
}

func (f *FS) writable(dir *node) error {
	a, err := f.attributes(dir)
	if err == nil && a.mode&0o200 == 0 {
		err = syscall.EACCES
	}
	return err
}

// walker is on its way.
type walker struct {
	fs    *FS
	done  way
	todo  []string
	links int
}

// start stands at the root a name begins from. A relative name begins where base
// is, which for a disk is the working folder.
func (f *FS) start(name string) (*walker, error) {
	w := &walker{fs: f, todo: elements(name[len(filepath.VolumeName(name)):])}
	if !rooted(name) {
		here, err := fsys.Canonical(f.base, ".")
		if err != nil {
			return nil, err
		}
		name, w.todo = here, append(elements(here[len(filepath.VolumeName(here)):]), w.todo...)
	}
	return w, w.enter(filepath.VolumeName(name))
}

// rooted is filepath.IsAbs, on Windows also for the slashed names of a
// filesystem that has no volumes.
func rooted(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(filepath.ToSlash(name), "/")
}

func elements(name string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(name), "/"),
		func(part string) bool { return part == "" || part == "." })
}

// enter goes to the root of a volume.
func (w *walker) enter(volume string) error {
	path := volume + string(filepath.Separator)
	root := w.fs.roots[volume]
	if root == nil {
		var err error
		if root, err = w.fs.load(path); err != nil {
			return err
		}
		if root == nil {
			return syscall.ENOENT
		}
		w.fs.roots[volume] = root
	}
	w.done = way{{path, root}}
	return nil
}

// run goes on until the end or the first name that is missing.
func (w *walker) run(follow bool) error {
	for len(w.todo) > 0 && w.done.last().node != nil {
		name := w.todo[0]
		w.todo = w.todo[1:]
		if name == ".." {
			w.done = w.done[:max(1, len(w.done)-1)]
			continue
		}
		n, err := w.fs.child(w.done.last().node, name)
		if err != nil {
			return err
		}
		if n != nil && n.kind == fs.ModeSymlink && (follow || len(w.todo) > 0) {
			err = w.follow(n.target)
		} else {
			w.done = append(w.done, step{name, n})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow puts the target of a symbolic link in front of what is left to go.
func (w *walker) follow(target string) error {
	if w.links++; w.links > maxLinks {
		return syscall.ELOOP
	}
	volume := filepath.VolumeName(target)
	w.todo = append(elements(target[len(volume):]), w.todo...)
	if rooted(target) {
		return w.enter(volume)
	}
	return nil
}
