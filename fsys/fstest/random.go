package fstest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/fsys"
)

// Place is a folder of a filesystem; what happens in it is compared with what
// happens in another.
type Place struct {
	FS  afero.Fs
	Dir string
}

// Same draws operations, does each in both places and fails at the first that
// has different results or leaves different trees. Places start with equal
// trees. Modes are compared when both filesystems enforce them alike.
func Same(t *rapid.T, a, b Place, modes bool) {
	m := &machine{places: [2]place{{Place: a}, {Place: b}}, modes: modes}
	defer m.close()
	m.compare(t, "at the start", Tree(a, modes), Tree(b, modes))
	for range rapid.IntRange(1, 80).Draw(t, "operations") {
		m.step(t)
	}
}

type machine struct {
	places [2]place
	modes  bool
}

// place is a Place with the files and locks that are open in it.
type place struct {
	Place
	files []afero.File
	locks map[string]func() error
}

func (m *machine) close() {
	for _, p := range m.places {
		for _, f := range p.files {
			f.Close()
		}
		for _, unlock := range p.locks {
			_ = unlock()
		}
	}
}

func (m *machine) compare(t *rapid.T, what, a, b string) {
	if a != b {
		t.Fatalf("%s:\n%s: %s\n%s: %s", what, m.places[0].FS.Name(), a, m.places[1].FS.Name(), b)
	}
}

// step does one operation in both places.
func (m *machine) step(t *rapid.T) {
	names := slices.Sorted(maps.Keys(operations))
	if !m.modes {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "chmod" })
	}
	name := rapid.SampledFrom(names).Draw(t, "operation")
	args := drawn{
		a:    drawName(t, "a"),
		b:    drawName(t, "b"),
		data: rapid.StringMatching(`[a-z]{0,6}`).Draw(t, "data"),
		n:    rapid.IntRange(0, 9).Draw(t, "n"),
		flag: rapid.SampledFrom(openFlags).Draw(t, "flag"),
	}
	var results [2]string
	for i := range m.places {
		results[i] = operations[name](&m.places[i], args)
	}
	what := fmt.Sprintf("%s %+v", name, args)
	m.compare(t, what, results[0], results[1])
	m.compare(t, "tree after "+what, Tree(m.places[0].Place, m.modes), Tree(m.places[1].Place, m.modes))
}

// drawn is what the operations take their arguments from.
type drawn struct {
	a, b, data string
	n, flag    int
}

var openFlags = []int{
	os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_TRUNC,
	os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE | os.O_EXCL, os.O_RDWR | os.O_CREATE | os.O_TRUNC,
}

// drawName is a path of few, so that operations meet.
func drawName(t *rapid.T, label string) string {
	part := rapid.SampledFrom([]string{"a", "b", "d"})
	return filepath.Join(rapid.SliceOfN(part, 1, 3).Draw(t, label)...)
}

func (p *place) at(name string) string { return filepath.Join(p.Dir, name) }

var operations = map[string]func(p *place, in drawn) string{
	"open": func(p *place, in drawn) string {
		f, err := p.FS.OpenFile(p.at(in.a), in.flag, 0o600)
		if err == nil {
			p.files = append(p.files, f)
		}
		return result(err)
	},
	"read": onFile(func(f afero.File, in drawn) string {
		data := make([]byte, 1+in.n) // package os looks at no less than a byte
		n, err := f.Read(data)
		return result(err, string(data[:max(n, 0)]))
	}),
	"readat": onFile(func(f afero.File, in drawn) string {
		data := make([]byte, 4)
		n, err := f.ReadAt(data, int64(in.n))
		return result(err, string(data[:max(n, 0)]))
	}),
	"write":    onFile(func(f afero.File, in drawn) string { n, err := f.WriteString(in.data); return result(err, n) }),
	"writeat":  onFile(func(f afero.File, in drawn) string { return writeAt(f, in) }),
	"truncate": onFile(func(f afero.File, in drawn) string { return result(f.Truncate(int64(in.n))) }),
	"seek": onFile(func(f afero.File, in drawn) string {
		info, err := f.Stat()
		if err != nil || info.IsDir() {
			return result(err) // where a folder's end is, each volume says otherwise
		}
		at, err := f.Seek(int64(len(in.data)-3), in.n%3)
		return result(err, at)
	}),
	"close": func(p *place, in drawn) string {
		return onFile(func(f afero.File, _ drawn) string {
			p.files = slices.DeleteFunc(p.files, func(other afero.File) bool { return other == f })
			return result(f.Close())
		})(p, in)
	},

	"create": func(p *place, in drawn) string {
		return result(afero.WriteFile(p.FS, p.at(in.a), []byte(in.data), 0o600))
	},
	"mkdir":     func(p *place, in drawn) string { return result(p.FS.Mkdir(p.at(in.a), 0o700)) },
	"mkdirall":  func(p *place, in drawn) string { return result(p.FS.MkdirAll(p.at(in.a), 0o700)) },
	"remove":    func(p *place, in drawn) string { return result(p.FS.Remove(p.at(in.a))) },
	"removeall": func(p *place, in drawn) string { return result(p.FS.RemoveAll(p.at(in.a))) },
	"rename":    func(p *place, in drawn) string { return result(p.FS.Rename(p.at(in.a), p.at(in.b))) },
	"chmod":     func(p *place, in drawn) string { return result(p.FS.Chmod(p.at(in.a), fs.FileMode(in.n&7)<<6)) },
	"writefile": func(p *place, in drawn) string { return result(fsys.WriteFile(p.FS, p.at(in.a), "t", []byte(in.data))) },
	"link": func(p *place, in drawn) string {
		l, _ := fsys.As[fsys.Linker](p.FS)
		return result(l.Link(p.at(in.a), p.at(in.b)))
	},
	"exchange": func(p *place, in drawn) string {
		x, _ := fsys.As[fsys.Exchanger](p.FS)
		return result(x.Exchange(p.at(in.a), filepath.Join(filepath.Dir(p.at(in.a)), in.b[:1])))
	},
	"samefile": func(p *place, in drawn) string {
		id, _ := fsys.As[fsys.Identity](p.FS)
		same, err := id.SameFile(p.at(in.a), p.at(in.b))
		return result(err, same)
	},
	"lock": lockOrUnlock,
}

// onFile is an operation on one of the open files.
func onFile(do func(f afero.File, in drawn) string) func(*place, drawn) string {
	return func(p *place, in drawn) string {
		if len(p.files) == 0 {
			return ""
		}
		return do(p.files[in.n%len(p.files)], in)
	}
}

// writeAt writes at least a byte, for the same reason.
func writeAt(f afero.File, in drawn) string {
	n, err := f.WriteAt([]byte("w"+in.data), int64(in.n))
	return result(err, n)
}

func lockOrUnlock(p *place, in drawn) string {
	if unlock := p.locks[in.a]; unlock != nil {
		delete(p.locks, in.a)
		return result(unlock())
	}
	l, _ := fsys.As[fsys.Locker](p.FS)
	held, err := l.Lock(p.at(in.a))
	if err == nil {
		if p.locks == nil {
			p.locks = map[string]func() error{}
		}
		p.locks[in.a] = held.Close
	}
	return result(err)
}

// result is what an operation gave, without the names in its error.
func result(err error, values ...any) string {
	var errno syscall.Errno
	what := fmt.Sprint(values...)
	switch {
	case err == nil:
		return what + " ok"
	case errors.As(err, &errno) && errno != syscall.EINVAL: // for which package os has words of its own
		return what + " " + errno.Error()
	}
	if errors.Is(err, fsys.ErrLocked) {
		return what + " locked"
	}
	return what + " error"
}

// Tree describes everything in a place, with content, size and links, and with
// modes and what they forbid to read where modes says so.
func Tree(p Place, modes bool) string {
	var b strings.Builder
	_ = afero.Walk(p.FS, p.Dir, func(name string, info fs.FileInfo, err error) error {
		rel, _ := filepath.Rel(p.Dir, name)
		fmt.Fprintf(&b, "\n  %s", rel)
		if err != nil {
			b.WriteString(result(err))
			return nil
		}
		if modes {
			fmt.Fprintf(&b, " %v", info.Mode())
		}
		if !info.IsDir() {
			data, err := afero.ReadFile(p.FS, name)
			fmt.Fprintf(&b, " %d %q %s", info.Size(), data, result(err))
		}
		return nil
	})
	return b.String()
}
