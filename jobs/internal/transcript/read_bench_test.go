package transcript

import (
	"bytes"
	"os"
	"testing"
)

func BenchmarkReadTmp(b *testing.B) {
	data, err := os.ReadFile("/tmp/bench/s100.jsonl")
	if err != nil {
		b.Skip()
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(data), func(int64) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
