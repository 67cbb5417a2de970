package inspect_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs/inspect"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

func BenchmarkInspect(b *testing.B) {
	var buf bytes.Buffer
	if _, err := st.Generate(&buf, 64<<20, 1); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := inspect.Inspect(context.Background(), fsys.OS(), path, inspect.Options{}, func(int64, int64) {}); err != nil {
			b.Fatal(err)
		}
	}
}
