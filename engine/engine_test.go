package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/schemas"
	"github.com/precis-dev/precis/spec"
)

// printf 'one\n' | sha256sum; printf 'ONE\n' | sha256sum
const (
	oneSum      = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"
	oneLoudSum  = "bd52020371c038c4ad38a8d2df05dfa1a220d40fbe1ae83b63d6010cb527e531"
	journalFile = "/state/runs/run-0001/journal.jsonl"
)

func world(t testing.TB, sources ...string) *memfs.FS {
	t.Helper()
	f := enginetest.Memory()
	if err := fsys.MkdirAll(f, "/in"); err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if err := fsys.WriteFile(f, "/in/"+name+".txt", "t", []byte(name+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func kind(sources ...string) enginetest.Kind {
	k := enginetest.Kind{Out: "/out"}
	for _, name := range sources {
		k.Sources = append(k.Sources, "/in/"+name+".txt")
	}
	return k
}

func job(set ...string) *spec.Job { return enginetest.Job(set...) }

func statuses(r engine.Result) string {
	var out []string
	for _, i := range r.Items {
		s := string(i.Status)
		if i.Class != "" {
			s += ":" + i.Class
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func read(t testing.TB, f afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// told gives the bodies of a journal as "type {json}".
func told(t testing.TB, f afero.Fs, name string) []string {
	t.Helper()
	var out []string
	for e, err := range journal.Read(f, name) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s", e.Body.Type(), body))
	}
	return out
}

func TestRunPublishes(t *testing.T) {
	f := world(t, "one")
	r, err := engine.New(enginetest.Env(f), kind("one")).Run(context.Background(), job(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Result{Run: "run-0001", Exit: 0, Items: []engine.ItemResult{{
		Item: "one", Session: "/in/one.txt", Source: oneSum, Status: step.Done,
		Outputs: []step.Published{{Op: "create", Path: "/out/one.txt", Bytes: 4, SHA256: oneLoudSum}},
	}}}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	if got := read(t, f, "/out/one.txt"); got != "ONE\n" {
		t.Errorf("published %q", got)
	}
	var order []string
	for _, line := range told(t, f, journalFile) {
		name, body, _ := strings.Cut(line, " ")
		var b struct{ Step string }
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		order = append(order, strings.TrimSpace(name+" "+b.Step))
	}
	wantOrder := []string{"run-opened", "item-opened", "step-started freeze", "step-finished freeze",
		"step-started shout", "step-finished shout", "step-started publish", "step-finished publish", "item-finished", "run-finished"}
	if d := cmp.Diff(wantOrder, order); d != "" {
		t.Error(d)
	}
}

func TestStateLayout(t *testing.T) {
	f := world(t, "one")
	if _, err := engine.New(enginetest.Env(f), kind("one")).Run(context.Background(), job(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	var names []string
	err := afero.Walk(f, "/state", func(name string, info fs.FileInfo, err error) error {
		perm := fsys.FilePerm
		if info.IsDir() {
			name, perm = name+"/", fsys.DirPerm
		}
		if info.Mode().Perm() != perm {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/state/", "/state/.gitignore", "/state/ledger.jsonl", "/state/ledger.jsonl.lock",
		"/state/runs/", "/state/runs/run-0001/", "/state/runs/run-0001/artifacts.pack",
		"/state/runs/run-0001/job.json", journalFile, journalFile + ".lock",
	}
	slices.Sort(want)
	slices.Sort(names)
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if got := read(t, f, "/state/.gitignore"); got != "*\n" {
		t.Errorf(".gitignore holds %q", got)
	}
}

func TestNothingHoldsTheText(t *testing.T) {
	f := world(t, "confidential")
	k := kind("confidential")
	k.Sources[0] = "/in/x.txt"
	if err := fsys.WriteFile(f, "/in/x.txt", "t", []byte("confidential")); err != nil {
		t.Fatal(err)
	}
	for _, before := range []func(context.Context, string, string) error{nil, func(_ context.Context, _, name string) error {
		if name == "publish" {
			panic("confidential")
		}
		return nil
	}} {
		var told, logged bytes.Buffer
		env := enginetest.Env(f)
		env.State = fmt.Sprintf("/state%v", before == nil)
		env.Log = hclog.New(&hclog.LoggerOptions{Output: &logged})
		k.Before = before
		r, err := engine.New(env, k).Run(context.Background(), job(), engine.Options{Sink: event.NewLines(&told)})
		if err != nil {
			t.Fatal(err)
		}
		all := told.String() + logged.String() + fmt.Sprint(r) + read(t, f, env.State+"/runs/run-0001/journal.jsonl")
		if strings.Contains(strings.ToLower(all), "confidential") {
			t.Errorf("the text got out:\n%s", all)
		}
		if before != nil && !strings.Contains(logged.String(), "engine_test.go") {
			t.Error("the log does not show the panic's place")
		}
	}
}

func TestOneFailureAmongSeveral(t *testing.T) {
	bad := errors.New("disk on fire")
	for name, test := range map[string]struct {
		before  func(context.Context, string, string) error
		stop    bool
		want    string
		exit    int
		entries int // of the journal
	}{
		"all good": {nil, false, "done done done", 0, 1 + 3*8 + 1},
		"a step fails": {func(_ context.Context, item, name string) error {
			if item == "b" && name == "shout" {
				return bad
			}
			return nil
		}, false, "done failed:failed done", 1, 1 + 2*8 + 6 + 1},
		"a step panics": {func(_ context.Context, item, name string) error {
			if item == "b" {
				panic(bad)
			}
			return nil
		}, false, "done failed:internal-error done", 1, 1 + 2*8 + 4 + 1},
		"a step refuses": {func(_ context.Context, item, name string) error {
			if item == "b" {
				return fmt.Errorf("wrapped: %w", &step.Refusal{Class: "too-big", Message: "m", Next: "n"})
			}
			return nil
		}, false, "done refused:too-big done", 1, 1 + 2*8 + 4 + 1},
		"stop": {func(_ context.Context, item, name string) error {
			if item == "b" {
				return bad
			}
			return nil
		}, true, "done failed:failed interrupted:stopped", 1, 1 + 8 + 4 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := world(t, "a", "b", "c")
			k := kind("a", "b", "c")
			k.Before = test.before
			j := job()
			j.Run.Workers = 1
			if test.stop {
				j.Run.OnFailure = "stop"
			}
			r, err := engine.New(enginetest.Env(f), k).Run(context.Background(), j, engine.Options{})
			if err != nil || statuses(r) != test.want || r.Exit != test.exit {
				t.Errorf("%s, exit %d, %v; want %s, exit %d", statuses(r), r.Exit, err, test.want, test.exit)
			}
			if got := told(t, f, journalFile); len(got) != test.entries {
				t.Errorf("%d entries, want %d:\n%s", len(got), test.entries, strings.Join(got, "\n"))
			}
		})
	}
}

func TestWorkersDoNotShow(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	run := func(workers int) (engine.Result, []string, string) {
		f := world(t, names[1:]...) // a has no source
		j := job()
		j.Run.Workers = workers
		r, err := engine.New(enginetest.Env(f), kind(names...)).Run(context.Background(), j, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		entries := told(t, f, journalFile)
		slices.Sort(entries)
		var published strings.Builder
		for _, name := range names[1:] {
			published.WriteString(read(t, f, "/out/"+name+".txt"))
		}
		return r, entries, published.String()
	}
	r1, entries1, published1 := run(1)
	r4, entries4, published4 := run(4)
	if r1.Items[0].Class != "no-source" || r1.Items[0].Place.Line != 1 || r1.Exit != 1 {
		t.Errorf("%+v", r1.Items[0])
	}
	if d := cmp.Diff(r1, r4); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(entries1, entries4); d != "" {
		t.Error(d)
	}
	if published1 != published4 || published1 != "B\nC\nD\nE\nF\nG\n" {
		t.Errorf("published %q and %q", published1, published4)
	}
}

func TestOwnOutputIsReplacedAndForeignIsNot(t *testing.T) {
	f := world(t, "one")
	e := engine.New(enginetest.Env(f), kind("one"))
	write := func(name, text string) {
		t.Helper()
		if err := afero.WriteFile(f, name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		prepare func()
		force   bool
		want    string
		op      step.Op
	}{
		{func() {}, false, "done", "create"},
		{func() {}, false, "up-to-date", "keep"},
		{func() { write("/in/one.txt", "changed") }, false, "done", "replace"},
		{func() { write("/out/one.txt", "edited") }, false, "refused:output-exists", ""},
		{func() {}, true, "done", "replace"},
		{func() { write("/in/one.txt", "again") }, false, "done", "replace"},
	} {
		test.prepare()
		r, err := e.Run(context.Background(), job(), engine.Options{Force: test.force})
		var op step.Op
		if err == nil && len(r.Items[0].Outputs) > 0 {
			op = r.Items[0].Outputs[0].Op
		}
		if err != nil || statuses(r) != test.want || op != test.op {
			t.Errorf("run %s: %s %s, %v; want %s %s", r.Run, statuses(r), op, err, test.want, test.op)
		}
	}
	if got := read(t, f, "/out/one.txt"); got != "AGAIN" {
		t.Errorf("published %q", got)
	}
}

func TestUntil(t *testing.T) {
	f := world(t, "one")
	e := engine.New(enginetest.Env(f), kind("one"))
	r, err := e.Run(context.Background(), job(), engine.Options{Until: "shout"})
	if err != nil || statuses(r) != "done" || len(r.Items[0].Outputs) != 0 {
		t.Errorf("%s, %v", statuses(r), err)
	}
	if _, err := f.Stat("/out"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a step after the last one ran")
	}
	if r, _ = e.Run(context.Background(), job(), engine.Options{Until: "none"}); statuses(r) != "refused:unknown-step" {
		t.Error(statuses(r))
	}
}

func TestWhatEndsARunBeforeItOpens(t *testing.T) {
	bad := kind("a", "a")
	for name, test := range map[string]struct {
		kind  enginetest.Kind
		job   *spec.Job
		class string
		exit  int
	}{
		"no sessions":   {kind(), job(), "no-sessions", 1},
		"unknown kind":  {kind("a"), &spec.Job{Kind: "whisper"}, "unknown-kind", 2},
		"two items one": {bad, job(), "failed", 1},
		"bad item id":   {enginetest.Kind{Sources: []string{".."}}, job(), "failed", 1},
	} {
		f := world(t, "a")
		var told bytes.Buffer
		r, err := engine.New(enginetest.Env(f), test.kind).Run(context.Background(), test.job, engine.Options{Sink: event.NewLines(&told)})
		if err == nil || r.Exit != test.exit || r.Run != "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		var last struct{ Event, Class string }
		if json.Unmarshal(told.Bytes(), &last) != nil || last.Event != "run" || last.Class != test.class {
			t.Errorf("%s: told %s", name, told.String())
		}
		if _, err := f.Stat("/state"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: state was made", name)
		}
	}
}

func TestEvents(t *testing.T) {
	f := world(t, "one")
	var told bytes.Buffer
	if _, err := engine.New(enginetest.Env(f), kind("one")).Run(context.Background(), job(), engine.Options{Sink: event.NewLines(&told)}); err != nil {
		t.Fatal(err)
	}
	const outputs = `,"outputs":[{"op":"create","path":"/out/one.txt","bytes":4,"sha256":"` + oneLoudSum + `"}]`
	want := `{"event":"run-started","run":"run-0001","kind":"compress","items":1,"bytes":0}
{"event":"item-started","item":"one","session":"/in/one.txt","label":"one.txt","bytes":0,"steps":3}
{"event":"step-started","item":"one","step":"freeze"}
{"event":"progress","item":"one","step":"freeze","done":4,"total":4}
{"event":"step-finished","item":"one","step":"freeze"}
{"event":"step-started","item":"one","step":"shout"}
{"event":"step-finished","item":"one","step":"shout"}
{"event":"step-started","item":"one","step":"publish"}
{"event":"step-finished","item":"one","step":"publish"}
{"event":"item-finished","id":"one","bytes":0,"item":"one","session":"/in/one.txt","status":"done","output":"/out/one.txt","sha256":"` + oneLoudSum + `","source":"` + oneSum + `"` + outputs + `}
{"event":"run","run":"run-0001","exit":0,"items":[{"item":"one","session":"/in/one.txt","status":"done","output":"/out/one.txt","sha256":"` + oneLoudSum + `","source":"` + oneSum + `"` + outputs + `}]}
`
	if d := cmp.Diff(want, told.String()); d != "" {
		t.Error(d)
	}
}

func TestTwoKindsOfOneName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("accepted")
		}
	}()
	engine.New(enginetest.Env(nil), kind(), kind())
}

func TestOSEnv(t *testing.T) {
	env := engine.OSEnv(t.TempDir()+"/deep/.precis", hclog.NewNullLogger())
	a, b := env.NewID(), env.NewID()
	if a >= b || len(a) != 36 || a[14] != '7' {
		t.Errorf("ids %s, %s", a, b)
	}
	if env.Host.PID == 0 || env.Host.Host == "" || env.Host.Start.IsZero() {
		t.Errorf("%+v", env.Host)
	}
	dir := t.TempDir()
	if err := afero.WriteFile(env.FS, dir+"/one.txt", []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := enginetest.Kind{Sources: []string{dir + "/one.txt"}, Out: dir + "/out"}
	r, err := engine.New(env, k).Run(context.Background(), job(), engine.Options{})
	if err != nil || statuses(r) != "done" || read(t, env.FS, dir+"/out/one.txt") != "ONE\n" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Every line of a journal keeps the published schema.
func TestTheJournalKeepsItsSchema(t *testing.T) {
	f := world(t, "a", "b")
	if r, err := engine.New(enginetest.Env(f), kind("a", "b")).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
		t.Fatal(r, err)
	}
	schema, err := schemas.Compile("journal")
	if err != nil {
		t.Fatal(err)
	}
	data, err := afero.ReadFile(f, journalFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}
