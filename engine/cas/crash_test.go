package cas_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
)

// TestEveryCut opens a pack that ends anywhere.
func TestEveryCut(t *testing.T) {
	f := mem()
	s := writer(t, f)
	ends := []int{0}
	list := [][]byte{[]byte("two"), {}, text(900), noise(150)}
	for _, data := range list {
		put(t, s, data)
		ends = append(ends, len(read(t, f, pack)))
	}
	whole := read(t, f, pack)
	for cut := range len(whole) + 1 {
		f := mem()
		if err := afero.WriteFile(f, pack, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		r, w := reader(t, f), writer(t, f)
		good := 0
		for i, data := range list {
			want := ends[i+1] <= cut
			if want {
				good = ends[i+1]
			}
			for _, s := range []*cas.Store{r, w} {
				if s.Has(artifact(data)) != want || want && s.Verify(artifact(data)) != nil {
					t.Errorf("cut %d: artifact %d there is %v", cut, i, !want)
				}
			}
		}
		kept := read(t, f, pack)
		aside, _ := afero.ReadFile(f, pack+".torn-1")
		if kept+string(aside) != whole[:cut] || len(kept) < good {
			t.Errorf("cut %d: %d bytes kept, %d aside", cut, len(kept), len(aside))
		}
		for _, data := range list {
			put(t, w, data)
		}
		if got := read(t, f, pack); got != whole {
			t.Errorf("cut %d: putting all again gives another pack", cut)
		}
	}
}

func TestDamage(t *testing.T) {
	one, two := text(3000), text(4000)
	f := mem()
	s := writer(t, f)
	put(t, s, one)
	middle := len(read(t, f, pack))
	put(t, s, two)
	whole := read(t, f, pack)
	for title, test := range map[string]struct {
		at       int
		one, two bool
		cut      bool
	}{
		"payload before good frames": {middle - 20, false, true, false},
		"newline before good frames": {middle - 1, false, true, false},
		"payload at the end":         {len(whole) - 20, true, false, true},
		"line":                       {middle + 5, true, false, true},
		"first line":                 {len(header) + 5, false, false, true},
		"header":                     {3, false, false, true},
	} {
		t.Run(title, func(t *testing.T) {
			damaged := []byte(whole)
			damaged[test.at] ^= 0x40
			f := mem()
			if err := afero.WriteFile(f, pack, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			r := reader(t, f)
			if (r.Verify(artifact(one)) == nil) != test.one || (r.Verify(artifact(two)) == nil) != test.two {
				t.Errorf("reader: %v, %v", r.Verify(artifact(one)), r.Verify(artifact(two)))
			}
			w := writer(t, f)
			if w.Has(artifact(one)) != test.one || w.Has(artifact(two)) != test.two {
				t.Errorf("writer has %v, %v", w.Has(artifact(one)), w.Has(artifact(two)))
			}
			if _, err := f.Stat(pack + ".torn-1"); (err == nil) != test.cut {
				t.Errorf("kept aside: %v", err)
			}
			put(t, w, one)
			put(t, w, two)
			for _, s := range []*cas.Store{w, reader(t, f), writer(t, f)} {
				holds(t, s, one)
				holds(t, s, two)
			}
		})
	}
}

func TestTornTailsAreNumberedAndSavedOnce(t *testing.T) {
	f := mem()
	for _, test := range []struct{ tail, newest string }{
		{"{one", ".torn-1"}, {"{two", ".torn-2"}, {"{two", ".torn-2"},
	} {
		if err := afero.WriteFile(f, pack, []byte(header+test.tail), 0o600); err != nil {
			t.Fatal(err)
		}
		writer(t, f).Close()
		if got := read(t, f.CrashClone(0), pack+test.newest); got != test.tail {
			t.Errorf("%s holds %q, want %q", test.newest, got, test.tail)
		}
	}
	if _, err := f.Stat(pack + ".torn-3"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the same bytes were saved twice")
	}
}

// session is one life of a writer: what it knows to be durable, and all it put.
type session struct{ synced, put [][]byte }

// run opens a pack and fills it until something fails.
func (r *session) run(f afero.Fs) error {
	s, err := cas.OpenWriter(f, pack)
	if err != nil {
		return err
	}
	for i, data := range [][]byte{[]byte("two"), text(700), noise(300), text(1500)} {
		r.put = append(r.put, data)
		if i == 2 {
			err = s.PutFrom(bytes.NewReader(data), artifact(data))
		} else {
			_, err = s.Put(data)
		}
		if err != nil {
			return errors.Join(err, stays(s))
		}
		if i%2 == 1 {
			if err := s.Sync(); err != nil {
				return errors.Join(err, stays(s))
			}
			r.synced = append([][]byte(nil), r.put...)
		}
	}
	return s.Close()
}

var errAgain = errors.New("a broken store took another artifact")

// stays checks that a store which failed goes on failing.
func stays(s *cas.Store) error {
	if _, err := s.Put([]byte("again")); err == nil {
		return errAgain
	}
	return nil
}

// TestSyncedArtifactsSurvive fails every operation of a writer in every way,
// with a power cut after it.
func TestSyncedArtifactsSurvive(t *testing.T) {
	old := text(400)
	for _, plan := range []faultfs.Plan{{Err: syscall.ENOSPC}, {Short: true}, {Stop: true}, {Stop: true, Short: true}, {Reads: true}} {
		for plan.At = 1; ; plan.At++ {
			base := torn(t, old)
			f := faultfs.New(base, plan)
			r := &session{synced: [][]byte{old}}
			err := r.run(f)
			if !f.Hit() {
				break
			}
			if errors.Is(err, errAgain) {
				t.Errorf("%+v: %v", plan, err)
			}
			for seed := range uint64(40) {
				checkSurvivors(t, fmt.Sprintf("%+v seed %d", plan, seed), base.CrashClone(seed), r)
			}
		}
	}
}

// torn is a disk with a synced artifact in a pack, and another that is torn.
func torn(t *testing.T, old []byte) *memfs.FS {
	base := mem()
	s := writer(t, base)
	put(t, s, old)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	size := len(read(t, base, pack))
	put(t, s, text(900))
	w, err := base.OpenFile(pack, syscall.O_RDWR, 0)
	if err == nil {
		err = w.Truncate(int64(size) + 200)
	}
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func checkSurvivors(t *testing.T, title string, f *memfs.FS, r *session) {
	t.Helper()
	look, err := cas.Open(f, pack)
	if err != nil {
		t.Errorf("%s: %v", title, err)
		return
	}
	w := writer(t, f)
	for _, data := range r.synced {
		for _, s := range []*cas.Store{look, w} {
			if err := s.Verify(artifact(data)); err != nil {
				t.Errorf("%s: %d synced bytes: %v", title, len(data), err)
			}
		}
	}
	for _, data := range r.put {
		if err := w.Verify(artifact(data)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %d bytes: %v", title, len(data), err)
		}
	}
	again := &session{}
	if err := again.run(f); err != nil {
		t.Errorf("%s: the next writer: %v", title, err)
	}
	last := reader(t, f.CrashClone(0))
	for _, data := range append(again.put, r.synced...) {
		if err := last.Verify(artifact(data)); err != nil {
			t.Errorf("%s: after the next writer: %v", title, err)
		}
	}
}

// TestASealingLosesNothing fails every operation of an opening.
func TestASealingLosesNothing(t *testing.T) {
	old := text(400)
	for _, plan := range []faultfs.Plan{{}, {Stop: true}, {Stop: true, Short: true}, {Reads: true}} {
		for plan.At = 1; ; plan.At++ {
			base := torn(t, old)
			whole := read(t, base, pack)
			f := faultfs.New(base, plan)
			_, _ = cas.OpenWriter(f, pack)
			if !f.Hit() {
				break
			}
			w := writer(t, base)
			holds(t, w, old)
			after := base.CrashClone(0)
			rest := strings.TrimPrefix(whole, read(t, after, pack))
			if !kept(after, rest) {
				t.Errorf("%+v: the torn bytes are nowhere", plan)
			}
		}
	}
}

func kept(f afero.Fs, rest string) bool {
	for n := 1; ; n++ {
		aside, err := afero.ReadFile(f, fmt.Sprintf("%s.torn-%d", pack, n))
		if err != nil {
			return false
		}
		if string(aside) == rest {
			return true
		}
	}
}

func TestOneSyncForMany(t *testing.T) {
	f := faultfs.New(mem(), faultfs.Plan{})
	s := writer(t, f)
	for range 3 {
		put(t, s, []byte("one"))
		for range 3 {
			if err := s.Sync(); err != nil {
				t.Error(err)
			}
		}
	}
	put(t, s, []byte("two"))
	if err := s.Sync(); err != nil {
		t.Error(err)
	}
	var ops []string
	for _, op := range f.Ops() {
		ops = append(ops, string(op.Kind))
	}
	const want = "create create write write sync syncdir write sync"
	if got := strings.Join(ops, " "); got != want {
		t.Errorf("operations %s\nwant       %s", got, want)
	}
}
