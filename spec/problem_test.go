package spec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis/spec"
)

var update = flag.Bool("update", false, "write the golden files")

func problems(t *testing.T, err error) spec.Problems {
	t.Helper()
	var ps spec.Problems
	if err != nil && !errors.As(err, &ps) {
		t.Fatalf("not problems: %v", err)
	}
	return ps
}

// brief is a problem without its words: "line:col path code".
func brief(ps spec.Problems) []string {
	list := []string{}
	for _, p := range ps {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", p.Line, p.Col, p.Path, p.Code)))
	}
	return list
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCases(t *testing.T) {
	for name, want := range map[string][]string{
		"52-spec-unknown-field.yaml": {"9:3 budgets.sumaryChars unknown-field"},
		"54-spec-implicit-types.yaml": {
			"1:10 version wrong-type",
			"3:7 name implicit-type",
			"17:14 publish.keepTimes implicit-type",
			"19:12 run.workers implicit-type",
			"20:14 run.onFailure implicit-type",
		},
		"55-spec-two-documents.yaml":         {"17:1  more-than-one-document"},
		"56-spec-secret-inline.yaml":         {"12:11 author.keyEnv secret-in-spec"},
		"58-spec-canonical-a.yaml":           {},
		"59-spec-canonical-b.yaml":           {},
		"60-spec-output-in-claude-tree.yaml": {"16:9 publish.path output-inside-claude-tree"},
		"62-spec-live-without-ack.yaml":      {},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := spec.Parse(name, read(t, name), nil)
			ps := problems(t, err)
			if d := cmp.Diff(want, brief(ps)); d != "" {
				t.Error(d)
			}
			golden(t, name, ps)
		})
	}
}

// golden compares both printed forms of the problems with testdata.
func golden(t *testing.T, name string, ps spec.Problems) {
	t.Helper()
	if len(ps) == 0 {
		return
	}
	var text bytes.Buffer
	if err := ps.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	list, err := json.MarshalIndent(ps, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(name, ".yaml")
	for file, got := range map[string][]byte{base + ".txt": text.Bytes(), base + ".json": append(list, '\n')} {
		if *update {
			if err := os.WriteFile(filepath.Join("testdata", file), got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(string(read(t, file)), string(got)); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// The mixed file has one of nearly every problem, in text that is hard to
// measure: tabs, wide and combining characters, flow style.
func TestMixed(t *testing.T) {
	_, err := spec.Parse("mixed.yaml", read(t, "mixed.yaml"), []string{"budgets.ratio=2", "mod.chain=leaf"})
	ps := problems(t, err)
	want := []string{
		"0:0 budgets.ratio out-of-range",
		"0:0 mod unknown-field",
		"2:1 version duplicate-key",
		"4:7 name implicit-type",
		"5:20 input.sessions[0] bad-glob",
		"5:36 input.籠 unknown-field",
		"5:49 input.agent unknown-value",
		"6:1 mode.summary missing-field",
		"8:9 checkpoints.max wrong-type",
		"9:32 publish.path secret-in-spec",
		"9:54 publish.keepTime unknown-field",
		"11:14  secret-in-spec",
	}
	if d := cmp.Diff(want, brief(ps)); d != "" {
		t.Error(d)
	}
	golden(t, "mixed.yaml", ps)
}

func TestCaretUnderWideText(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"abc: x", "     ^"},
		{"\tk: x", "\t   ^"},
		{"灯籠: x", "      ^"},
		{"e\u0301e: x", "    ^"},
		{"😀: x", "    ^"},
		{"ｋ: x", "    ^"},
	} {
		col := len([]rune(strings.TrimSuffix(c.source, "x"))) + 1
		ps := spec.Problems{{File: "f", Line: 1, Col: col, What: "w", Source: c.source}}
		var b strings.Builder
		if err := ps.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		want := "f:1:" + fmt.Sprint(col) + ": w\n    1 | " + c.source + "\n      | " + c.want + "\n"
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("%q: %s", c.source, d)
		}
	}
}

func TestProblemsError(t *testing.T) {
	one := spec.Problem{File: "f", Line: 2, Col: 3, Path: "a.b", What: "is odd", Hint: "even it out"}
	for _, c := range []struct {
		ps   spec.Problems
		want string
	}{
		{spec.Problems{one}, "f:2:3: a.b: is odd: even it out"},
		{spec.Problems{one, one, one}, "f:2:3: a.b: is odd: even it out (and 2 more)"},
		{spec.Problems{{File: "--set", What: "is odd"}}, "--set: is odd"},
		{spec.Problems{{File: "f", Line: 7, What: "is odd"}}, "f:7: is odd"},
	} {
		if got := c.ps.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("pipe closed") }

func TestWriteTextFails(t *testing.T) {
	if err := (spec.Problems{{What: "is odd"}}).WriteText(failingWriter{}); err == nil {
		t.Error("the writer's error was lost")
	}
}
