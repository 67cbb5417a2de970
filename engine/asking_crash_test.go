package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/cas"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/schemas"
	"github.com/precis-dev/precis/spec"
)

// TestWhatIsKeptIsDurable looks at the disk after a power cut each time that a step
// has kept an answer.
func TestWhatIsKeptIsDurable(t *testing.T) {
	f := lines(t, twoLinesOf("a"))
	k := asks("a")
	var mu sync.Mutex
	looked := map[string]bool{}
	k.kept = func(at string) error {
		mu.Lock()
		defer mu.Unlock()
		looked[at] = true
		for seed := range uint64(8) {
			if err := keeps(f.CrashClone(seed), at); err != nil {
				t.Errorf("%s, seed %d: %v", at, seed, err)
			}
		}
		return nil
	}
	if r, err := k.on(f).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
		t.Fatal(statuses(r), err)
	}
	if d := cmp.Diff(map[string]bool{"a/part-1": true, "a/part-2": true, "a/ask": true}, looked); d != "" {
		t.Error(d)
	}
	valid(t, f, journalFile)
}

// keeps tells whether a disk has what a step kept, and the record of it.
func keeps(disk afero.Fs, at string) error {
	state, err := journal.Scan(disk, journalFile, nil)
	if err != nil {
		return err
	}
	item, name, _ := strings.Cut(at, "/")
	st := state.Item(item).Step(name)
	if st == nil || st.Kept["answer"] == (step.Artifact{}) {
		return fmt.Errorf("the record has %+v", st)
	}
	store, err := cas.Open(disk, "/state/runs/run-0001/artifacts.pack")
	if err != nil {
		return err
	}
	return errors.Join(store.Verify(st.Kept["answer"]), store.Close())
}

// given is a kind whose one item has the graph that a test gives.
type given struct {
	asking
	graph func(askingItem) []step.Step
}

func (g given) Steps(env step.Env, _ *spec.Job, item step.Item) ([]step.Step, error) {
	return g.graph(askingItem{g.asking, env, item}), nil
}

// TestKeptIsOfAllAttempts has a step that keeps something in each of three attempts.
func TestKeptIsOfAllAttempts(t *testing.T) {
	f := lines(t, twoLinesOf("a"))
	attempts := []map[string]string{{"x": "1", "y": "1"}, {"y": "2", "z": ""}, {"x": "3"}}
	sees := []map[string]string{{}, {"x": "1", "y": "1"}, {"x": "1", "y": "2", "z": ""}}
	after := []map[string]string{{"x": "1", "y": "1"}, {"x": "1", "y": "2", "z": ""}, {"x": "3", "y": "2", "z": ""}}
	attempt := 0
	kept := func(in step.Input) map[string]string {
		out := map[string]string{}
		for name, a := range in.Kept {
			data, err := in.Open(a)
			if err != nil {
				t.Error(err)
			}
			out[name] = string(data)
		}
		return out
	}
	run := func(_ context.Context, in step.Input) (step.Output, error) {
		n := attempt
		attempt++
		if d := cmp.Diff(sees[n], kept(in)); d != "" {
			t.Errorf("attempt %d: %s", n, d)
		}
		for name, text := range attempts[n] { // one by one, as they come
			if err := in.Keep(map[string][]byte{name: []byte(text)}); err != nil {
				t.Error(err)
			}
		}
		if d := cmp.Diff(after[n], kept(in)); d != "" {
			t.Errorf("after attempt %d: %s", n, d)
		}
		if n < len(attempts)-1 {
			return step.Output{}, failing("a/one")
		}
		return step.Output{Facts: map[string]any{"attempts": n + 1}}, nil
	}
	k := given{asks("a"), func(askingItem) []step.Step { return []step.Step{{Name: "one", Asks: true, Run: run}} }}
	e := engine.New(enginetest.Env(f), k)
	r, err := e.Run(context.Background(), job(), engine.Options{})
	for range len(attempts) - 1 {
		if err != nil || statuses(r) != "failed:no-answer" {
			t.Fatal(statuses(r), err)
		}
		r, err = e.Resume(context.Background(), "last", engine.Options{})
	}
	if err != nil || statuses(r) != "done" || attempt != len(attempts) {
		t.Errorf("%s, %v after %d attempts", statuses(r), err, attempt)
	}
	valid(t, f, journalFile)
}

// TestAnAnswerOutlivesItsAttempt ends the attempt at a step right after it kept its
// answer.
func TestAnAnswerOutlivesItsAttempt(t *testing.T) {
	for name, end := range map[string]func(cancel func()) error{
		"fails":       func(func()) error { return failing("a/part-1") },
		"waits":       func(func()) error { return waiting("a/part-1") },
		"interrupted": func(cancel func()) error { cancel(); return context.Canceled },
	} {
		for name2, at := range map[string]string{"a part": "a/part-1", "the whole": "a/ask"} {
			t.Run(name+" "+name2, func(t *testing.T) {
				f := lines(t, twoLinesOf("a"))
				k := asks("a")
				k.fickle = true
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				k.kept = func(now string) error {
					if now != at {
						return nil
					}
					return end(cancel)
				}
				r, err := k.on(f).Run(ctx, job(), engine.Options{})
				if err != nil || r.Items[0].Status == step.Done || r.Items[0].Status == step.Refused {
					t.Fatal(statuses(r), err)
				}
				k.kept = nil
				if r, err = resume(f, k, engine.Options{}); err != nil || r.Exit != 0 {
					t.Fatal(statuses(r), err)
				}
				if d := cmp.Diff(map[string]int{"a/part-1": 1, "a/part-2": 1, "a/ask": 1}, k.count()); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(straight(t, k, twoLinesOf("a")), record(t, f, "run-0001")); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// life is a world over several processes that die, and what they asked for.
type life struct {
	t    testing.TB
	name string
	k    asking
	mu   sync.Mutex
	kept map[string]bool // what is on record
}

// newLife has a kind that tells what it asks for again although it had kept it.
func newLife(t testing.TB, name string, k asking) *life {
	l := &life{t: t, name: name, k: k, kept: map[string]bool{}}
	l.k.author = &author{while: func(_ context.Context, at string) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.kept[at] {
			t.Errorf("%s: %s was asked for again", l.name, at)
		}
		return nil
	}}
	l.k.kept = func(at string) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.kept[at] = true
		return nil
	}
	return l
}

// branch is the same life up to now, which ends in another way.
func (l *life) branch(name string) *life {
	b := newLife(l.t, name, l.k)
	b.kept, b.k.asked = maps.Clone(l.kept), maps.Clone(l.k.asked)
	return b
}

// goOn resumes the last run, or begins one where there was none.
func (l *life) goOn(f afero.Fs, id string) (engine.Result, error) {
	env := enginetest.Env(f)
	env.NewID = func() string { return id }
	e := engine.New(env, l.k)
	r, err := e.Resume(context.Background(), "last", engine.Options{})
	if class := classOf(err); class == "no-such-run" || class == "run-not-begun" {
		return e.Run(context.Background(), job(), engine.Options{})
	}
	return r, err
}

// ended demands that the world is as after a run at one go, that nobody was asked
// more often than there were processes, and that the record is whole.
func (l *life) ended(f *memfs.FS, r engine.Result, err error, processes int, want map[string]recordedItem) {
	l.t.Helper()
	if err != nil || r.Exit != 0 {
		l.t.Errorf("%s: %s, %v", l.name, statuses(r), err)
		return
	}
	for at, n := range l.k.count() {
		if n > processes {
			l.t.Errorf("%s: %s was asked %d times by %d processes", l.name, at, n, processes)
		}
	}
	// How an effect was done is no matter.
	if d := cmp.Diff(want, record(l.t, f, r.Run), withoutMethod); d != "" {
		l.t.Errorf("%s: %s", l.name, d)
	}
	k := l.k
	k.author = silent()
	replay, err := k.on(f).Replay(context.Background(), r.Run, nil)
	if err != nil || replay.Exit != 0 || replay.Items[0].Status != engine.ReplaySame {
		l.t.Errorf("%s: replayed: %+v, %v", l.name, replay, err)
	}
	env := enginetest.Env(f)
	env.NewID = func() string { return "run-after" }
	after, err := engine.New(env, k).Run(context.Background(), job(), engine.Options{})
	if err != nil || statuses(after) != "up-to-date" {
		l.t.Errorf("%s: run again: %s, %v", l.name, statuses(after), err)
	}
}

// withoutMethod leaves out how an effect was done: one that is settled does not know.
var withoutMethod = cmpopts.IgnoreMapEntries(func(name string, _ any) bool { return name == "method" })

// TestAnswersOutliveEveryCrash cuts the power at every operation of a run, and goes
// on from what is left.
func TestAnswersOutliveEveryCrash(t *testing.T) {
	for _, replace := range []bool{false, true} {
		t.Run(fmt.Sprint("replace ", replace), func(t *testing.T) {
			k := asks("a")
			k.replace = replace
			want := straight(t, k, twoLinesOf("a"))
			met := map[string]int{}
			for at := 1; crashedAt(t, k, at, want, met); at++ {
			}
			t.Logf("what was met: %v", met)
			for _, what := range []string{"not begun", "asked twice", "kept", "published"} {
				if met[what] == 0 {
					t.Errorf("no crash left a run that was %s", what)
				}
			}
			if met["without a receipt"] == 0 && replace {
				t.Error("no crash came between a record and its receipt")
			}
		})
	}
}

// crashedAt cuts the power at an operation, unless there are fewer. It counts what
// the crashes met.
func crashedAt(t *testing.T, k asking, at int, want map[string]recordedItem, met map[string]int) bool {
	base := lines(t, twoLinesOf("a"))
	f := faultfs.New(base, faultfs.Plan{At: at, Stop: true, Short: true})
	first := newLife(t, fmt.Sprint("until operation ", at), k)
	_, _ = first.goOn(f, "run-0001")
	if !f.Hit() {
		return false
	}
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		l := first.branch(fmt.Sprintf("%s, seed %d", f.Ops()[at-1], seed))
		disk := base.CrashClone(seed)
		meet(disk, met)
		r, err := l.goOn(disk, "run-0002")
		l.ended(disk, r, err, 2, want)
		if k.replace {
			l.receipt(disk, r)
		}
		if r.Run == "run-0002" {
			met["not begun"]++
		}
		for _, n := range l.k.count() {
			met["asked twice"] += n - 1
		}
	}
	return true
}

// meet counts what a run left that died: an answer that was kept by a step that did
// not end; a publication that was not recorded; and one without its receipt.
func meet(disk afero.Fs, met map[string]int) {
	state, err := journal.Scan(disk, journalFile, nil)
	if err != nil || state.Item("a") == nil {
		return
	}
	for _, st := range state.Item("a").Steps {
		switch {
		case st.Phase == journal.Started && len(st.Kept) > 0:
			met["kept"]++
		case st.Phase == journal.Started && st.Effect:
			_, sum, err := fsys.Sum(disk, st.Intent[0].Path)
			if err == nil && sum == st.Intent[0].SHA256 {
				met["published"]++
			}
		case st.Phase == journal.Finished && st.Effect:
			if _, err := disk.Stat("/state/runs/run-0001/receipts/a.json"); err != nil {
				met["without a receipt"]++
			}
		}
	}
}

// TestAnswersOutliveAFullDisk has the disk full at each operation, and room again for
// the resume.
func TestAnswersOutliveAFullDisk(t *testing.T) {
	want := straight(t, asks("a"), twoLinesOf("a"))
	twice, broken := 0, 0
	for at := 1; ; at++ {
		base := lines(t, twoLinesOf("a"))
		f := faultfs.New(base, faultfs.Plan{At: at, Err: syscall.ENOSPC, Short: true})
		l := newLife(t, fmt.Sprint("full at operation ", at), asks("a"))
		r, _ := l.goOn(f, "run-0001")
		if !f.Hit() {
			break
		}
		l.name = fmt.Sprint("full at ", f.Ops()[at-1])
		if r.Exit == 0 {
			continue
		}
		broken++
		r, err := l.goOn(base, "run-0002")
		l.ended(base, r, err, 2, want)
		for _, n := range l.k.count() {
			twice += n - 1
		}
	}
	t.Logf("%d runs were broken off, %d answers were asked for twice", broken, twice)
	if broken == 0 || twice == 0 {
		t.Error("the sweep missed what it is for")
	}
}

// receipt demands that of the session which was replaced, with the answers that it
// was made from.
func (l *life) receipt(f *memfs.FS, r engine.Result) {
	l.t.Helper()
	if read(l.t, f, "/in/a.txt") != twoAnswers {
		l.t.Errorf("%s: the session was not replaced", l.name)
	}
	name := "/state/runs/" + r.Run + "/receipts/a.json"
	text, err := afero.ReadFile(f, name)
	if err != nil {
		l.t.Errorf("%s: %v", l.name, err)
		return
	}
	checkReceipt(l.t, text)
}

func checkReceipt(t testing.TB, text []byte) {
	t.Helper()
	schema, err := schemas.Compile("receipt")
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err = json.Unmarshal(text, &v); err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		t.Errorf("%v: %s", err, text)
	}
	var r engine.Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]any{"ask": {}, "part-1": {"bytes": 14.0}, "part-2": {"bytes": 14.0}} // len("a/part-1: ONE\n")
	if d := cmp.Diff(want, r.Asked); d != "" {
		t.Error(d)
	}
}

// TestTheReceiptTellsWhoWasAsked has answers of this run, and one that an earlier run
// had got.
func TestTheReceiptTellsWhoWasAsked(t *testing.T) {
	f := lines(t, twoLinesOf("a"))
	k := asks("a")
	if r, err := k.on(f).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 || r.Items[0].Replaced != nil {
		t.Fatal(r.Items, err)
	}
	k.replace = true
	env := enginetest.Env(f)
	env.NewID = func() string { return "run-0002" }
	r, err := engine.New(env, k).Run(context.Background(), job(), engine.Options{})
	if err != nil || statuses(r) != "done" || r.Items[0].Replaced == nil {
		t.Fatal(r.Items, err)
	}
	text := read(t, f, "/state/runs/run-0002/receipts/a.json")
	checkReceipt(t, []byte(text))
	told, err := json.MarshalIndent(r.Items[0].Replaced, "", "  ")
	if err != nil || string(told)+"\n" != text {
		t.Errorf("told %s, %v", told, err)
	}
}

// TestAnswersOutliveManyCrashes cuts the power again and again, at random.
func TestAnswersOutliveManyCrashes(t *testing.T) {
	flat, deep := asks("a"), asks("a")
	deep.deep = true
	wants := map[bool]map[string]recordedItem{false: straight(t, flat, twoLinesOf("a")), true: straight(t, deep, twoLinesOf("a"))}
	most := 0
	rapid.Check(t, func(rt *rapid.T) {
		k := flat
		k.deep = rapid.Bool().Draw(rt, "deep")
		f := lines(t, twoLinesOf("a"))
		l := newLife(t, "many crashes", k)
		crashes := rapid.IntRange(1, 6).Draw(rt, "crashes")
		for n := range crashes {
			dying := faultfs.New(f, faultfs.Plan{At: rapid.IntRange(1, 50).Draw(rt, "operation"), Stop: true})
			_, _ = l.goOn(dying, fmt.Sprintf("run-%04d", n))
			f = f.CrashClone(rapid.Uint64().Draw(rt, "seed"))
		}
		r, err := l.goOn(f, "run-last")
		l.ended(f, r, err, crashes+1, wants[k.deep])
		for _, n := range l.k.count() {
			most = max(most, n)
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
	t.Logf("one was asked %d times", most)
	if most < 2 && !testing.Short() {
		t.Error("no crash came between an answer and its record")
	}
}
