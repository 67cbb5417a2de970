package topology_test

import (
	"bytes"
	"testing"

	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

func BenchmarkSelect(b *testing.B) {
	var buf bytes.Buffer
	if _, err := st.Generate(&buf, 16<<20, 1); err != nil {
		b.Fatal(err)
	}
	x, err := transcript.Read(bytes.NewReader(buf.Bytes()), func(int64) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if s := topology.Select(x, pointer); !s.OK() {
			b.Fatal(s.Status)
		}
	}
}
