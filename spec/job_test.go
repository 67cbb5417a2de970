package spec_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/spec"
)

const long = `version: 1
kind: compress
name: fold
input:
  sessions: ["s/*.jsonl", t.jsonl]
  exclude:
    - s/old.jsonl
  handoff: notes.txt
mode:
  chain: leaf
  leaf: 36e1a85a
  summary: model
budgets: {ratio: 0.25, bytes: 9007199254740991}
author:
  by: command
  command: [sh, -c, "cat > x"]
publish:
  path: out/{session}.jsonl
  quiet: 1h30m
  keepTimes: false
run: {workers: 2}
`

func TestJob(t *testing.T) {
	job := parse(t, long)
	want := spec.Job{
		Version: 1, Kind: "compress", Name: "fold",
		Input: spec.Input{Sessions: []string{"s/*.jsonl", "t.jsonl"}, Exclude: []string{"s/old.jsonl"}, Agent: "auto", Handoff: "notes.txt"},
		Mode:  spec.Mode{Chain: "leaf", Leaf: "36e1a85a", Summary: "model", PriorSummaries: "fold", Embed: "prose"},
		Budgets: spec.Budgets{Ratio: 0.25, Tokens: 150000, Bytes: 9007199254740991, KeepRecords: 120, SummaryChars: 60000,
			PackChars: 500000, PackTokens: 150000},
		Checkpoints: spec.Checkpoints{Policy: "active-correlated", Max: 80},
		Author:      spec.Author{By: "command", Command: []string{"sh", "-c", "cat > x"}, Env: []string{}, Timeout: spec.Duration(10 * time.Minute), Attempts: 3, Fold: "single"},
		Publish:     spec.Publish{To: "candidate", Path: "out/{session}.jsonl", Quiet: spec.Duration(90 * time.Minute)},
		Run:         spec.Run{Workers: 2, OnFailure: "continue", Timeout: spec.Duration(30 * time.Minute)},
		File:        "job.yaml", Dir: ".",
	}
	ignored := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".canonical" || name == ".text" || name == ".spots"
	}, cmp.Ignore())
	if d := cmp.Diff(want, *job, ignored); d != "" {
		t.Error(d)
	}
	if got := job.Publish.Quiet.String(); got != "1h30m0s" {
		t.Error(got)
	}
}

func TestPosition(t *testing.T) {
	job := parse(t, long, "run.onFailure=stop", "checkpoints={max: 3}")
	for _, c := range []struct {
		path      string
		line, col int
	}{
		{"version", 1, 10},
		{"input.sessions", 5, 13},
		{"input.sessions[0]", 5, 14},
		{"input.sessions[1]", 5, 27},
		{"input.exclude[0]", 7, 7},
		{"input.agent", 4, 1},       // not written: its section
		{"input.sessions[7]", 5, 3}, // no such item: its list
		{"mode.leaf", 11, 9},
		{"budgets", 13, 10},
		{"budgets.ratio", 13, 18},
		{"publish.to", 17, 1},
		{"publish.path", 18, 9},
		{"checkpoints.max", 0, 0}, // assigned
		{"run.onFailure", 0, 0},
		{"run.workers", 21, 16},
		{"", 1, 1},
		{"nonsense", 1, 1},
	} {
		if line, col := job.Position(c.path); line != c.line || col != c.col {
			t.Errorf("%s: got %d:%d, want %d:%d", c.path, line, col, c.line, c.col)
		}
	}
}

func TestResolve(t *testing.T) {
	job, err := spec.Parse(filepath.Join("jobs", "a", "job.yaml"), []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("x")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"":                               "",
		"out":                            filepath.Join("jobs", "a", "out"),
		filepath.Join("..", "..", "out"): "out",
		abs:                              abs,
	} {
		if got := job.Resolve(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestAssignments(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want []string
	}{
		{[]string{"budgets.keepRecords=40"}, nil},
		{[]string{"name= fold "}, nil},
		{[]string{"name=\"a # b\""}, nil},
		{[]string{"name=a=b"}, nil},
		{[]string{"input.sessions=[a, b]"}, nil},
		{[]string{"name=1", "name=x"}, nil}, // the last one counts
		{[]string{"budgets={ratio: 9}", "budgets={}"}, nil},
		{[]string{"name"}, []string{"0:0  bad-assignment"}},
		{[]string{"=x"}, []string{"0:0  bad-assignment"}},
		{[]string{"a..b=x"}, []string{"0:0  bad-assignment"}},
		{[]string{" name=x"}, []string{"0:0  bad-assignment"}},
		{[]string{"name=a # b"}, []string{"0:0  bad-assignment"}},
		{[]string{"name=# b"}, []string{"0:0  bad-assignment"}},
		{[]string{"name=[a"}, []string{"0:0  bad-assignment"}},
		{[]string{"budgets=ratio: 0.2"}, []string{"0:0  bad-assignment"}},
		{[]string{"input.sessions=- a"}, []string{"0:0  bad-assignment"}},
		{[]string{"name=a\n---\nb"}, []string{"0:0  bad-assignment"}},
		{[]string{"name=\xff"}, []string{"0:0  bad-assignment"}},
		{[]string{"name="}, []string{"0:0 name wrong-type"}},
		{[]string{"name=yes"}, []string{"0:0 name implicit-type"}},
		{[]string{"name=!!str 1"}, []string{"0:0 name tag"}},
		{[]string{"name=*x"}, []string{"0:0  bad-assignment"}},
		{[]string{"name.first=x"}, []string{"0:0 name wrong-type"}},
		{[]string{"version.major=x"}, []string{"0:0 version wrong-type"}},
		{[]string{"budget.ratio=0.2"}, []string{"0:0 budget unknown-field"}},
		{[]string{"budgets.rati=0.2"}, []string{"0:0 budgets.rati unknown-field"}},
		{[]string{"budgets.ratio=2"}, []string{"0:0 budgets.ratio out-of-range"}},
		{[]string{"run={workers: 1, workers: 2}"}, []string{"0:0 run.workers duplicate-key"}},
		{[]string{"publish.to=replace"}, []string{"5:1 publish.workDir missing-field"}},
		{[]string{"publish={to: replace}"}, []string{"0:0 publish.workDir missing-field"}},
		{[]string{"kind=x"}, []string{"0:0 kind unknown-kind"}},
		{[]string{"kind=", "budgets.ratio=2"}, []string{"0:0 budgets.ratio out-of-range", "0:0 kind missing-field"}},
	} {
		if d := cmp.Diff(c.want, parsed(t, small, c.set...), cmpEmpty); d != "" {
			t.Errorf("%q: %s", c.set, d)
		}
	}
}

func TestAssignmentIsNamed(t *testing.T) {
	_, err := spec.Parse("job.yaml", []byte(small), []string{"run.workers=2", "budgets.rati=0.2"})
	ps := problems(t, err)
	want := spec.Problems{{File: "--set", Path: "budgets.rati", Code: "unknown-field", What: "is not a field",
		Hint: "did you mean ratio?", Source: "budgets.rati=0.2"}}
	if d := cmp.Diff(want, ps); d != "" {
		t.Error(d)
	}
}

// An assignment replaces a value of the file before that is judged.
func TestAssignmentMendsTheFile(t *testing.T) {
	if got := parsed(t, small+"name: yes\nbudgets: {ratio: 7}\n", "name=x", "budgets.ratio=0.2"); len(got) > 0 {
		t.Error(got)
	}
	job := parse(t, small, "name=' fold '", "budgets.keepRecords=40", "run={workers: 3}", "mode.client=2.1.197")
	if job.Name != " fold " || job.Budgets.KeepRecords != 40 || job.Run.Workers != 3 || job.Mode.Client != "2.1.197" {
		t.Errorf("got %+v", job)
	}
}

// linkFs is a filesystem with one symbolic link.
type linkFs struct {
	afero.Fs
	from, to string
	err      error
}

func (l linkFs) Resolve(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, l.from); ok {
		name = l.to + rest
	}
	return name, l.err
}

// wrapped hides what it wraps, as an overlay does.
type wrapped struct{ afero.Fs }

func (w wrapped) Unwrap() afero.Fs { return w.Fs }

func TestLoad(t *testing.T) {
	mem := afero.NewMemMapFs()
	text := head + "mode: {summary: deterministic}\npublish: {path: out/a.jsonl}\n"
	if err := afero.WriteFile(mem, "/jobs/job.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	job, err := spec.Load(mem, "/jobs/job.yaml", []string{"name=x"})
	if err != nil {
		t.Fatal(err)
	}
	if job.Name != "x" || job.File != "/jobs/job.yaml" || job.Dir != "/jobs" {
		t.Errorf("got %+v", job)
	}

	link := wrapped{linkFs{Fs: mem, from: "/jobs/out", to: "/home/o/.claude/projects"}}
	_, err = spec.Load(link, "/jobs/job.yaml", nil)
	if d := cmp.Diff([]string{"5:17 publish.path output-inside-claude-tree"}, brief(problems(t, err))); d != "" {
		t.Error(d)
	}
	_, err = spec.Load(link, "/jobs/job.yaml", []string{"publish.path=other/a.jsonl"})
	if err != nil {
		t.Error(err)
	}

	loop := linkFs{Fs: mem, err: errors.New("too many links")}
	if _, err = spec.Load(loop, "/jobs/job.yaml", nil); !errors.Is(err, loop.err) {
		t.Errorf("an output that cannot be resolved: %v", err)
	}
	if _, err = spec.Load(mem, "/jobs/none.yaml", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := afero.WriteFile(mem, "/big.yaml", make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = spec.Load(mem, "/big.yaml", nil)
	if d := cmp.Diff([]string{"0:0  too-large"}, brief(problems(t, err))); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		small, long, "", "- a", "a: *a", "a: &a [*a]", "{a: b", "? [x]\n: y", "a: !!binary aGk=", "\ufeffa: 1\r\n", "a:\n\t- b",
		small + "---\n" + small, small + "budgets: {ratio: 1e-999999999}\n", "kind: compress\nmode: []\ninput: 1\n",
	} {
		f.Add([]byte(text), "name=x")
	}
	f.Add([]byte(small), "a.b.c={x: [1, {y: 2}]}")
	f.Fuzz(func(t *testing.T, data []byte, set string) {
		job, err := spec.Parse("f", data, []string{set})
		if err != nil {
			checkProblems(t, problems(t, err), data)
			return
		}
		again, err := spec.Parse("f", job.Canonical(), nil)
		if err != nil || again.Digest() != job.Digest() {
			t.Fatalf("the canonical form %s is another job: %v", job.Canonical(), err)
		}
	})
}

// checkProblems holds the problems against the text they are about.
func checkProblems(t *testing.T, ps spec.Problems, data []byte) {
	t.Helper()
	if len(ps) == 0 {
		t.Fatal("refused without a problem")
	}
	lines := strings.Split(string(data), "\n")
	last := spec.Problem{}
	for _, p := range ps {
		if p.Code == "" || p.What == "" || p.Line < last.Line || p.Line == last.Line && p.Col < last.Col {
			t.Fatalf("bad problem %+v after %+v", p, last)
		}
		if p.Line > len(lines)+1 || p.Line > 0 && p.Line <= len(lines) && p.Col > len([]rune(lines[p.Line-1]))+1 {
			t.Fatalf("outside of the text: %+v", p)
		}
		last = p
	}
	var b strings.Builder
	if err := ps.WriteText(&b); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parse(b, long)
	}
}
