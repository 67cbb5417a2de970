package pack

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/evidence"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// fataler is a test, a benchmark or a property.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func open(t fataler, data []byte) *transcript.Source {
	t.Helper()
	x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
	if err != nil || len(x.Damage) > 0 {
		t.Fatalf("%v, damage %v", err, x.Damage)
	}
	return transcript.NewSource(x, bytes.NewReader(data))
}

// request is one with the default ceilings over the first n records.
func request(n int) Request {
	r := Request{Mode: "pointer", Leaf: "leaf", Terms: DefaultTerms(), Binding: evidence.Request{PackChars: 500_000, PackTokens: 150_000}}
	for i := range n {
		r.Fold = append(r.Fold, i)
	}
	return r
}

func mustBuild(t fataler, src *transcript.Source, r Request) *Pack {
	t.Helper()
	p, err := Build(src, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ofLines is the pack of a session of these lines, all folded.
func ofLines(t *testing.T, lines ...string) *Pack {
	t.Helper()
	return mustBuild(t, open(t, []byte(strings.Join(lines, "\n")+"\n")), request(len(lines)))
}

// evidenceLines are the lines between the two headings.
func evidenceLines(p *Pack) string {
	_, rest, _ := strings.Cut(string(p.Text), recordsHeading+"\n\n")
	lines, _, _ := strings.Cut(rest, "\n"+handoffHeading)
	return lines
}

func user(content string) string { return userWith("", content) }

func userWith(members, content string) string {
	return fmt.Sprintf(`{"type":"user",%s"message":{"role":"user","content":%s}}`, members, content)
}

func answer(blocks string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[%s]}}`, blocks)
}

func result(members, text string) string {
	return user(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t"%s,"content":%q}]`, members, text))
}
