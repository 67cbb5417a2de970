package cas_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

func onDisk(t testing.TB) (*cas.Store, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "artifacts.pack")
	s, err := cas.OpenWriter(fsys.OS(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, name
}

func BenchmarkPut(b *testing.B) {
	for title, sync := range map[string]bool{"": false, "+sync": true} {
		b.Run("20KB"+title, func(b *testing.B) {
			s, _ := onDisk(b)
			data := text(20_000)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				binary.BigEndian.PutUint64(data, i)
				if _, err := s.Put(data); err != nil {
					b.Fatal(err)
				}
				if sync {
					if err := s.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkIndex is a reader's first lookup among 30,000.
func BenchmarkIndex(b *testing.B) {
	s, name := onDisk(b)
	data := text(20_000)
	for i := range uint64(30_000) {
		binary.BigEndian.PutUint64(data, i)
		put(b, s, data)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := cas.Open(fsys.OS(), name)
		if err != nil {
			b.Fatal(err)
		}
		if !r.Has(artifact(data)) {
			b.Fatal("not there")
		}
		r.Close()
	}
}

// BenchmarkOpenWriter verifies 3,000 frames.
func BenchmarkOpenWriter(b *testing.B) {
	s, name := onDisk(b)
	data := text(20_000)
	for i := range uint64(3_000) {
		binary.BigEndian.PutUint64(data, i)
		put(b, s, data)
	}
	b.ReportAllocs()
	b.SetBytes(3_000 * 20_000)
	for b.Loop() {
		w, err := cas.OpenWriter(fsys.OS(), name)
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
}

func BenchmarkPutFrom(b *testing.B) {
	const size = 64 * mib
	b.SetBytes(size)
	b.ReportAllocs()
	block := text(3*mib + 11)
	a := sum(&flow{n: size, block: block})
	for b.Loop() {
		s, _ := onDisk(b)
		if err := s.PutFrom(&flow{n: size, block: block}, a); err != nil {
			b.Fatal(err)
		}
	}
}

// flow gives n bytes of a repeated block.
type flow struct {
	n, at int
	block []byte
}

func (f *flow) Read(p []byte) (int, error) {
	if f.at == f.n {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), f.n-f.at)], f.block[f.at%len(f.block):])
	f.at += n
	return n, nil
}

func sum(r io.Reader) step.Artifact {
	h := sha256.New()
	n, _ := io.Copy(h, r)
	return step.Artifact{SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}
}

func BenchmarkGet(b *testing.B) {
	for _, size := range []int{20_000, 10 * mib} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s, _ := onDisk(b)
			a := put(b, s, text(size))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Get(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMemory streams a large file in and out.
func TestMemory(t *testing.T) {
	const size, limit = 64 * mib, 16 * mib
	block := text(3*mib + 11)
	s, _ := onDisk(t)
	a := sum(&flow{n: size, block: block})
	before := live()
	in := &gauge{r: &flow{n: size, block: block}}
	if err := s.PutFrom(in, a); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	out := &gauge{r: r}
	if n, err := io.Copy(io.Discard, out); n != size || err != nil {
		t.Fatal(n, err)
	}
	if in.max > before+limit || out.max > before+limit {
		t.Errorf("%d bytes live, then %d in, %d out", before, in.max, out.max)
	}
}

// gauge measures the memory in use as a stream passes, every 8 MiB.
type gauge struct {
	r   io.Reader
	n   int
	max uint64
}

func (g *gauge) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	if g.n/(8*mib) != (g.n+n)/(8*mib) {
		g.max = max(g.max, live())
	}
	g.n += n
	return n, err
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
