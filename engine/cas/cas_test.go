package cas_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/memfs"
)

const (
	pack   = "/artifacts.pack"
	header = `{"pack":"precis-artifacts","v":1}` + "\n"
	mib    = 1 << 20
)

func mem() *memfs.FS { return memfs.New(func() time.Time { return time.Unix(0, 0) }) }

func artifact(data []byte) step.Artifact {
	sum := sha256.Sum256(data)
	return step.Artifact{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
}

func writer(t testing.TB, f afero.Fs) *cas.Store {
	t.Helper()
	s, err := cas.OpenWriter(f, pack)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reader(t testing.TB, f afero.Fs) *cas.Store {
	t.Helper()
	s, err := cas.Open(f, pack)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *cas.Store, data []byte) step.Artifact {
	t.Helper()
	a, err := s.Put(data)
	if err != nil || a != artifact(data) {
		t.Fatalf("put: %+v, %v", a, err)
	}
	return a
}

// holds checks an artifact in every way there is to read one.
func holds(t testing.TB, s *cas.Store, data []byte) {
	t.Helper()
	a := artifact(data)
	got, err := s.Get(a)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("get: %d bytes of %d, %v", len(got), len(data), err)
	}
	if err := s.Verify(a); err != nil || !s.Has(a) {
		t.Errorf("verify: %v, has: %v", err, s.Has(a))
	}
	r, err := s.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := iotest.TestReader(r, data); err != nil && len(data) < 1000 {
		t.Errorf("stream: %v", err)
	}
}

func read(t testing.TB, f afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// noise does not compress, text does.
func noise(n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	return data
}

func text(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%08x","message":"line %d"}`+"\n", i*7919, i)
	}
	return b.Bytes()[:n]
}

func samples() map[string][]byte {
	return map[string][]byte{
		"nothing":           {},
		"a byte":            {'x'},
		"a newline":         {'\n'},
		"noise":             noise(5000),
		"text":              text(20_000),
		"a chunk":           text(mib),
		"a chunk and a bit": text(mib + 1),
		"two chunks":        noise(2 * mib),
		"noise and text":    append(noise(mib+70_000), text(2*mib)...),
		"looks like a pack": []byte(header + `{"sha256":"`),
	}
}

func TestRoundTrip(t *testing.T) {
	stores := map[string]func(t *testing.T, f afero.Fs) *cas.Store{
		"writer": func(t *testing.T, f afero.Fs) *cas.Store { return writer(t, f) },
		"memory": func(*testing.T, afero.Fs) *cas.Store { return cas.Memory() },
	}
	for kind, open := range stores {
		for title, data := range samples() {
			t.Run(kind+"/"+title, func(t *testing.T) {
				f := mem()
				s := open(t, f)
				if s.Has(artifact(data)) {
					t.Error("there before it was put")
				}
				put(t, s, data)
				if err := s.Sync(); err != nil {
					t.Error(err)
				}
				holds(t, s, data)
				if kind == "writer" {
					holds(t, reader(t, f), data)
					holds(t, writer(t, f), data)
				}
			})
		}
	}
}

func TestPutFromWritesWhatPutDoes(t *testing.T) {
	for title, data := range samples() {
		a, b := mem(), mem()
		put(t, writer(t, a), data)
		if err := writer(t, b).PutFrom(iotest.HalfReader(bytes.NewReader(data)), artifact(data)); err != nil {
			t.Errorf("%s: %v", title, err)
		}
		if read(t, a, pack) != read(t, b, pack) {
			t.Errorf("%s: different packs", title)
		}
	}
}

func TestBytesOnDisk(t *testing.T) {
	f := mem()
	s := writer(t, f)
	two := put(t, s, []byte("two"))
	put(t, s, []byte("two"))
	if err := s.PutFrom(iotest.ErrReader(errors.New("read")), two); err != nil {
		t.Error(err)
	}
	put(t, s, nil)
	// printf two | sha256sum
	want := header +
		`{"sha256":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","bytes":3}` + "\n" +
		`{"stored":3,"codec":"none"}` + "\ntwo\n" +
		`{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":0}` + "\n"
	if d := cmp.Diff(want, read(t, f, pack)); d != "" {
		t.Error(d)
	}
	s = writer(t, f)
	put(t, s, []byte("two"))
	if d := cmp.Diff(want, read(t, f, pack)); d != "" {
		t.Errorf("put again after an opening: %s", d)
	}
	if info, err := f.Stat(pack); err != nil || info.Mode() != fsys.FilePerm {
		t.Errorf("%v, %v", info, err)
	}
}

func TestPacksAreDeterministic(t *testing.T) {
	fill := func() string {
		f := mem()
		s := writer(t, f)
		for n := range 40 {
			put(t, s, text(n*5000))
		}
		put(t, s, text(3*mib))
		return read(t, f, pack)
	}
	if first, second := fill(), fill(); first != second {
		t.Error("the same puts gave two packs")
	}
}

func TestBadSources(t *testing.T) {
	data := text(2*mib + 5)
	broken := errors.New("broken disk")
	for title, test := range map[string]struct {
		r    io.Reader
		want error
	}{
		"short":        {bytes.NewReader(data[:mib+5]), cas.ErrCorrupt},
		"empty":        {bytes.NewReader(nil), cas.ErrCorrupt},
		"long":         {bytes.NewReader(append(bytes.Clone(data), 'x')), cas.ErrCorrupt},
		"other bytes":  {io.MultiReader(bytes.NewReader(noise(len(data))), strings.NewReader("x")), cas.ErrCorrupt},
		"one other":    {bytes.NewReader(append(bytes.Clone(data[:len(data)-1]), 'x')), cas.ErrCorrupt},
		"broken":       {io.MultiReader(bytes.NewReader(data[:mib+5]), iotest.ErrReader(broken)), broken},
		"broken after": {io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken)), broken},
	} {
		t.Run(title, func(t *testing.T) {
			f := mem()
			s := writer(t, f)
			put(t, s, []byte("before"))
			size := len(read(t, f, pack))
			source := io.TeeReader(test.r, watch(func() {
				if reader(t, f).Has(artifact(data)) {
					t.Error("a reader sees it")
				}
			}))
			if err := s.PutFrom(source, artifact(data)); !errors.Is(err, test.want) {
				t.Errorf("error %v", err)
			}
			if s.Has(artifact(data)) || len(read(t, f, pack)) != size {
				t.Error("something of it is left")
			}
			put(t, s, []byte("after"))
			for _, s := range []*cas.Store{s, reader(t, f), writer(t, f)} {
				holds(t, s, []byte("before"))
				holds(t, s, []byte("after"))
			}
		})
	}
}

// watch is called as bytes pass.
type watch func()

func (w watch) Write(p []byte) (int, error) { w(); return len(p), nil }

func TestLookupsThatFail(t *testing.T) {
	f := mem()
	s := writer(t, f)
	two := put(t, s, []byte("two"))
	for title, test := range map[string]struct {
		a    step.Artifact
		want error
	}{
		"another size": {step.Artifact{SHA256: two.SHA256, Bytes: 4}, cas.ErrCorrupt},
		"not stored":   {artifact([]byte("three")), fs.ErrNotExist},
		"no digest":    {step.Artifact{}, nil},
		"capitals":     {step.Artifact{SHA256: strings.ToUpper(two.SHA256), Bytes: 3}, nil},
		"too long":     {step.Artifact{SHA256: two.SHA256 + "a", Bytes: 3}, nil},
		"no size":      {step.Artifact{SHA256: two.SHA256, Bytes: -1}, nil},
	} {
		for _, s := range []*cas.Store{s, reader(t, f)} {
			_, get := s.Get(test.a)
			_, open := s.Open(test.a)
			for _, err := range []error{get, open, s.Verify(test.a)} {
				if err == nil || test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("%s: %v", title, err)
				}
			}
			if s.Has(test.a) {
				t.Errorf("%s: there", title)
			}
		}
	}
	if s.PutFrom(strings.NewReader("two"), step.Artifact{SHA256: "x", Bytes: 3}) == nil {
		t.Error("put under a bad digest")
	}
}

func TestReadersFollowTheWriter(t *testing.T) {
	f := mem()
	early := reader(t, f)
	if early.Has(artifact([]byte("one"))) {
		t.Error("there before the pack is")
	}
	s := writer(t, f)
	put(t, s, []byte("one"))
	holds(t, early, []byte("one"))
	put(t, s, text(30_000))
	holds(t, early, text(30_000))
	if _, err := early.Put([]byte("x")); err == nil {
		t.Error("put through a reader")
	}
	if err := early.Sync(); err != nil {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	f := mem()
	s := writer(t, f)
	one := put(t, s, []byte("one"))
	for _, s := range []*cas.Store{s, reader(t, f), reader(t, mem()), writer(t, mem())} {
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		_, put := s.Put([]byte("two"))
		for _, err := range []error{s.Verify(one), put} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Error(err)
			}
		}
	}
}

func TestUnknownVersion(t *testing.T) {
	const content = `{"pack":"precis-artifacts","v":12,"more":true}` + "\nwhatever"
	f := mem()
	if err := afero.WriteFile(f, pack, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	_, read1 := cas.Open(f, pack)
	_, write := cas.OpenWriter(f, pack)
	for _, err := range []error{read1, write} {
		var v *cas.VersionError
		if !errors.As(err, &v) || *v != (cas.VersionError{File: pack, Byte: 31, Version: 12}) {
			t.Errorf("error %v", err)
		}
	}
	if read(t, f, pack) != content {
		t.Error("the file was changed")
	}
}

func TestConcurrentUse(t *testing.T) {
	f := mem()
	s := writer(t, f)
	follower := reader(t, f)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 20 {
				data := text(10_000 + (i*j)%37)
				a, err := s.Put(data)
				if j%5 == 0 {
					data = noise(mib + i%3)
					a = artifact(data)
					err = s.PutFrom(bytes.NewReader(data), a)
				}
				if err = errors.Join(err, s.Sync()); err != nil {
					t.Error(err)
					return
				}
				for _, s := range []*cas.Store{s, follower} {
					if got, err := s.Get(a); err != nil || !bytes.Equal(got, data) {
						t.Errorf("%d bytes, %v", len(got), err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got, want := frameCount(read(t, f, pack)), frameCount(read(t, f.CrashClone(0), pack)); got != want || got > 40 {
		t.Errorf("%d frames, %d of them durable", got, want)
	}
}

func frameCount(pack string) int { return strings.Count(pack, `{"sha256":"`) }

func TestOnDisk(t *testing.T) {
	f, name := fsys.OS(), filepath.Join(t.TempDir(), "artifacts.pack")
	s, err := cas.OpenWriter(f, name)
	if err != nil {
		t.Fatal(err)
	}
	for title, data := range samples() {
		if _, err := s.Put(data); err != nil {
			t.Errorf("%s: %v", title, err)
		}
	}
	if err := errors.Join(s.Sync(), s.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := cas.Open(f, name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := cas.OpenWriter(f, name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, data := range samples() {
		holds(t, r, data)
		holds(t, w, data)
	}
}
