package cas_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
)

// printf two | sha256sum
var (
	two  = step.Artifact{SHA256: "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3", Bytes: 3}
	name = "/state/cas/3f/" + two.SHA256
)

func mem() *memfs.FS { return memfs.New(func() time.Time { return time.Unix(0, 0) }) }

func put(t *testing.T, f afero.Fs) {
	t.Helper()
	if a, err := cas.New(f, "/state/cas").Put([]byte("two")); err != nil || a != two {
		t.Fatalf("put: %+v, %v", a, err)
	}
}

func TestPutAndGet(t *testing.T) {
	f := mem()
	put(t, f)
	put(t, f)
	if raw, err := afero.ReadFile(f, name); err != nil || string(raw) != "two" {
		t.Errorf("%s holds %q, %v", name, raw, err)
	}
	if got, err := cas.New(f, "/state/cas").Get(two); err != nil || string(got) != "two" {
		t.Errorf("got %q, %v", got, err)
	}
	list, err := afero.ReadDir(f, "/state/cas/3f")
	if err != nil || len(list) != 1 || list[0].Mode() != fsys.FilePerm {
		t.Errorf("%v, %v", list, err)
	}
}

func TestGetChecks(t *testing.T) {
	f := mem()
	put(t, f)
	s := cas.New(f, "/state/cas")
	for title, test := range map[string]struct {
		a    step.Artifact
		want error
	}{
		"another size": {step.Artifact{SHA256: two.SHA256, Bytes: 4}, cas.ErrCorrupt},
		"not stored":   {step.Artifact{SHA256: strings.Repeat("a", 64), Bytes: 3}, fs.ErrNotExist},
	} {
		_, get := s.Get(test.a)
		if verify := s.Verify(test.a); !errors.Is(get, test.want) || !errors.Is(verify, test.want) {
			t.Errorf("%s: %v, %v", title, get, verify)
		}
	}
	for _, bad := range []string{"", "ab", "../../../../etc/passwd", strings.ToUpper(two.SHA256)} {
		if s.Verify(step.Artifact{SHA256: bad}) == nil {
			t.Errorf("%q passed as a digest", bad)
		}
		if _, err := s.Get(step.Artifact{SHA256: bad}); err == nil {
			t.Errorf("%q passed as a digest", bad)
		}
	}
}

func TestDamageIsFoundAndPutRepairsIt(t *testing.T) {
	f := mem()
	put(t, f)
	if err := afero.WriteFile(f, name, []byte("twp"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cas.New(f, "/state/cas").Get(two); !errors.Is(err, cas.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	put(t, f)
	if _, err := cas.New(f, "/state/cas").Get(two); err != nil {
		t.Error(err)
	}
}

func TestConcurrentPuts(t *testing.T) {
	f := mem()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			s := cas.New(f, "/state/cas")
			data := fmt.Appendf(nil, "artifact %d", i%3)
			a, err := s.Put(data)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := s.Get(a); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	wg.Wait()
}

func TestFaultSweep(t *testing.T) {
	for _, plan := range []faultfs.Plan{{Err: syscall.ENOSPC}, {Short: true}, {Stop: true}, {Stop: true, Short: true}} {
		for plan.At = 1; ; plan.At++ {
			base := mem()
			f := faultfs.New(base, plan)
			_, err := cas.New(f, "/state/cas").Put([]byte("two"))
			for seed := range uint64(5) {
				after := base.CrashClone(seed)
				s := cas.New(after, "/state/cas")
				_, got := s.Get(two)
				if err == nil && got != nil {
					t.Errorf("%+v: acknowledged, but after power cut %d: %v", plan, seed, got)
				}
				if got != nil && !errors.Is(got, fs.ErrNotExist) {
					t.Errorf("%+v: damaged after power cut %d: %v", plan, seed, got)
				}
				put(t, after)
			}
			if !plan.Stop {
				noTemporaryFiles(t, base, fmt.Sprintf("%+v", plan))
			}
			if !f.Hit() {
				break
			}
		}
	}
}

func noTemporaryFiles(t *testing.T, f afero.Fs, title string) {
	t.Helper()
	_ = afero.Walk(f, "/", func(name string, _ fs.FileInfo, err error) error {
		if strings.Contains(name, ".tmp-") {
			t.Errorf("%s: %s is left", title, name)
		}
		return err
	})
}

func BenchmarkPut(b *testing.B) {
	for title, f := range map[string]afero.Fs{"memory": mem(), "disk": fsys.OS()} {
		b.Run(title, func(b *testing.B) {
			dir := "/cas"
			if title == "disk" {
				dir = b.TempDir()
			}
			s := cas.New(f, dir)
			data := bytes.Repeat([]byte("x"), 64<<10)
			b.SetBytes(int64(len(data)))
			for i := 0; b.Loop(); i++ {
				copy(data, fmt.Sprint(i, " "))
				if _, err := s.Put(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
