package modelsummary_test

import (
	"fmt"
	"strings"
	"testing"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
)

// large is a pack of n claims and a summary with about 60,000 characters of prose.
func large(b *testing.B, n int) (ms.Expect, []byte) {
	e := ms.Expect{Records: n, Header: expect().Header, Groups: map[string]int{}, Claims: map[int]string{}}
	e.Header.Handoff = "none"
	for i := 1; i <= n; i++ {
		e.Summary, e.Shown = append(e.Summary, i), append(e.Shown, i)
		e.Claims[i] = strings.Repeat(fmt.Sprintf("Step %d went as “planned”. ", i), 5)
		e.Groups[fmt.Sprintf("semantic-human-user-L%09d", i)] = i
	}
	p := pack(ms.Expect{Header: e.Header, Shown: e.Shown, Claims: e.Claims}, nil)
	text, err := mechanical.Write(p)
	if err != nil {
		b.Fatal(err)
	}
	prose := strings.Repeat("- The step went as it was planned, which is known, L17, and was read again [L12, L14]\n", 700)
	return e, []byte(swap(string(text), ms.Sections[1], prose+"\n"+ms.Sections[1]))
}

func BenchmarkCheck(b *testing.B) {
	e, text := large(b, 5000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := ms.Check(text, e); len(problems) > 0 {
			b.Fatal(told(problems[:1]))
		}
	}
}

// BenchmarkForeign checks a summary of another pack: everything is wrong with it.
func BenchmarkForeign(b *testing.B) {
	e, text := large(b, 5000)
	for n := range e.Claims {
		e.Claims[n] = strings.ToUpper(e.Claims[n])
	}
	e.Shown = e.Shown[:1]
	for b.Loop() {
		_, problems := ms.Check(text, e)
		if r := ms.Report(problems); len(r) > 10_000 {
			b.Fatal(r)
		}
	}
}
