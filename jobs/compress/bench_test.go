package compress_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/jobs/compress"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/spec"
)

// BenchmarkCompress is the whole job on the real disk: read, select, fold,
// compose, verify, publish, report.
func BenchmarkCompress(b *testing.B) {
	var buf bytes.Buffer
	if _, err := st.Generate(&buf, 64<<20, 1); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), buf.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	size := int64(buf.Len())
	buf = bytes.Buffer{}
	job, err := spec.Parse(filepath.Join(dir, "job.yaml"), []byte(jobText), []string{
		`input.sessions=["s.jsonl"]`, `publish.path="out/{session}.jsonl"`, "budgets.keepRecords=120",
	})
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(engine.OSEnv(filepath.Join(dir, "state"), hclog.NewNullLogger()), compress.Kind{})
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := e.Run(context.Background(), job, engine.Options{}); r.Exit != 0 {
			b.Fatal(err, r.Items)
		}
	}
}
