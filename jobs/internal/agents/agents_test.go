package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ what, head, want string }{
		{"a prompt", `{"type":"user","uuid":"u","message":{}}`, Claude},
		{"session state first", `{"type":"mode","mode":"normal","sessionId":"s"}`, Claude},
		{"a snapshot first", `{"type":"file-history-snapshot","messageId":"m"}`, Claude},
		{"a byte order mark", "\ufeff" + `{"type":"user","uuid":"u"}`, Claude},
		{"a row of a new type first", `{"type":"pr-link","n":1}` + "\n" + `{"type":"user","uuid":"u"}`, Claude},
		{"a torn line first", `{"type":"us` + "\n" + `{"type":"user","uuid":"u"}`, Claude},
		{"a rollout", `{"timestamp":"t","type":"session_meta","payload":{}}`, Codex},
		{"gemini's lines", `{"sessionId":"s","projectHash":"p"}`, Gemini},
		{"gemini's document", "{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"p\",\n  \"messages\": [", Gemini},
		{"events with dots", `{"type":"session.start","data":{},"id":"e"}`, Copilot},
		{"droid", `{"type":"session_start","id":"d","title":"t"}`, Droid},
		{"an export", "{\n  \"info\": {\n    \"id\": \"ses_1\"", OpenCode},
		{"pi", `{"type":"session","id":"p","cwd":"/"}`, Pi},
		{"something else", `{"a":1}`, Unknown},
		{"no JSON", "hello\n", Unknown},
		{"nothing", "", Unknown},
	} {
		if got := Detect([]byte(c.head)); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// The cases name their agent; those without a name are Claude's.
func TestDetectCases(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/cases/*.jsonl")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		want := Claude
		for _, a := range []string{Codex, Gemini, Pi} {
			if strings.Contains(f, "-"+a+"-") {
				want = a
			}
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := Detect(data[:min(len(data), HeadBytes)]); got != want {
			t.Errorf("%s: %s, want %s", filepath.Base(f), got, want)
		}
	}
}
