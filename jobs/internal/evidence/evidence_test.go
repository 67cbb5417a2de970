package evidence

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis/jobs/internal/summary"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// told is an entry with what it gives on request, for comparison.
type told struct {
	Kind      summary.Kind
	Text      string
	Tool, ID  string
	Input     map[string]string
	IsError   bool
	Meta      bool
	Synthetic bool
}

func entries(t *testing.T, line string) []told {
	t.Helper()
	x, err := transcript.Read(strings.NewReader(line), func(int64) error { return nil })
	if err != nil || len(x.Records) != 1 || len(x.Damage) > 0 {
		t.Fatalf("%v, %d records, damage %v", err, len(x.Records), x.Damage)
	}
	list, err := Entries(transcript.NewSource(x, bytes.NewReader([]byte(line))), 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []told
	for _, e := range list {
		if e.N != 1 {
			t.Errorf("record number %d", e.N)
		}
		g := told{Kind: e.Kind, Text: e.Text, Tool: e.Tool, ID: e.ToolID, IsError: e.IsError, Meta: e.Meta, Synthetic: e.Synthetic}
		if e.Load != nil {
			g.Text = e.Load()
		}
		for _, f := range e.Input {
			if g.Input == nil {
				g.Input = map[string]string{}
			}
			g.Input[f.Name] = f.Load()
		}
		out = append(out, g)
	}
	return out
}

func TestEntries(t *testing.T) {
	user := func(content string) string {
		return `{"type":"user","uuid":"u","message":{"role":"user","content":` + content + `}}`
	}
	for _, c := range []struct {
		what, line string
		want       []told
	}{
		{"words", user(`"Do \u00e9\n it."`), []told{{Kind: summary.Prompt, Text: "Do é\n it."}}},
		{"blank", user(`" \n"`), nil},
		{"the client's own", `{"type":"user","isMeta":true,"message":{"content":"Caveat"}}`, []told{{Kind: summary.Prompt, Text: "Caveat", Meta: true}}},
		{"an earlier summary", `{"type":"user","isCompactSummary":true,"message":{"content":"Before."}}`, []told{{Kind: summary.Prior, Text: "Before."}}},
		{"a command", user(`"<command-name>/compact</command-name>"`), []told{{Kind: summary.Command, Text: "<command-name>/compact</command-name>"}}},
		{"results alone", user(`[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"two"},{"type":"image"},{"type":"text","text":"more"}]}]`), []told{
			{Kind: summary.Result, Text: "one", ID: "t1"}, {Kind: summary.Result, Text: "two\nmore", ID: "t2", IsError: true},
		}},
		{"a result with words", user(`[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"text","text":"And now?"},{"type":"image","source":{}}]`), []told{
			{Kind: summary.Result, Text: "one", ID: "t1"}, {Kind: summary.Prompt, Text: "And now?"}, {Kind: summary.Note, Text: "[image]"},
		}},
		{"an answer", `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Yes."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","n":1}}]}}`, []told{
			{Kind: summary.Thinking, Text: "Hm."}, {Kind: summary.Answer, Text: "Yes."},
			{Kind: summary.Call, Tool: "Bash", ID: "t1", Input: map[string]string{"command": "ls", "n": "1"}},
		}},
		{"an error row", `{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}`, []told{{Kind: summary.Error, Text: "API Error", Synthetic: true}}},
		{"trouble", `{"type":"system","subtype":"api_error","error":{"status":529}}`, []told{{Kind: summary.Error, Text: "api_error", Synthetic: true}}},
		{"a local command", `{"type":"system","subtype":"local_command","content":"!ls"}`, []told{{Kind: summary.Command, Text: "!ls"}}},
		{"nothing to say", `{"type":"system","subtype":"turn_duration"}`, nil},
		{"words in the queue", `{"type":"attachment","attachment":{"type":"queued_command","prompt":"Wait."}}`, []told{{Kind: summary.Prompt, Text: "Wait."}}},
		{"another attachment", `{"type":"attachment","attachment":{"type":"file","prompt":"no"}}`, nil},
		{"progress", `{"type":"progress","data":{"text":"no"}}`, nil},
	} {
		if d := cmp.Diff(c.want, entries(t, c.line)); d != "" {
			t.Errorf("%s: %s", c.what, d)
		}
	}
}

// Of a text without end only the beginning is read.
func TestLongTexts(t *testing.T) {
	line := `{"type":"user","message":{"content":"` + strings.Repeat("word ", 100_000) + `"}}`
	got := entries(t, line)
	if len(got) != 1 || len(got[0].Text) > maxText || len(got[0].Text) < maxText/2 {
		t.Errorf("%d entries, %d bytes", len(got), len(got[0].Text))
	}
}
