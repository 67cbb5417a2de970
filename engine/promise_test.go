package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/memfs"
)

// picture is everything there is to see below a folder: names, modes, times,
// content.
func picture(t testing.TB, f afero.Fs, root string) string {
	t.Helper()
	var b strings.Builder
	err := afero.Walk(f, root, func(name string, info fs.FileInfo, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		content := ""
		if !info.IsDir() {
			content = read(t, f, name)
		}
		_, err = fmt.Fprintf(&b, "%s %v %v %q\n", name, info.Mode(), info.ModTime(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ran gives the steps of each item that a run started, as the journal has them.
func ran(t testing.TB, f afero.Fs, run string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for e, err := range journal.Read(f, "/state/runs/"+run+"/journal.jsonl") {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.Body.(*journal.StepStarted); ok {
			out[s.Item] = append(out[s.Item], s.Step)
		}
	}
	return out
}

// wouldRun gives the steps of each item that a plan has.
func wouldRun(p engine.Plan) map[string][]string {
	out := map[string][]string{}
	for _, i := range p.Items {
		for _, s := range i.Steps {
			if s.Status == step.WouldRun {
				id := strings.TrimSuffix(filepath.Base(i.Session), ".txt")
				out[id] = append(out[id], s.Step)
			}
		}
	}
	return out
}

// TestAPlanIsWhatTheNextRunDoes lets all sorts of things happen between runs.
func TestAPlanIsWhatTheNextRunDoes(t *testing.T) {
	idle, partly := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		f := world(t, "a", "b")
		env := enginetest.Env(f)
		var set []string
		for range rapid.IntRange(1, 6).Draw(rt, "runs") {
			for range rapid.IntRange(0, 2).Draw(rt, "events") {
				set = happen(t, rt, f, set)
			}
			e := engine.New(env, kind("a", "b"))
			before := picture(t, f, "/")
			p, err := e.Plan(context.Background(), job(set...), engine.Options{Force: true})
			if err != nil {
				rt.Fatal(err)
			}
			if d := cmp.Diff(before, picture(t, f, "/")); d != "" {
				rt.Fatalf("the plan wrote: %s", d)
			}
			r, err := e.Run(context.Background(), job(set...), engine.Options{Force: true})
			if err != nil || r.Exit != 0 {
				rt.Fatalf("%s, %v", statuses(r), err)
			}
			want, got := wouldRun(p), ran(t, f, r.Run)
			if d := cmp.Diff(want, got); d != "" {
				rt.Fatalf("the run did otherwise than the plan said: %s", d)
			}
			reasons(rt, p)
			switch n := len(want["a"]) + len(want["b"]); {
			case n == 0:
				idle++
			case n < 6:
				partly++
			}
		}
	})
	if idle == 0 || partly == 0 {
		t.Errorf("%d runs with nothing to do, %d with a part", idle, partly)
	}
}

// reasons demands that a plan gives them, and that the values differ.
func reasons(t *rapid.T, p engine.Plan) {
	for _, i := range p.Items {
		for _, s := range i.Steps {
			if (s.Status == step.WouldRun) != (s.Reason != nil) || s.Reason != nil && s.Reason.Old == s.Reason.New {
				t.Fatalf("%s: %+v", i.Session, s)
			}
		}
	}
}

// happen lets one thing happen to the world or the job.
func happen(t *testing.T, rt *rapid.T, f *memfs.FS, set []string) []string {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name")
	switch rapid.IntRange(0, 6).Draw(rt, "event") {
	case 0:
		write(t, f, "/in/"+name+".txt", rapid.SampledFrom([]string{"a\n", "b\n", "c\n"}).Draw(rt, "text"))
	case 1:
		_ = f.Remove("/out/" + name + ".txt")
	case 2:
		if _, err := f.Stat("/out"); err == nil {
			write(t, f, "/out/"+name+".txt", "edited")
		}
	case 3:
		return []string{fmt.Sprintf("budgets.keepRecords=%d", rapid.IntRange(1, 2).Draw(rt, "records"))}
	case 4:
		return []string{"publish.quiet=" + rapid.SampledFrom([]string{"1s", "2s"}).Draw(rt, "quiet")}
	case 5:
		_ = f.Remove("/state/runs/run-0001/artifacts.pack")
	case 6:
		write(t, f, "/in/"+name+".txt", read(t, f, "/in/"+name+".txt")) // touched
	}
	return set
}

func TestAPlanNamesWhatChanged(t *testing.T) {
	f := world(t, "a", "b")
	e := engine.New(enginetest.Env(f), kind("a", "b"))
	if r, err := e.Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
		t.Fatal(r, err)
	}
	write(t, f, "/in/b.txt", "one\n")
	p, err := e.Plan(context.Background(), job("budgets.keepRecords=7"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range p.Items {
		for _, s := range i.Steps {
			line := i.Session + " " + s.Step + " " + string(s.Status)
			if r := s.Reason; r != nil && !strings.HasPrefix(r.Component, "inputs.shout") && !strings.HasPrefix(r.Component, "inputs.freeze") {
				line += " " + r.Component + " " + r.Old + " " + r.New
			} else if r != nil {
				line += " " + r.Component
			}
			got = append(got, line)
		}
	}
	want := []string{
		"/in/a.txt freeze up-to-date",
		"/in/a.txt shout would-run params.keepRecords 120 7",
		"/in/a.txt publish would-run inputs.shout",
		"/in/b.txt freeze would-run inputs.source sha256:0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f sha256:" + oneSum,
		"/in/b.txt shout would-run params.keepRecords 120 7",
		"/in/b.txt publish would-run inputs.shout",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPlanTellsARefusal(t *testing.T) {
	f := world(t, "a")
	e := engine.New(enginetest.Env(f), kind("a", "b"))
	p, err := e.Plan(context.Background(), job(), engine.Options{})
	if err != nil || p.Items[0].Status != step.WouldRun || p.Items[1].Status != step.Refused {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := e.Run(context.Background(), job(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove("/in/a.txt"); err != nil {
		t.Fatal(err)
	}
	if p, err = e.Plan(context.Background(), job(), engine.Options{}); err != nil || p.Items[0].Status != step.Refused || p.Items[0].Class != "no-source" {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestADryRunIsTheRunItself compares what a dry run says with what the run does.
func TestADryRunIsTheRunItself(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := world(t, "a", "b")
		e := engine.New(enginetest.Env(f), kind("a", "b", "gone"))
		var set []string
		for range rapid.IntRange(1, 4).Draw(rt, "runs") {
			for range rapid.IntRange(0, 2).Draw(rt, "events") {
				set = happen(t, rt, f, set)
			}
			force := rapid.Bool().Draw(rt, "force")
			before := picture(t, f, "/")
			dry, err := e.DryRun(context.Background(), job(set...), engine.Options{Force: force})
			if err != nil {
				rt.Fatal(err)
			}
			if d := cmp.Diff(before, picture(t, f, "/")); d != "" {
				rt.Fatalf("the dry run wrote: %s", d)
			}
			r, err := e.Run(context.Background(), job(set...), engine.Options{Force: force})
			if err != nil {
				rt.Fatal(err)
			}
			if d := cmp.Diff(effects(dry), effects(r)); d != "" || dry.Exit != r.Exit {
				rt.Fatalf("exit %d and %d: %s", dry.Exit, r.Exit, d)
			}
			for _, i := range r.Items {
				for _, p := range i.Outputs {
					if _, sum, err := fsys.Sum(f, p.Path); err != nil || sum != p.SHA256 {
						rt.Fatalf("%s: %s, %v", p.Path, sum, err)
					}
				}
			}
		}
	})
}

// effects is what a run tells of what it did.
func effects(r engine.Result) (out []string) {
	for _, i := range r.Items {
		out = append(out, fmt.Sprintf("%s %s %s %s %s %+v", i.Item, i.Status, i.Class, i.Message, i.Source, i.Outputs))
	}
	return out
}

func TestReplay(t *testing.T) {
	f := world(t, "a", "b")
	e := engine.New(enginetest.Env(f), kind("a", "b", "gone"))
	if r, err := e.Run(context.Background(), job(), engine.Options{}); err != nil || statuses(r) != "done done refused:no-source" {
		t.Fatal(r, err)
	}
	// On another machine there is the state folder alone.
	other := enginetest.Memory()
	copyTree(t, f, other, "/state")
	before := picture(t, other, "/")
	r, err := engine.New(enginetest.Env(other), kind()).Replay(context.Background(), "last", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &engine.Replay{Run: "run-0001", Items: []engine.ReplayedItem{
		{Item: "a", Source: "/in/a.txt", Status: engine.ReplaySame, Steps: 3},
		{Item: "b", Source: "/in/b.txt", Status: engine.ReplaySame, Steps: 3},
		{Item: "gone", Source: "/in/gone.txt", Status: engine.ReplaySkipped, Message: "no step of it was finished"},
	}}
	// The kind of this engine has no output folder, which is none of the digests.
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, picture(t, other, "/")); d != "" {
		t.Errorf("the replay wrote: %s", d)
	}
}

func TestReplayNamesTheFirstDifference(t *testing.T) {
	changed := kind("a")
	changed.Quietly = true
	for name, test := range map[string]struct {
		kind   enginetest.Kind
		change func(t *testing.T, f *memfs.FS)
		status engine.ReplayStatus
		step   string
		what   string
	}{
		"another program": {changed, func(*testing.T, *memfs.FS) {}, engine.ReplayDiffers, "shout", "artifacts.text"},
		"no artifacts": {kind("a"), func(t *testing.T, f *memfs.FS) {
			if err := f.Remove("/state/runs/run-0001/artifacts.pack"); err != nil {
				t.Fatal(err)
			}
		}, engine.ReplayDiffers, "", "artifacts.source"},
		"a damaged artifact": {kind("a"), func(t *testing.T, f *memfs.FS) {
			const pack = "/state/runs/run-0001/artifacts.pack"
			data := []byte(read(t, f, pack))
			for i := len(data) / 4; i < len(data); i++ {
				data[i] ^= 0x55
			}
			write(t, f, pack, string(data))
		}, engine.ReplayDiffers, "", "artifacts.source"},
	} {
		t.Run(name, func(t *testing.T) {
			f := world(t, "a")
			if r, err := engine.New(enginetest.Env(f), kind("a")).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
				t.Fatal(r, err)
			}
			test.change(t, f)
			r, err := engine.New(enginetest.Env(f), test.kind).Replay(context.Background(), "run-0001", nil)
			if err != nil {
				t.Fatal(err)
			}
			i := r.Items[0]
			if i.Status != test.status || i.Step != test.step || (i.Difference != nil) != (test.what != "") || i.Difference != nil && i.Difference.Component != test.what {
				t.Errorf("%+v, difference %+v", i, i.Difference)
			}
			if want := map[bool]int{true: 5, false: 0}[test.status == engine.ReplayDiffers]; r.Exit != want {
				t.Errorf("exit %d, want %d", r.Exit, want)
			}
		})
	}
}

// copyTree copies a folder to another filesystem.
func copyTree(t *testing.T, from, to afero.Fs, root string) {
	t.Helper()
	err := afero.Walk(from, root, func(name string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if info.IsDir() {
			return to.MkdirAll(name, fsys.DirPerm)
		}
		return afero.WriteFile(to, name, []byte(read(t, from, name)), fsys.FilePerm)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunsAndShow(t *testing.T) {
	f := world(t, "a")
	env := enginetest.Env(f)
	e := engine.New(env, kind("a", "gone"))
	if runs, err := e.Runs(); err != nil || len(runs) != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
	for range 2 {
		if _, err := e.Run(context.Background(), job(), engine.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	write(t, f, "/state/runs/run-0001/journal.jsonl", "nonsense\n")
	runs, err := e.Runs()
	if err != nil || len(runs) != 2 || runs[0].Status != engine.RunUnreadable || !strings.Contains(runs[0].Problem, "journal.jsonl:1") {
		t.Fatalf("%+v, %v", runs, err)
	}
	if got := runs[1]; got.Status != engine.RunFinished || got.Items != 2 || *got.Exit != 1 || got.Count[step.UpToDate] != 1 || got.Count[step.Refused] != 1 || got.Name != "test" {
		t.Errorf("%+v", got)
	}
	for id, class := range map[string]string{"run-": "ambiguous-run", "run-3": "no-such-run", "": "no-such-run", "run-0001": "journal-syntax"} {
		_, err := e.Show(id)
		if refused := new(step.Refusal); !errors.As(err, &refused) || refused.Class != class {
			t.Errorf("show %q: %v, want %s", id, err, class)
		}
	}
	d, err := e.Show("last", "a")
	if err != nil || len(d.Detail) != 1 || d.Detail[0].Same != "run-0001" || d.Detail[0].Result.Status != step.UpToDate {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := e.Show("last", "nobody"); err == nil {
		t.Error("an item that is not there is shown")
	}
}

// TestItemsAtWorkAreBounded counts the items that are at work at once.
func TestItemsAtWorkAreBounded(t *testing.T) {
	var names []string
	for i := range 64 {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	for _, workers := range []int{1, 3} {
		k := kind(names...)
		var at, most atomicMax
		k.Before = func(_ context.Context, _, name string) error {
			switch name {
			case "freeze":
				most.raise(at.n.Add(1))
			case "publish":
				at.n.Add(-1)
			}
			return nil
		}
		j := job()
		j.Run.Workers = workers
		var last []event.ItemFinished
		sink := lockedSink{take: func(e event.Event) {
			if i, ok := e.(event.ItemFinished); ok {
				last = append(last, i)
			}
		}}
		r, err := engine.New(enginetest.Env(world(t, names...)), k).Run(context.Background(), j, engine.Options{Sink: &sink})
		if err != nil || r.Exit != 0 || int(most.n.Load()) > workers {
			t.Errorf("%d workers: %d at once, %v", workers, most.n.Load(), err)
		}
		if len(last) != len(names) || !slices.IsSortedFunc(r.Items, func(a, b engine.ItemResult) int { return strings.Compare(a.Item, b.Item) }) {
			t.Errorf("%d items ended", len(last))
		}
	}
}

// atomicMax is a number that several goroutines raise.
type atomicMax struct{ n atomic.Int64 }

func (m *atomicMax) raise(to int64) {
	for now := m.n.Load(); now < to; now = m.n.Load() {
		if m.n.CompareAndSwap(now, to) {
			return
		}
	}
}

// lockedSink gives the events to a function, one at a time.
type lockedSink struct {
	mu   sync.Mutex
	take func(event.Event)
}

func (s *lockedSink) Emit(e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(e)
}
