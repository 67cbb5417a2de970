package client_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// lines writes n records; parent gives the number of the one that a record hangs
// below, negative for none, and n or more for one that is not there.
func lines(n int, parent func(i int) int, body func(i int) string) []byte {
	var b bytes.Buffer
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		above := "null"
		if p := parent(i); p >= 0 {
			above = fmt.Sprintf("%q", id(p))
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,%s,"uuid":%q,"timestamp":%q}`+"\n", above, body(i), id(i), start.Add(time.Duration(i)*time.Second).Format("2006-01-02T15:04:05.000Z"))
	}
	return b.Bytes()
}

func id(i int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", i) }

func prompt(int) string { return `"type":"user","message":{"role":"user","content":"x"}` }

func fragment(i int) string {
	return fmt.Sprintf(`"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{}}]}`, i)
}

func note(int) string { return `"type":"attachment","attachment":{"type":"file"}` }

// huge are shapes on which a careless walk takes the square of their size.
var huge = []struct {
	name string
	make func(n int) []byte
	want int // records of the chain for n, negative for n itself
}{
	{"one line", func(n int) []byte { return lines(n, func(i int) int { return i - 1 }, prompt) }, -1},
	{"one message", func(n int) []byte { return lines(n, func(i int) int { return i - 1 }, fragment) }, -1},
	{"one message as a star", func(n int) []byte { return lines(n, func(i int) int { return min(0, i-1) }, fragment) }, -1},
	{"a circle", func(n int) []byte { return lines(n, func(i int) int { return (i + n - 1) % n }, prompt) }, -1},
	{"no parent is there", func(n int) []byte { return lines(n, func(i int) int { return n + i }, prompt) }, -1},
	{"notes without a message", func(n int) []byte {
		return lines(n, func(i int) int { return i - 2 }, func(i int) string {
			if i == 0 {
				return prompt(i)
			}
			return note(i)
		})
	}, 0},
	{"one long turn", func(n int) []byte {
		return lines(n, func(i int) int { return i - 1 }, func(i int) string {
			switch i % 4 {
			case 1:
				return fmt.Sprintf(`"type":"assistant","message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{}}]}`, i, i)
			case 2:
				return fmt.Sprintf(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"x"}]}`, i-1)
			case 3:
				return fmt.Sprintf(`"type":"attachment","attachment":{"type":"hook_success","toolUseID":"t%d"}`, i-2)
			}
			return `"type":"user","isMeta":true,"message":{"role":"user","content":"x"}`
		})
	}, -1},
	{"prompts between hooks", func(n int) []byte {
		return lines(n, func(i int) int { return i - 1 }, func(i int) string {
			if i%2 == 0 {
				return prompt(i)
			}
			return `"type":"attachment","attachment":{"type":"hook_success"}`
		})
	}, -1},
	{"damage between", func(n int) []byte {
		return lines(n, func(i int) int { return i - 2 }, func(i int) string {
			if i%2 == 1 {
				return `"torn"`
			}
			return prompt(i)
		})
	}, 0},
	{"two notes in a circle, the others below", func(n int) []byte {
		notes := lines(n, func(i int) int { return [...]int{-1, 2, 1, 1}[min(i, 3)] }, func(i int) string {
			if i == 0 {
				return prompt(i)
			}
			return note(i)
		})
		return fmt.Appendf(notes, `{"type":"last-prompt","leafUuid":%q}`+"\n", id(1))
	}, 0},
	{"notes below a call", func(n int) []byte {
		return lines(n, func(i int) int { return i - 1 }, func(i int) string {
			if i == 0 {
				return fragment(i)
			}
			return note(i)
		})
	}, -1},
}

// With 200,000 records in each shape this test ends at once; it would take hours
// if anything were done for each pair of them.
func TestHugeShapes(t *testing.T) {
	const n = 200_000
	for _, h := range huge {
		t.Run(h.name, func(t *testing.T) {
			data := h.make(n)
			for _, version := range client.Versions() {
				_, r := resolve(t, data, version)
				if r.Refused != "" || h.want < 0 && len(r.Active) != n {
					t.Errorf("%s: refused %q, %d active", version, r.Refused, len(r.Active))
				}
				r.Findings()
				client.Losses(r)
			}
		})
	}
}

func BenchmarkResolve(b *testing.B) {
	var buf bytes.Buffer
	if _, err := st.Generate(&buf, 64<<20, 1); err != nil {
		b.Fatal(err)
	}
	benchmark(b, buf.Bytes())
}

// BenchmarkHuge is the time per record, which must not grow with their number.
func BenchmarkHuge(b *testing.B) {
	for _, h := range huge {
		for _, n := range []int{50_000, 200_000} {
			b.Run(fmt.Sprintf("%s/%d", h.name, n), func(b *testing.B) {
				benchmark(b, h.make(n))
			})
		}
	}
}

func benchmark(b *testing.B, data []byte) {
	x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	for _, version := range client.Versions() {
		rules, _ := client.Known(version)
		b.Run(version, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := client.Resolve(transcript.NewSource(x, bytes.NewReader(data)), rules)
				if err != nil || r.Refused != "" {
					b.Fatal(r.Refused, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x.Records)), "ns/record")
		})
	}
}
