package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// These tests run the program as a process of its own on the real disk, and stop
// it at moments that nobody chose.

var rounds = flag.Int("rounds", 0, "rounds of the tests that stop the program; 0 for a few")

// full is a number for the whole test, few one for a quick look.
func full(whole, few int) int {
	if *rounds > 0 {
		return whole
	}
	return few
}

// ground is a folder in which the program runs. It has a home of its own.
type ground struct {
	t   *testing.T
	dir string
}

func newGround(t *testing.T) ground {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return ground{t, dir}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (g ground) path(name string) string { return filepath.Join(g.dir, filepath.FromSlash(name)) }

func (g ground) write(name string, data []byte) {
	g.t.Helper()
	must(g.t, os.MkdirAll(filepath.Dir(g.path(name)), 0o700), os.WriteFile(g.path(name), data, 0o600))
}

func (g ground) read(name string) []byte {
	g.t.Helper()
	data, err := os.ReadFile(g.path(name))
	must(g.t, err)
	return data
}

// names lists a folder; one that is not there is empty.
func (g ground) names(dir string) (names []string) {
	g.t.Helper()
	entries, err := os.ReadDir(g.path(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		g.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// files is the content of every file below a folder, by its base name.
func (g ground) files(dir string) map[string]string {
	g.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(g.path(dir)+"/.", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		files[filepath.Base(name)] = string(data)
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return files
}

// program is the program under way.
type program struct {
	*exec.Cmd
	t        *testing.T
	out, err bytes.Buffer
}

func (g ground) start(args ...string) *program {
	g.t.Helper()
	p := &program{Cmd: exec.Command("precis", args...), t: g.t}
	p.Dir, p.Stdout, p.Stderr = g.dir, &p.out, &p.err
	p.Env = append(os.Environ(), "HOME="+g.dir, "PWD="+g.dir)
	must(g.t, p.Start())
	return p
}

// ending is how the program ended. The code of one that was killed is -1.
type ending struct {
	args        []string
	code, pid   int
	out, errOut string
	took        time.Duration // from the signal, where there was one
}

func (e ending) String() string {
	return fmt.Sprintf("precis %s: exit %d\n%s%s", strings.Join(e.args, " "), e.code, e.out, e.errOut)
}

func (p *program) end() ending {
	p.t.Helper()
	began := time.Now()
	err := p.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return ending{p.Args[1:], p.ProcessState.ExitCode(), p.Process.Pid, p.out.String(), p.err.String(), time.Since(began)}
}

func (g ground) run(args ...string) ending {
	g.t.Helper()
	return g.start(args...).end()
}

// must runs the program, which must end well.
func (g ground) must(args ...string) ending {
	g.t.Helper()
	e := g.run(args...)
	if e.code != 0 {
		g.t.Fatal(e)
	}
	return e
}

// killed kills the program a time after its start, if it has not ended by then.
func (g ground) killed(after time.Duration, args ...string) ending {
	g.t.Helper()
	p := g.start(args...)
	time.Sleep(after)
	_ = p.Process.Kill()
	return p.end()
}

// record is a run as precis runs tells it.
type record struct {
	Run, Status, Problem string
	Items                int
	Count                map[string]int
	Exit                 *int
}

func (r record) done() int { return r.Count["done"] + r.Count["up-to-date"] }

func (g ground) runs() []record {
	g.t.Helper()
	var v struct{ Runs []record }
	must(g.t, json.Unmarshal([]byte(g.must("runs", "--json").out), &v))
	return v.Runs
}

// begun is the last run with all its items on record; nil where there is none.
func (g ground) begun(items int) *record {
	g.t.Helper()
	list := g.runs()
	if len(list) == 0 || list[len(list)-1].Items < items {
		return nil
	}
	return &list[len(list)-1]
}

// goOn is the command that a person gives after the program was stopped. Where no
// run had begun, resume must say that.
func (g ground) goOn(items int, run ...string) []string {
	g.t.Helper()
	if g.begun(items) != nil {
		return []string{"resume", "last"}
	}
	e := g.run("resume", "last")
	if e.code != 1 || !strings.Contains(e.errOut, "precis run") {
		g.t.Errorf("nothing was begun, but %s", e)
	}
	return run
}

// batch makes a folder of small sessions, each another one, and some larger.
func batch(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		name := "2.1.197-images"
		if i%20 == 7 {
			name = "2.1.332-edits"
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%03d.jsonl", i)), session(t, name, i), 0o600))
	}
	return dir
}

// session is a session of the test data under an id that depends on i.
func session(t *testing.T, name string, i int) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "sessions", name+".jsonl"))
	must(t, err)
	_, id, ok := bytes.Cut(data, []byte(`"sessionId":"`))
	if !ok {
		t.Fatalf("%s has no session id", name)
	}
	id = bytes.Clone(id[:36])
	return bytes.ReplaceAll(data, id, fmt.Appendf(nil, "%s%012x", id[:24], i))
}

const batchJob = `version: 1
kind: compress
name: batch
input: {sessions: [%q]}
mode: {summary: deterministic}
budgets: {keepRecords: 2}
publish: {to: candidate, path: "out/{session}.jsonl"}
`

// batchGround has a job over a folder of sessions.
func batchGround(t *testing.T, sessions string) ground {
	t.Helper()
	g := newGround(t)
	g.write("job.yaml", fmt.Appendf(nil, batchJob, sessions+"/*.jsonl"))
	return g
}

// straight is what the job leaves when nobody stops it, and how long that takes.
func straight(t *testing.T, sessions string, args ...string) (map[string]string, time.Duration) {
	t.Helper()
	g := batchGround(t, sessions)
	e := g.must(append([]string{"run", "job.yaml"}, args...)...)
	return g.files("out"), e.took
}

// upTo is a time below a limit.
func upTo(limit time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(limit) + 1)) }

// counts is how often something happened.
type counts map[string]int

func (c counts) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "\n%6d  %s", c[what], what)
	}
	return b.String()
}

// tenth says how far a run came, in tenths.
func tenth(r *record) string {
	switch {
	case r == nil:
		return "no run begun"
	case r.Status == "finished":
		return "the run finished"
	}
	return fmt.Sprintf("%d0 %% of the sessions done", 10*r.done()/r.Items)
}

func TestKilledBatch(t *testing.T) {
	items, n := full(200, 40), full(*rounds, 1)
	sessions := batch(t, items)
	want, took := straight(t, sessions)
	found := counts{}
	for range n {
		g := batchGround(t, sessions)
		args := []string{"run", "job.yaml"}
		for range 2 + rand.IntN(5) {
			if g.killed(upTo(took), args...).code == 0 {
				break // it ended before
			}
			found[tenth(g.begun(items))]++
			args = g.goOn(items, "run", "job.yaml")
		}
		g.must(args...)
		g.finished(items, want)
	}
	t.Logf("%d rounds, a straight run takes %v; found after SIGKILL:%s", n, took, found)
}

// outputs checks that the output folder holds what a straight run leaves, and
// nothing else.
func (g ground) outputs(want map[string]string) {
	g.t.Helper()
	if d := cmp.Diff(slices.Sorted(maps.Keys(want)), g.names("out")); d != "" {
		g.t.Fatalf("the output folder: %s", d)
	}
	if !maps.Equal(want, g.files("out")) {
		g.t.Error("the outputs are not those of a straight run")
	}
}

// finished checks what a batch must have left in the end, however it came to it.
func (g ground) finished(items int, want map[string]string) {
	g.t.Helper()
	g.outputs(want)
	r := g.begun(items)
	if r == nil || r.Status != "finished" || r.Exit == nil || *r.Exit != 0 || r.done() != items {
		g.t.Errorf("the run is listed as %+v", r)
	}
	var shown struct{ Detail []struct{ Published []any } }
	must(g.t, json.Unmarshal([]byte(g.must("show", "last", "--json").out), &shown))
	if len(shown.Detail) != items {
		g.t.Errorf("%d sessions are on record", len(shown.Detail))
	}
	if e := g.must("run", "job.yaml"); !strings.Contains(e.out, fmt.Sprintf("%d up to date", items)) {
		g.t.Errorf("run again: %s", e)
	}
}

func TestBatchWithAnyNumberOfWorkers(t *testing.T) {
	items := full(300, 60)
	sessions := batch(t, items)
	one, _ := straight(t, sessions, "--set", "run.workers=1")
	eight, _ := straight(t, sessions, "--set", "run.workers=8")
	if len(one) != items || !maps.Equal(one, eight) {
		t.Errorf("%d and %d files, not the same", len(one), len(eight))
	}
}
