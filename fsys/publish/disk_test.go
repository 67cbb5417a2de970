package publish_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
)

// lesser is the disk without some capabilities.
type lesser struct {
	afero.Fs
	noLocks, noExchange bool
}

func (l lesser) Unwrap() afero.Fs { return l.Fs }

func (l lesser) Lock(name string) (io.Closer, error) {
	if locker, ok := fsys.As[fsys.Locker](l.Fs); ok && !l.noLocks {
		return locker.Lock(name)
	}
	return nil, errors.ErrUnsupported
}

func (l lesser) Exchange(a, b string) error {
	if x, ok := fsys.As[fsys.Exchanger](l.Fs); ok && !l.noExchange {
		return x.Exchange(a, b)
	}
	return errors.ErrUnsupported
}

// TestRoundsOnDisk lets two replacements and a client at one session, again and
// again, on the disk of this machine.
func TestRoundsOnDisk(t *testing.T) {
	publish.SetLinger(linger)
	defer publish.SetLinger(0)
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	ends := map[string]int{}
	dir := t.TempDir()
	for i := range rounds {
		r := round{
			T: t, path: filepath.Join(dir, fmt.Sprint(i), "s.jsonl"), ends: ends,
			fs:  lesser{fsys.OS(), i%2 == 1, i%4 > 1},
			rng: rand.New(rand.NewPCG(uint64(i), 0)),
		}
		r.play()
		if err := os.RemoveAll(filepath.Dir(r.path)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rounds: %v", rounds, ends)
	if testing.Short() {
		return // a few rounds may miss an outcome
	}
	if ends["replaced"] == 0 || ends[publish.SessionLocked] == 0 || ends[publish.SourceChanged] == 0 {
		t.Error("an outcome never came")
	}
}

type round struct {
	*testing.T
	path string
	fs   afero.Fs
	ends map[string]int
	rng  *rand.Rand
}

func (r round) play() {
	must(r, os.MkdirAll(filepath.Dir(r.path), 0o700), os.WriteFile(r.path, []byte(oldText), 0o600))
	held, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND, 0)
	must(r, err)
	var group sync.WaitGroup
	var errs [2]error
	for g := range errs {
		group.Go(func() { errs[g] = r.replace(g) })
	}
	var lines []string
	pause := time.Duration(r.rng.IntN(9000)) * time.Microsecond
	group.Go(func() { lines = r.client(held, pause) })
	group.Wait()
	must(r, held.Close())
	r.check(errs, lines)
}

func (r round) replace(g int) error {
	got, err := publish.InPlace(r.Context(), r.fs, publish.Replacement{
		Path: r.path, Token: fmt.Sprint(g), Old: sum(oldText),
		Write: func(w io.Writer) error { return second(fmt.Fprintf(w, "the file of %d\n", g)) },
	})
	if len(got.Left) > 0 {
		r.Errorf("%s: %+v, %v", r.path, got, err)
	}
	return err
}

// client waits and then writes lines, by the name and through a descriptor that it
// has held from the start, and tells which it could write.
func (r round) client(held *os.File, pause time.Duration) (lines []string) {
	time.Sleep(pause)
	for i := range 4 {
		line := fmt.Sprintf("line %d\n", i)
		w := held
		if i%2 == 0 {
			named, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND, 0)
			if errors.Is(err, fs.ErrNotExist) { // captured at this instant
				continue
			}
			must(r, err)
			defer named.Close()
			w = named
		}
		must(r, second(w.WriteString(line)))
		lines = append(lines, line)
	}
	return lines
}

// check counts the winners, looks for every line and reads the backups.
func (r round) check(errs [2]error, lines []string) {
	winners := 0
	for _, err := range errs {
		switch c := class(err); {
		case err == nil, c == publish.TargetChanged:
			winners++
			r.ends["replaced"]++
		case c != "":
			r.ends[c]++
		default:
			r.Errorf("%s: %v", r.path, err)
		}
	}
	if winners > 1 {
		r.Errorf("%s: two winners", r.path)
	}
	found := map[string]bool{}
	must(r, filepath.WalkDir(filepath.Dir(r.path), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if strings.Contains(name, ".backup") && !strings.HasPrefix(string(data), oldText) && !strings.HasPrefix(string(data), "the file of") {
			err = errors.Join(err, fmt.Errorf("backup %s holds %q", name, data))
		}
		for _, line := range lines {
			found[line] = found[line] || strings.Contains(string(data), line)
			if strings.Count(string(data), line) > 1 {
				r.Errorf("%s: %q is there twice", name, line)
			}
		}
		return err
	}))
	for _, line := range lines {
		if !found[line] {
			r.Errorf("%s: %q is lost: %v", r.path, line, errs)
		}
	}
}
