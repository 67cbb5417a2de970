package cas_test

import (
	"bytes"
	"errors"
	"io/fs"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/step"
)

// FuzzOpen opens any bytes as a pack: what is read is right, or an error, in
// memory in proportion; a writer goes on, or refuses and changes nothing.
func FuzzOpen(f *testing.F) {
	for _, list := range [][][]byte{{}, {{}}, {[]byte("two"), text(700)}, {noise(200), make([]byte, 2*mib+5)}} {
		disk := mem()
		s := writer(f, disk)
		for _, data := range append(list, []byte("last")) {
			put(f, s, data)
		}
		f.Add([]byte(read(f, disk, pack)))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		disk := mem()
		if err := afero.WriteFile(disk, pack, content, 0o600); err != nil {
			t.Fatal(err)
		}
		readAll(t, disk, len(content))
		w, err := cas.OpenWriter(disk, pack)
		if v := new(cas.VersionError); errors.As(err, &v) {
			if read(t, disk, pack) != string(content) {
				t.Error("a pack of an unknown version was changed")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range w.Artifacts() {
			if err := w.Verify(a); err != nil {
				t.Errorf("a writer found %s: %v", a.SHA256, err)
			}
		}
		put(t, w, []byte("next"))
		holds(t, reader(t, disk), []byte("next"))
	})
}

// readAll reads what a reader finds.
func readAll(t *testing.T, disk afero.Fs, size int) {
	s, err := cas.Open(disk, pack)
	if err != nil {
		return
	}
	for _, a := range s.Artifacts() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		data, err := s.Get(a)
		runtime.ReadMemStats(&after)
		if err == nil && artifact(data) != a {
			t.Errorf("wrong bytes for %s", a.SHA256)
		}
		if err != nil && !errors.Is(err, cas.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		// A chunk has a line of 28 bytes at least, and zstd's tables come on top.
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(32*mib+size/28*3*mib) {
			t.Errorf("%d bytes were allocated for a pack of %d", used, size)
		}
		if v := s.Verify(a); (v == nil) != (err == nil) {
			t.Errorf("get says %v, verify %v", err, v)
		}
	}
}

// TestProperty holds a pack against a map.
func TestProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{disk: mem(), want: map[step.Artifact][]byte{}}
		m.open(t)
		t.Repeat(map[string]func(*rapid.T){
			"put":     m.put,
			"putFrom": m.putFrom,
			"sync":    m.sync,
			"reopen":  m.open,
			"":        m.check,
		})
	})
}

type model struct {
	disk    afero.Fs
	w, r    *cas.Store
	want    map[step.Artifact][]byte
	packLen int
}

func (m *model) open(t *rapid.T) {
	var err1, err2 error
	m.w, err1 = cas.OpenWriter(m.disk, pack)
	m.r, err2 = cas.Open(m.disk, pack)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
}

// draw often gives what was put before.
func draw(t *rapid.T) []byte {
	n := rapid.SampledFrom([]int{0, 1, 3, 10, 50, 100, 300, 700, 1000, 4000, 5000}).Draw(t, "size")
	if rapid.Bool().Draw(t, "compressible") {
		return text(n)
	}
	return noise(n)
}

func (m *model) put(t *rapid.T) {
	data := draw(t)
	a, err := m.w.Put(data)
	if err != nil || a != artifact(data) {
		t.Fatalf("%+v, %v", a, err)
	}
	m.want[a] = data
}

func (m *model) putFrom(t *rapid.T) {
	data, claimed := draw(t), draw(t)
	err := m.w.PutFrom(bytes.NewReader(data), artifact(claimed))
	_, there := m.want[artifact(claimed)]
	if right := there || bytes.Equal(data, claimed); right != (err == nil) {
		t.Fatalf("%d bytes as %d, there already: %v: %v", len(data), len(claimed), there, err)
	} else if right {
		m.want[artifact(claimed)] = claimed
	}
}

func (m *model) sync(t *rapid.T) {
	if err := m.w.Sync(); err != nil {
		t.Fatal(err)
	}
}

func (m *model) check(t *rapid.T) {
	if d := cmp.Diff(len(m.want), len(m.w.Artifacts())); d != "" {
		t.Fatal(d)
	}
	for a, data := range m.want {
		for _, s := range []*cas.Store{m.w, m.r} {
			if got, err := s.Get(a); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(data), err)
			}
		}
	}
	if info, err := m.disk.Stat(pack); err == nil {
		if int(info.Size()) < m.packLen {
			t.Fatal("the pack shrank")
		}
		m.packLen = int(info.Size())
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
