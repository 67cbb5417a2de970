package evidence

import (
	"bytes"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

func record(t *testing.T, line string) (*transcript.Source, []byte) {
	t.Helper()
	x, err := transcript.Read(strings.NewReader(line), func(int64) error { return nil })
	if err != nil || len(x.Records) != 1 {
		t.Fatalf("%v, %d records", err, len(x.Records))
	}
	src := transcript.NewSource(x, bytes.NewReader([]byte(line)))
	b, err := src.Record(0)
	if err != nil {
		t.Fatal(err)
	}
	return src, b
}

func TestSemantic(t *testing.T) {
	for line, want := range map[string]string{
		`{"message":{"content":"a\n"},"content":"no"}`:  "a\n",
		`{"message":{},"content":"no"}`:                 "",
		`{"message":"a","content":"no"}`:                "a",
		`{"message":null,"content":["a",{"text":"b"}]}`: "a\nb",
		`{"content":7}`: "",
		`{}`:            "",
		`{"message":{"content":[{"type":"thinking","thinking":"a","text":"no"},{"type":"thinking","text":"b"},{"type":"thinking","thinking":""},{"type":"text","text":7},{"type":"tool_use","text":"no"},{"type":"redacted_thinking","thinking":"no"},3,null,"c"]}}`: "a\nb\nc",
	} {
		src, b := record(t, line)
		if got := Semantic(&src.Records[0], b); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func TestText(t *testing.T) {
	long := strings.Repeat("é", maxInput)
	for line, want := range map[string]string{
		`{"type":"user","message":{"content":"a"}}`: "a",
		`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"tool_result","content":"b"}]},"c"]}}`: "a\n[image]\nb\nc",
		`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"a"},{"type":"tool_use","name":"Bash","input":{"command":"` + long + `"}}]}}`:                        "a\nBash {\"command\":\"" + long[:maxInput-12],
		`{"type":"attachment","attachment":{"stdout":"c","type":"hook","x":"no","content":["b"]}}`:                                                                                    "hook\nb\nc",
		`{"type":"system","subtype":"a","content":"b","error":"c"}`:                                                                                                                   "a\nb\nc",
		`{"type":"system","error":{"x":1}}`:                                                `{"x":1}`,
		`{"type":"system","error":null}`:                                                   "",
		`{"type":"file-history-snapshot","snapshot":{"trackedFileBackups":{"a":1,"b":2}}}`: "file history: 2 files",
		`{"type":"file-history-snapshot","snapshot":{"trackedFileBackups":{}}}`:            "",
		`{"type":"progress","data":"no"}`:                                                  "",
		`{"type":"user"}`:                                                                  "",
	} {
		src, b := record(t, line)
		if got, cut := Text(nil, src, 0, b, 0); string(got) != want || cut {
			t.Errorf("%s: %q, %v", line, got, cut)
		}
	}
}

// A limit ends the text near it, and is told.
func TestTextLimit(t *testing.T) {
	src, b := record(t, `{"type":"user","message":{"content":[{"type":"tool_result","content":"0123456789"},{"type":"tool_result","content":"0123456789"},{"type":"tool_result","content":"no"}]}}`)
	for limit, want := range map[int]string{4: "0123", 15: "0123456789\n01234", 10: "0123456789\n"} {
		got, cut := Text([]byte("="), src, 0, b, limit+1)
		if !strings.HasPrefix("="+want+"\n", string(got)) || !cut {
			t.Errorf("%d: %q, %v", limit, got, cut)
		}
	}
}
