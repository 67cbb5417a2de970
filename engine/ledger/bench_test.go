package ledger_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

const many = 10_000

// large is a ledger of many records of eight steps each, on a disk.
func large(b *testing.B) (name string) {
	b.Helper()
	name = filepath.Join(b.TempDir(), "ledger")
	var records []ledger.Record
	for n := range many {
		r := record(fmt.Sprint("/sessions/", n), "r", fmt.Sprintf("/out/%d=%064d", n, n))
		one := r.Steps[0]
		for s := range 7 {
			one.Published = nil
			one.Step = fmt.Sprint("step", s)
			one.Artifacts = map[string]step.Artifact{"out": {SHA256: fmt.Sprintf("%064d", n), Bytes: 1}}
			one.Components.Inputs = []plan.Input{{Name: "in", Digest: fmt.Sprintf("sha256:%064d", s)}}
			r.Steps = append(r.Steps, one)
		}
		records = append(records, r)
	}
	l, err := ledger.Open(fsys.OS(), name, owner)
	must(b, err)
	must(b, l.Append(records))
	must(b, l.Close())
	return name
}

func BenchmarkOpen(b *testing.B) {
	name := large(b)
	info, err := fsys.OS().Stat(name)
	must(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		l, err := ledger.Open(fsys.OS(), name, owner)
		must(b, err)
		must(b, l.Close())
	}
}

func BenchmarkItem(b *testing.B) {
	l, err := ledger.Open(fsys.OS(), large(b), owner)
	must(b, err)
	defer l.Close()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if run(b, l, fmt.Sprint("/sessions/", n%many)) == "" {
			b.Fatal("not found")
		}
		n++
	}
}
