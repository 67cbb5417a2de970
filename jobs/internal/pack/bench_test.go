package pack

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

const long = 100 << 20

var longSession = sync.OnceValues(func() ([]byte, error) {
	var b bytes.Buffer
	_, err := st.Generate(&b, long, 1)
	return b.Bytes(), err
})

// folded is the session with all of its conversation folded but the end.
func folded(b *testing.B) (*transcript.Source, Request) {
	data, err := longSession()
	if err != nil {
		b.Fatal(err)
	}
	src := open(b, data)
	sel := topology.Select(src.Index, topology.Options{Mode: topology.Pointer})
	if !sel.OK() {
		b.Fatal(sel.Status)
	}
	r := request(0)
	r.Fold = sel.Active[:len(sel.Active)-100]
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	return src, r
}

// foldedWithRoom has ceilings that leave as much room for optional evidence as a
// pack has at most by default.
func foldedWithRoom(b *testing.B) (*transcript.Source, Request) {
	src, r := folded(b)
	_, err := Build(src, r)
	e, ok := errors.AsType[*TooLarge](err)
	if !ok {
		b.Fatal(err)
	}
	r.Binding.PackChars, r.Binding.PackTokens = e.Chars+500_000, e.Tokens+150_000
	return src, r
}

// BenchmarkBuild makes one pack.
func BenchmarkBuild(b *testing.B) {
	src, r := foldedWithRoom(b)
	for b.Loop() {
		p := mustBuild(b, src, r)
		b.ReportMetric(float64(p.Chars), "chars")
		b.ReportMetric(float64(len(p.Claims)), "claims")
		b.ReportMetric(float64(len(p.Anchors)), "anchors")
	}
}

// BenchmarkBuildAndCheck makes the pack again and checks a summary against it.
func BenchmarkBuildAndCheck(b *testing.B) {
	src, r := foldedWithRoom(b)
	text, err := mechanical.Write(mustBuild(b, src, r).Text)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, problems := modelsummary.Check(text, mustBuild(b, src, r).Expect()); len(problems) > 0 {
			b.Fatal(modelsummary.Report(problems))
		}
	}
}

// BenchmarkRefuse finds that a fold exceeds the default ceilings.
func BenchmarkRefuse(b *testing.B) {
	src, r := folded(b)
	for b.Loop() {
		if _, err := Build(src, r); err == nil {
			b.Fatal("it fits")
		}
	}
}

// BenchmarkStaged divides a fold by the default ceilings and makes all packs.
func BenchmarkStaged(b *testing.B) {
	src, r := folded(b)
	for b.Loop() {
		parts, err := Split(src, r, anywhere)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(parts)), "parts")
		for _, fold := range parts {
			part := r
			part.Fold = fold
			mustBuild(b, src, part)
		}
	}
}
