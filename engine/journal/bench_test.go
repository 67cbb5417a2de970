package journal_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// life is the entries of an item with one step.
func life(id string) []journal.Body {
	return []journal.Body{item(id), started(id, "s"), done(id, "s"), ended(id, step.Done)}
}

// BenchmarkCommit makes items durable, four entries each.
func BenchmarkCommit(b *testing.B) {
	b.Run("memory", func(b *testing.B) { commits(b, mem(), file) })
	b.Run("disk", func(b *testing.B) { commits(b, fsys.OS(), filepath.Join(b.TempDir(), "j")) })
}

func commits(b *testing.B, f afero.Fs, name string) {
	j, err := journal.Open(f, name, owner, now, nil)
	must(b, err)
	defer j.Close()
	must(b, j.Append(opened(0)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		one(b, j, n)
		n++
	}
}

// BenchmarkCommitOfMany has 16 writers for each processor, which share lines.
func BenchmarkCommitOfMany(b *testing.B) {
	j, err := journal.Open(fsys.OS(), filepath.Join(b.TempDir(), "j"), owner, now, nil)
	must(b, err)
	defer j.Close()
	must(b, j.Append(opened(0)))
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			one(b, j, int(n.Add(1)))
		}
	})
}

func one(b *testing.B, j *journal.Journal, n int) {
	for _, e := range life(fmt.Sprint(n)) {
		if err := j.Append(e); err != nil {
			b.Error(err)
		}
	}
	if err := j.Commit(); err != nil {
		b.Error(err)
	}
}

// BenchmarkScan folds a journal of 10,000 items.
func BenchmarkScan(b *testing.B) {
	f := mem()
	j := running(b, f)
	for n := range 10_000 {
		for _, e := range life(fmt.Sprint(n)) {
			must(b, j.Append(e))
		}
		if n%8 == 0 {
			must(b, j.Commit())
		}
	}
	must(b, j.Commit())
	b.SetBytes(int64(len(content(b, f))))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.Scan(f, file, nil); err != nil {
			b.Fatal(err)
		}
	}
}
