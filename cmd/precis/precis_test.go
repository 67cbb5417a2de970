package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"precis": main, "mechanical": mechanical})
}

// TestScript runs the program as a person does. The scripts find the module's
// test data by environment variables.
func TestScript(t *testing.T) {
	data := map[string]string{
		"SESSIONS": "../../testdata/sessions",
		"CASES":    "../../testdata/cases",
		"VECTORS":  "../../testdata/vectors",
		"SPECS":    "../../spec/testdata",
		"EXAMPLE":  "../../jobs/compress/example.yaml",
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			for name, path := range data {
				abs, err := filepath.Abs(path)
				if err != nil {
					return err
				}
				env.Setenv(name, abs)
			}
			newModelService().setUp(env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"age":  ageCommand,
			"code": codeCommand,
			"cut":  cutCommand,
			"flip": flipCommand,
			"json": jsonCommand,
			"keys": keysCommand,
			"list": listCommand,
			"mode": modeCommand,
			"mask": maskCommand,
			"same": sameCommand,
			"sums": sumsCommand,

			"service": serviceCommand,
		},
	})
}

// codeCommand runs precis and holds it to an exit code: code 2 run job.yaml.
func codeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: code N [ARG...]")
	}
	err := ts.Exec("precis", args[1:]...)
	got := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// document is the JSON document of a file, or of its last line.
func document(ts *testscript.TestScript, file string) any {
	text := strings.TrimSpace(ts.ReadFile(file))
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	for line := range strings.Lines(text) {
		v = nil
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			ts.Fatalf("%s holds more than JSON lines: %v", file, err)
		}
	}
	return v
}

// member follows a path such as items.0.status; a list has a length.
func member(v any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch parent := v.(type) {
		case map[string]any:
			next, ok := parent[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			switch {
			case name == "length":
				v = float64(len(parent))
			case err != nil || i >= len(parent):
				return nil, false
			default:
				v = parent[i]
			}
		default:
			return nil, false
		}
	}
	return v, true
}

// jsonCommand holds a value of a JSON document, or of the last of several lines,
// to a regular expression: json stdout items.0.status done. With ! the member
// must be absent.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 && (!neg || len(args) != 2) {
		ts.Fatalf("usage: [!] json FILE PATH [REGEXP]")
	}
	v, found := member(document(ts, args[0]), args[1])
	switch {
	case neg && found:
		ts.Fatalf("%s is there", args[1])
	case neg:
	case !found:
		ts.Fatalf("%s is not there", args[1])
	default:
		text := fmt.Sprint(v)
		if n, ok := v.(float64); ok {
			text = strconv.FormatFloat(n, 'f', -1, 64)
		}
		if !regexp.MustCompile("^(?:" + args[2] + ")$").MatchString(text) {
			ts.Fatalf("%s is %q, want %s", args[1], text, args[2])
		}
	}
}

// keysCommand demands members of an object: keys stdout . file bytes sha256.
func keysCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: keys FILE PATH NAME...")
	}
	v, found := document(ts, args[0]), true
	if args[1] != "." {
		v, found = member(v, args[1])
	}
	object, ok := v.(map[string]any)
	if !found || !ok {
		ts.Fatalf("%s is no object", args[1])
	}
	for _, name := range args[2:] {
		if _, ok := object[name]; !ok {
			ts.Fatalf("%s has no %s", args[1], name)
		}
	}
}

// sameCommand compares a member of two documents: same request a.json b.json.
func sameCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] same PATH FILE FILE")
	}
	a, inA := member(document(ts, args[1]), args[0])
	b, inB := member(document(ts, args[2]), args[0])
	if !inA || !inB || (fmt.Sprint(a) == fmt.Sprint(b)) == neg {
		ts.Fatalf("%s is %v in %s and %v in %s", args[0], a, args[1], b, args[2])
	}
}

// modeCommand holds every file and folder below a path to the permissions of
// precis: 0600 and 0700.
func modeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mode PATH")
	}
	files := 0
	ts.Check(filepath.Walk(ts.MkAbs(args[0]), func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if info.Mode().Perm() != want {
			return fmt.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want)
		}
		return nil
	}))
	if files == 0 {
		ts.Fatalf("%s holds no file", args[0])
	}
}

// masks are what a golden text of a run cannot hold: the id of the run, and what
// depends on the text of the summary.
var masks = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}(-[0-9a-f]{4}-[0-9a-f]{12})?`), "RUN"},
	{regexp.MustCompile(`→ [\d,.]+( [kM]?B)?, \d+ % (less|more)`), "→ AFTER$1, PERCENT"},
	{regexp.MustCompile(`[\d,]+ of at most`), "VALUE of at most"},
}

// maskCommand writes a file with the masks in place: mask stdout got.
func maskCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask FROM TO")
	}
	text := []byte(ts.ReadFile(args[0]))
	for _, m := range masks {
		text = m.re.ReplaceAll(text, []byte(m.with))
	}
	text = bytes.ReplaceAll(text, []byte(ts.Getenv("WORK")), []byte("WORK"))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
}
