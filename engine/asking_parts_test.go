package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/memfs"
)

// manyLines are so many lines, all different.
func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func isPart(at string) bool { return strings.Contains(at, "/part-") }

// TestFourAskAtOnce has four steps wait for each other, so it fails if fewer are at
// work at once, and counts whether there are more.
func TestFourAskAtOnce(t *testing.T) {
	const parts, want = 9, 4
	k := asks("a")
	var now, most atomicMax
	full := newGate()
	k.while = func(_ context.Context, at string) error {
		if !isPart(at) {
			return nil
		}
		n := now.n.Add(1)
		defer now.n.Add(-1)
		most.raise(n)
		if n >= want {
			full.open()
		}
		full.wait(t)
		time.Sleep(5 * time.Millisecond) // for one too many to come
		return nil
	}
	f := lines(t, map[string]string{"a": manyLines(parts)})
	r, err := k.on(f).Run(context.Background(), job(), engine.Options{})
	if err != nil || r.Exit != 0 || most.n.Load() != want {
		t.Errorf("%s, %v: %d at once", statuses(r), err, most.n.Load())
	}
	if n := len(k.count()); n != parts+1 {
		t.Errorf("%d steps asked", n)
	}
	if n := k.freed.Load(); n != parts+1 {
		t.Errorf("cleaned up after %d", n)
	}
}

// TestOneThatFailsDoesNotStopTheOthers has the first of the parts come to its end
// before any other is answered.
func TestOneThatFailsDoesNotStopTheOthers(t *testing.T) {
	const parts = 6
	for name, test := range map[string]struct {
		fail   func(at string) error
		want   string
		resume string
	}{
		"waits":   {waiting, "waiting:wanted", "done"},
		"fails":   {failing, "failed:no-answer", "done"},
		"refuses": {func(string) error { return &step.Refusal{Class: "no", Message: "m"} }, "refused:no", "refused:no"},
		"error":   {func(string) error { return errors.New("no") }, "failed:failed", "failed:failed"},
		"panics":  {func(string) error { panic("no") }, "failed:internal-error", "failed:internal-error"},
	} {
		t.Run(name, func(t *testing.T) {
			k := asks("a")
			over := newGate()
			k.instead = func(at string) error {
				if at != "a/part-1" {
					return nil
				}
				defer over.open()
				return test.fail(at)
			}
			k.while = func(context.Context, string) error { over.wait(t); return nil }
			f := lines(t, map[string]string{"a": manyLines(parts)})
			r, err := k.on(f).Run(context.Background(), job(), engine.Options{})
			if err != nil || statuses(r) != test.want {
				t.Fatalf("%s, %v", statuses(r), err)
			}
			var want []string
			for n := 2; n <= parts; n++ {
				want = append(want, fmt.Sprintf("part-%d", n))
			}
			got := slices.DeleteFunc(slices.Sorted(maps.Keys(record(t, f, "run-0001")["a"].Steps)), func(s string) bool { return s == "read" || s == "split" })
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			k.instead = nil
			if r, err = resume(f, k, engine.Options{}); err != nil || statuses(r) != test.resume {
				t.Fatalf("%s, %v", statuses(r), err)
			}
			for at, n := range k.count() {
				if n != 1 {
					t.Errorf("%s was asked %d times", at, n)
				}
			}
			if test.resume == "done" {
				if d := cmp.Diff(straight(t, k, map[string]string{"a": manyLines(parts)}), record(t, f, "run-0001")); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// An interruption lets those who were asked answer, and asks nobody else.
func TestAnInterruptedItemAsksNoMore(t *testing.T) {
	const parts, atOnce = 9, 4
	k := asks("a")
	ctx, cancel := context.WithCancel(context.Background())
	var came atomic.Int64
	full := newGate()
	k.while = func(context.Context, string) error {
		if came.Add(1) == atOnce {
			cancel()
			full.open()
		}
		full.wait(t)
		return nil
	}
	f := lines(t, map[string]string{"a": manyLines(parts)})
	r, err := k.on(f).Run(ctx, job(), engine.Options{})
	if err != nil || statuses(r) != "interrupted:interrupted" || len(k.count()) != atOnce {
		t.Errorf("%s, %v: asked %v", statuses(r), err, k.count())
	}
	for name, st := range record(t, f, "run-0001")["a"].Steps {
		if !slices.Contains([]string{"read", "split"}, name) && !st.Asked {
			t.Errorf("%+v", st)
		}
	}
	k.while = nil
	if r, err = resume(f, k, engine.Options{}); err != nil || r.Exit != 0 {
		t.Errorf("%s, %v", statuses(r), err)
	}
	if d := cmp.Diff(straight(t, k, map[string]string{"a": manyLines(parts)}), record(t, f, "run-0001")); d != "" {
		t.Error(d)
	}
	for at, n := range k.count() {
		if n != 1 {
			t.Errorf("%s was asked %d times", at, n)
		}
	}
}

// kinds are the graphs that a split may give.
func kinds(names ...string) map[string]asking {
	flat, deep := asks(names...), asks(names...)
	deep.deep = true
	return map[string]asking{"flat": flat, "deep": deep}
}

// steps are those of an item that has n parts, sorted.
func steps(k asking, n int) []string {
	all := []string{"ask", "join", "publish", "read", "split"}
	for i := range n {
		all = append(all, fmt.Sprintf("part-%d", i+1))
		if k.deep {
			all = append(all, fmt.Sprintf("part-%d-again", i+1))
		}
	}
	slices.Sort(all)
	return all
}

func TestExpandedStepsAreRecordedAndUpToDate(t *testing.T) {
	for name, k := range kinds("a") {
		t.Run(name, func(t *testing.T) {
			f := left(t, k, "done", twoLinesOf("a"))
			if d := cmp.Diff(steps(k, 2), slices.Sorted(maps.Keys(record(t, f, "run-0001")["a"].Steps))); d != "" {
				t.Error(d)
			}
			if rec := inLedger(t, f); rec == nil || len(rec.Steps) != len(steps(k, 2)) {
				t.Errorf("the ledger has %+v", rec)
			}
			was := k.count()
			for run, test := range []struct {
				change func()
				want   string
				ran    []string
			}{
				{func() {}, "up-to-date", nil},
				{func() { remove(t, f, "/out/a.txt") }, "done", []string{"publish"}},
				{func() {}, "up-to-date", nil},
			} {
				test.change()
				env := enginetest.Env(f)
				env.NewID = func() string { return fmt.Sprintf("run-%04d", run+2) }
				r, err := engine.New(env, k).Run(context.Background(), job(), engine.Options{})
				if err != nil || statuses(r) != test.want || r.Exit != 0 {
					t.Fatalf("run %d: %s, %v", run+2, statuses(r), err)
				}
				if d := cmp.Diff(test.ran, ran(t, f, r.Run)["a"], cmpopts.EquateEmpty()); d != "" {
					t.Errorf("run %d: %s", run+2, d)
				}
			}
			if d := cmp.Diff(was, k.count()); d != "" {
				t.Errorf("asked again: %s", d)
			}
		})
	}
}

func remove(t testing.TB, f *memfs.FS, name string) {
	t.Helper()
	if err := f.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// again runs the job once more on a world that has a run.
func again(t *testing.T, f *memfs.FS, k asking) map[string][]string {
	t.Helper()
	env := enginetest.Env(f)
	env.NewID = func() string { return "run-0002" }
	if r, err := engine.New(env, k).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
		t.Fatal(statuses(r), err)
	}
	return ran(t, f, "run-0002")
}

// What the author is told with each line counts for the parts, and what comes of
// them, and for nothing before.
func TestAChangedPackAsksAgain(t *testing.T) {
	for name, k := range kinds("a") {
		t.Run(name, func(t *testing.T) {
			f := left(t, k, "done", twoLinesOf("a"))
			before := record(t, f, "run-0001")["a"].Steps
			k.pack = "please, "
			got := again(t, f, k)["a"]
			slices.Sort(got)
			want := slices.DeleteFunc(steps(k, 2), func(s string) bool { return s == "read" || s == "split" })
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			after := record(t, f, "run-0002")["a"].Steps
			for _, name := range steps(k, 2) {
				same := name == "read" || name == "split"
				if (before[name].Key == after[name].Key) != same {
					t.Errorf("the key of %s was %s and is %s", name, before[name].Key, after[name].Key)
				}
			}
		})
	}
}

// A changed source has as many parts as it has lines.
func TestAChangedSourceHasOtherParts(t *testing.T) {
	k := asks("a")
	f := left(t, k, "done", twoLinesOf("a"))
	write(t, f, "/in/a.txt", "one\ntwo\nthree\n")
	got := again(t, f, k)["a"]
	slices.Sort(got)
	if d := cmp.Diff(steps(k, 3), got); d != "" {
		t.Error(d)
	}
}

// TestAPlanListsWhatIsKnown has a plan for each state of the last run.
func TestAPlanListsWhatIsKnown(t *testing.T) {
	for name, test := range map[string]struct {
		change func(k *asking, f *memfs.FS)
		want   string // "step" for one that would run, "(step)" for one that is up to date
	}{
		"no run":           {func(_ *asking, f *memfs.FS) { remove(t, f, "/state/ledger.jsonl") }, "read split ask publish"},
		"nothing changed":  {func(*asking, *memfs.FS) {}, "(read) (split) (part-1) (part-2) (join) (ask) (publish)"},
		"the output gone":  {func(_ *asking, f *memfs.FS) { remove(t, f, "/out/a.txt") }, "(read) (split) (part-1) (part-2) (join) (ask) publish"},
		"another pack":     {func(k *asking, _ *memfs.FS) { k.pack = "please, " }, "(read) (split) part-1 part-2 join ask publish"},
		"another source":   {func(_ *asking, f *memfs.FS) { write(t, f, "/in/a.txt", "one\n") }, "read split ask publish"},
		"no artifacts":     {func(_ *asking, f *memfs.FS) { remove(t, f, "/state/runs/run-0001/artifacts.pack") }, "read split part-1 part-2 join ask publish"},
		"an answer broken": {func(_ *asking, f *memfs.FS) { damage(t, f, "a/part-2: TWO") }, "(read) (split) (part-1) part-2 join ask publish"},
	} {
		t.Run(name, func(t *testing.T) {
			k := asks("a")
			f := left(t, k, "done", twoLinesOf("a"))
			test.change(&k, f)
			was := k.count()
			p, err := k.on(f).Plan(context.Background(), job(), engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range p.Items[0].Steps {
				if s.Status == step.UpToDate {
					s.Step = "(" + s.Step + ")"
				}
				got = append(got, s.Step)
			}
			if d := cmp.Diff(test.want, strings.Join(got, " ")); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(was, k.count()); d != "" {
				t.Errorf("the plan asked: %s", d)
			}
		})
	}
}

// damage changes a text in the pack of the first run.
func damage(t testing.TB, f *memfs.FS, text string) {
	t.Helper()
	const pack = "/state/runs/run-0001/artifacts.pack"
	data := read(t, f, pack)
	if strings.Count(data, text) == 0 {
		t.Fatalf("the pack has no %q", text)
	}
	write(t, f, pack, strings.Replace(data, text, strings.Repeat("x", len(text)), 1))
}

// TestAPlanOfPartsIsWhatTheNextRunDoes lets all sorts of things happen between runs.
// What the plan could not know are the parts of a split that is to be run.
func TestAPlanOfPartsIsWhatTheNextRunDoes(t *testing.T) {
	known, unknown := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		k := asks("a", "b")
		k.deep, k.fickle = rapid.Bool().Draw(rt, "deep"), true
		f := lines(t, twoLinesOf("a", "b"))
		env := enginetest.Env(f)
		for range rapid.IntRange(1, 5).Draw(rt, "runs") {
			for range rapid.IntRange(0, 2).Draw(rt, "events") {
				k.pack = befall(t, rt, f, k.pack)
			}
			e := engine.New(env, k)
			p, err := e.Plan(context.Background(), job(), engine.Options{Force: true})
			if err != nil {
				rt.Fatal(err)
			}
			r, err := e.Run(context.Background(), job(), engine.Options{Force: true})
			if err != nil || r.Exit != 0 {
				rt.Fatalf("%s, %v", statuses(r), err)
			}
			planned, did := wouldRun(p), ran(t, f, r.Run)
			for _, item := range []string{"a", "b"} {
				want, got := planned[item], did[item]
				if slices.Contains(want, "split") && !slices.ContainsFunc(p.Items, hasPart(item)) {
					unknown++
					got = slices.DeleteFunc(got, func(s string) bool { return s == "join" || strings.HasPrefix(s, "part-") })
				} else if slices.Contains(want, "join") {
					known++
				}
				slices.Sort(want)
				slices.Sort(got)
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					rt.Fatalf("the run did otherwise with %s than the plan said: %s", item, d)
				}
			}
		}
	})
	if (known == 0 || unknown == 0) && !testing.Short() {
		t.Errorf("the parts were known %d times and unknown %d times", known, unknown)
	}
}

// hasPart finds the planned item whose parts are known.
func hasPart(item string) func(engine.PlannedItem) bool {
	return func(p engine.PlannedItem) bool {
		return p.Session == "/in/"+item+".txt" && slices.ContainsFunc(p.Steps, func(s engine.PlannedStep) bool { return s.Step == "part-1" })
	}
}

// befall lets one thing happen to the world or the pack.
func befall(t *testing.T, rt *rapid.T, f *memfs.FS, pack string) string {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name")
	switch rapid.IntRange(0, 4).Draw(rt, "event") {
	case 0:
		write(t, f, "/in/"+name+".txt", rapid.SampledFrom([]string{"one\n", twoLines, "two\none\n", "1\n2\n3\n4\n5\n"}).Draw(rt, "text"))
	case 1:
		_ = f.Remove("/out/" + name + ".txt")
	case 2:
		return rapid.SampledFrom([]string{"", "please, "}).Draw(rt, "pack")
	case 3:
		_ = f.Remove("/state/runs/run-0001/artifacts.pack")
	case 4:
		if _, err := f.Stat("/out"); err == nil {
			write(t, f, "/out/"+name+".txt", "edited")
		}
	}
	return pack
}

// silent is an author who must not be asked.
func silent() *author {
	return &author{while: func(context.Context, string) error { panic("asked") }}
}

// TestAReplayAsksNobody replays runs from the state folder alone.
func TestAReplayAsksNobody(t *testing.T) {
	for name, k := range kinds("a") {
		t.Run(name, func(t *testing.T) {
			f := left(t, k, "done", twoLinesOf("a"))
			remove(t, f, "/out/a.txt")
			again(t, f, k) // takes its answers from the first run
			other := enginetest.Memory()
			copyTree(t, f, other, "/state")
			k.author = silent()
			for _, run := range []string{"run-0001", "run-0002"} {
				r, err := k.on(other).Replay(context.Background(), run, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := &engine.Replay{Run: run, Items: []engine.ReplayedItem{
					{Item: "a", Source: "/in/a.txt", Status: engine.ReplaySame, Steps: len(steps(k, 2))},
				}}
				if d := cmp.Diff(want, r); d != "" {
					t.Error(d)
				}
			}
			if len(k.count()) > 0 {
				t.Errorf("asked %v", k.count())
			}
		})
	}
}

// TestAReplayFindsWhatBecameOfAnAnswer breaks the record of one answer.
func TestAReplayFindsWhatBecameOfAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		change func(f *memfs.FS, sum string)
		text   string
		now    string
		step   string
	}{
		"damaged":         {func(f *memfs.FS, _ string) { damage(t, f, "a/part-2: TWO") }, "a/part-2: TWO\n", "(damaged)", "part-2"},
		"gone":            {func(f *memfs.FS, sum string) { damage(t, f, sum) }, "a/part-1: ONE\n", "(gone)", "part-1"},
		"the last answer": {func(f *memfs.FS, sum string) { damage(t, f, sum) }, twoAnswers, "(gone)", "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			k := asks("a")
			f := left(t, k, "done", twoLinesOf("a"))
			sum := digest(test.text)
			test.change(f, sum)
			k.author = silent()
			r, err := k.on(f).Replay(context.Background(), "last", nil)
			if err != nil || r.Exit != 5 {
				t.Fatalf("%+v, %v", r, err)
			}
			i := r.Items[0]
			if i.Status != engine.ReplayDiffers || i.Step != test.step || i.Difference == nil ||
				i.Difference.Component != "artifacts.answer" || i.Difference.Old != "sha256:"+sum || i.Difference.New != test.now {
				t.Errorf("%+v, difference %+v", i, i.Difference)
			}
		})
	}
}

// A run that waits is replayed as far as it came.
func TestAReplayOfARunThatWaits(t *testing.T) {
	k := asks("a")
	k.instead = at(waiting, "a/part-1")
	f := left(t, k, "waiting:wanted", twoLinesOf("a"))
	k.author = silent()
	r, err := k.on(f).Replay(context.Background(), "last", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []engine.ReplayedItem{{Item: "a", Source: "/in/a.txt", Status: engine.ReplaySame, Steps: len([]string{"read", "split", "part-2"})}}
	if d := cmp.Diff(want, r.Items); d != "" {
		t.Error(d)
	}
}

// A dry run asks nobody and takes nothing that was not on record.
func TestADryRunAsksNobody(t *testing.T) {
	k := asks("a", "b")
	f := lines(t, twoLinesOf("a", "b"))
	dry := func(want string, exit int) engine.Result {
		t.Helper()
		before := picture(t, f, "/")
		k.author = silent()
		r, err := k.on(f).DryRun(context.Background(), job(), engine.Options{})
		if err != nil || statuses(r) != want || r.Exit != exit || len(k.count()) > 0 {
			t.Errorf("%s, exit %d, %v, asked %v", statuses(r), r.Exit, err, k.count())
		}
		if d := cmp.Diff(before, picture(t, f, "/")); d != "" {
			t.Errorf("the dry run wrote: %s", d)
		}
		return r
	}
	r := dry("waiting:not-asked waiting:not-asked", 4)
	if i := r.Items[0]; !strings.Contains(i.Message, "part-1") || i.Next != "run the job without --dry-run" || len(r.Effects) > 0 {
		t.Errorf("%+v, effects %v", i, r.Effects)
	}
	k.author = &author{}
	if r, err := k.on(f).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
		t.Fatal(statuses(r), err)
	}
	remove(t, f, "/out/a.txt")
	write(t, f, "/in/b.txt", "three\n")
	r = dry("done waiting:not-asked", 4)
	want := []step.Published{{Op: step.Create, Path: "/out/a.txt", Bytes: int64(len(twoAnswers)), SHA256: digest(twoAnswers)}}
	if d := cmp.Diff(want, r.Effects); d != "" {
		t.Error(d)
	}
}

// The last step that a person asks for is the last, also if it gives others.
func TestUntilAStepThatExpands(t *testing.T) {
	for until, want := range map[string][]string{
		"split": {"read", "split"},
		"ask":   {"ask", "join", "part-1", "part-2", "read", "split"},
	} {
		k := asks("a")
		f := lines(t, twoLinesOf("a"))
		r, err := k.on(f).Run(context.Background(), job(), engine.Options{Until: until})
		if err != nil || statuses(r) != "done" {
			t.Fatalf("%s, %v", statuses(r), err)
		}
		if d := cmp.Diff(want, slices.Sorted(maps.Keys(record(t, f, "run-0001")["a"].Steps))); d != "" {
			t.Errorf("until %s: %s", until, d)
		}
		again, err := k.on(f).Replay(context.Background(), "last", nil)
		if err != nil || again.Exit != 0 || again.Items[0].Status != engine.ReplaySame || again.Items[0].Steps != len(want) {
			t.Errorf("until %s: replayed: %+v, %v", until, again, err)
		}
		p, err := k.on(f).Plan(context.Background(), job(), engine.Options{Until: until})
		if err != nil || slices.ContainsFunc(p.Items[0].Steps, func(s engine.PlannedStep) bool { return !slices.Contains(want, s.Step) }) {
			t.Errorf("until %s: planned: %+v, %v", until, p, err)
		}
	}
}

// An item that ended before its last step is nothing that another run could use, also
// if more steps of it are finished than were known from the start.
func TestAnItemThatEndedEarlyIsNotInTheLedger(t *testing.T) {
	k := asks("a")
	k.instead = at(func(string) error { return &step.Refusal{Class: "no", Message: "m"} }, "a/ask")
	f := left(t, k, "refused:no", map[string]string{"a": manyLines(5)})
	if rec := inLedger(t, f); rec != nil {
		t.Errorf("%+v", rec)
	}
}

// inLedger is what the last run left of item "a".
func inLedger(t *testing.T, f *memfs.FS) *ledger.Record {
	t.Helper()
	l, err := ledger.Open(f, "/state/ledger.jsonl", engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := l.Item("compress", "test", "/in/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// A split may have nothing behind it but what it gives.
func TestASplitThatIsTheLast(t *testing.T) {
	k := asks("a")
	k.last = true
	k.instead = at(waiting, "a/part-2")
	f := left(t, k, "waiting:wanted", twoLinesOf("a"))
	r, err := resume(f, k, bring("a/part-2: TWO\n"))
	if err != nil || statuses(r) != "done" {
		t.Fatalf("%+v, %v", r.Items, err)
	}
	if d := cmp.Diff(straight(t, k, twoLinesOf("a")), record(t, f, "run-0001")); d != "" {
		t.Error(d)
	}
}

// A graph with two steps of one name ends its item, and nothing else.
func TestExpandedStepsHaveNamesOfTheirOwn(t *testing.T) {
	for name, names := range map[string][]string{
		"one that follows": {"x", "end"}, "two of them": {"x", "x"}, "the step itself": {"split"}, "one that is done": {"read"},
	} {
		k := given{asks("a"), func(w askingItem) []step.Step {
			split := step.Step{Name: "split", Run: nothing, Expand: func(map[string]step.Artifact) (more []step.Step, err error) {
				for _, name := range names {
					more = append(more, step.Step{Name: name, Asks: true, Run: nothing})
				}
				return more, nil
			}}
			return []step.Step{{Name: "read", Observe: w.observe, Run: w.read}, split, {Name: "end", Needs: []string{"split"}, Run: nothing}}
		}}
		r, err := engine.New(enginetest.Env(lines(t, twoLinesOf("a"))), k).Run(context.Background(), job(), engine.Options{})
		if err != nil || statuses(r) != "failed:failed" || !strings.Contains(r.Items[0].Message, fmt.Sprintf("two steps are called %q", names[len(names)-1])) {
			t.Errorf("%s: %+v, %v", name, r.Items, err)
		}
	}
}

// nothing is a step that leaves nothing.
func nothing(context.Context, step.Input) (step.Output, error) { return step.Output{}, nil }

// A panic that is not in the Run of a step ends the item, and leaves the step beside
// it alone.
func TestAPanicBesideAStep(t *testing.T) {
	left := failing("a/good")
	k := given{asks("a"), func(askingItem) []step.Step {
		return []step.Step{
			{Name: "bad", Asks: true, Run: nothing, Observe: func(context.Context) ([]step.Observed, error) { panic("observed") }},
			{Name: "good", Asks: true, Run: func(context.Context, step.Input) (step.Output, error) { return step.Output{}, left }},
		}
	}}
	f := lines(t, twoLinesOf("a"))
	e := engine.New(enginetest.Env(f), k)
	if r, err := e.Run(context.Background(), job(), engine.Options{}); err != nil || statuses(r) != "failed:no-answer" {
		t.Fatal(statuses(r), err)
	}
	left = nil // what was finished is looked at now, and that panics
	r, err := e.Resume(context.Background(), "last", engine.Options{})
	if err != nil || statuses(r) != "failed:internal-error" || r.Exit != 1 {
		t.Errorf("%s, %v", statuses(r), err)
	}
	if _, ok := record(t, f, "run-0001")["a"].Steps["good"]; !ok {
		t.Error("the step beside it was not recorded")
	}
}
