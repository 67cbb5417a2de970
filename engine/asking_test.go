package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/schemas"
)

const (
	twoLines = "one\ntwo\n"
	// twoAnswers is what comes of an item "a" of two lines.
	twoAnswers = "a/ask: A/PART-1: ONE\nA/PART-2: TWO\n\n"
)

func twoLinesOf(names ...string) map[string]string {
	files := map[string]string{}
	for _, name := range names {
		files[name] = twoLines
	}
	return files
}

// recordedItem is what a journal says of an item, but for its times and the order in
// which steps side by side came to their end.
type recordedItem struct {
	Result    *journal.Outcome
	Published []step.Published
	Steps     map[string]plan.Done // that are finished
}

func record(t testing.TB, f afero.Fs, run string) map[string]recordedItem {
	t.Helper()
	out := map[string]recordedItem{}
	look := func(i *journal.Item) error {
		r := recordedItem{i.Result, i.Published, map[string]plan.Done{}}
		for _, st := range i.Steps {
			if st.Phase == journal.Finished {
				r.Steps[st.Step] = st.Done
			}
		}
		out[i.ItemOpened.Item] = r
		return nil
	}
	state, err := journal.Scan(f, "/state/runs/"+run+"/journal.jsonl", look)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range state.Items {
		if i.Result == nil {
			_ = look(i)
		}
	}
	return out
}

// straight is the record of a run that nothing came in the way of.
func straight(t testing.TB, k asking, files map[string]string) map[string]recordedItem {
	t.Helper()
	f := lines(t, files)
	k.author, k.before, k.instead, k.kept = &author{fickle: k.fickle}, nil, nil, nil
	if r, err := k.on(f).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 0 {
		t.Fatal(statuses(r), err)
	}
	return record(t, f, "run-0001")
}

// valid demands that every line of a journal keeps the published schema.
func valid(t testing.TB, f afero.Fs, name string) {
	t.Helper()
	schema, err := schemas.Compile("journal")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(read(t, f, name)) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}

// bring gives texts the names text-1 and so on.
func bring(texts ...string) engine.Options {
	var o engine.Options
	for i, text := range texts {
		o.Brought = append(o.Brought, engine.Brought{Name: fmt.Sprintf("text-%d", i+1), Text: []byte(text)})
	}
	return o
}

func resume(f afero.Fs, k asking, o engine.Options) (engine.Result, error) {
	return k.on(f).Resume(context.Background(), "run-0001", o)
}

// left is a world with a run that left its items open as they say.
func left(t *testing.T, k asking, want string, files map[string]string) *memfs.FS {
	t.Helper()
	f := lines(t, files)
	if r, err := k.on(f).Run(context.Background(), job(), engine.Options{}); err != nil || statuses(r) != want {
		t.Fatalf("%s, %v; want %s", statuses(r), err, want)
	}
	return f
}

func TestAStepThatWaits(t *testing.T) {
	f := lines(t, twoLinesOf("a"))
	k := asks("a")
	k.instead = at(waiting, "a/ask")
	var told bytes.Buffer
	r, err := k.on(f).Run(context.Background(), job(), engine.Options{Sink: event.NewLines(&told)})
	if err != nil {
		t.Fatal(err)
	}
	waits(t, f, k, r)
	events := strings.Split(strings.TrimSpace(told.String()), "\n")
	for _, want := range []string{`"exit":4`, `"status":"waiting"`, `"class":"wanted"`, `"open":true`, `"next":"bring it: precis resume run-0001 --answer FILE"`} {
		if last := events[len(events)-1]; !strings.Contains(last, want) {
			t.Errorf("the last event lacks %s: %s", want, last)
		}
	}
	// Nobody brings anything.
	if r, err = resume(f, k, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	waits(t, f, k, r)
	if r, err = resume(f, k, bring(twoAnswers)); err != nil || statuses(r) != "done" || r.Exit != 0 || read(t, f, "/out/a.txt") != twoAnswers {
		t.Fatalf("%s, exit %d, %v", statuses(r), r.Exit, err)
	}
	if d := cmp.Diff(map[string]int{"a/part-1": 1, "a/part-2": 1}, k.count()); d != "" {
		t.Errorf("the author was asked: %s", d)
	}
	if d := cmp.Diff(straight(t, k, twoLinesOf("a")), record(t, f, "run-0001")); d != "" {
		t.Errorf("not as a run at one go: %s", d)
	}
	if runs, err := k.on(f).Runs(); err != nil || runs[0].Status != engine.RunFinished || *runs[0].Exit != 0 || runs[0].Resumed != 2 {
		t.Errorf("%+v, %v", runs, err)
	}
	valid(t, f, journalFile)
}

// waits checks what is told of a run whose only item waits for the answer to "ask".
func waits(t *testing.T, f afero.Fs, k asking, r engine.Result) {
	t.Helper()
	i := r.Items[0]
	if statuses(r) != "waiting:wanted" || r.Exit != 4 || !i.Open || i.Message != "the answer to a/ask is wanted" || i.Next != "bring it: precis resume run-0001 --answer FILE" {
		t.Errorf("exit %d, %+v", r.Exit, i)
	}
	for _, entry := range told(t, f, journalFile) {
		if strings.HasPrefix(entry, "run-finished") || strings.HasPrefix(entry, "item-finished") {
			t.Errorf("it is not over, but for the journal: %s", entry)
		}
	}
	runs, err := k.on(f).Runs()
	if err != nil || len(runs) != 1 || runs[0].Status != engine.RunWaiting || runs[0].Exit != nil || runs[0].Count[step.Waiting] != 1 {
		t.Errorf("%+v, %v", runs, err)
	}
	d, err := k.on(f).Show("last")
	if err != nil || d.Status != engine.RunWaiting || len(d.Detail) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	want := &journal.Outcome{Status: step.Waiting, Class: "wanted", Message: "the answer to a/ask is wanted", Next: "bring it: precis resume run-0001 --answer FILE", Open: true}
	if diff := cmp.Diff(want, d.Detail[0].Left); diff != "" || d.Detail[0].Result != nil {
		t.Errorf("%s; result %+v", diff, d.Detail[0].Result)
	}
	if _, err := f.Stat("/out"); err == nil {
		t.Error("it was published")
	}
}

// What a refusal says and what it takes to resume are one line; where to resume is not
// the next step, the line does not offer it.
func TestTheNextStepOfAStepThatWaits(t *testing.T) {
	for _, c := range []struct {
		next   string
		resume []string
		want   string
	}{
		{"", []string{}, "precis resume run-0001"},
		{"wait", []string{}, "wait: precis resume run-0001"},
		{"", []string{"--answer", "FILE"}, "precis resume run-0001 --answer FILE"},
		{"change the job", nil, "change the job"},
	} {
		k := asks("a")
		k.instead = func(string) error {
			return &step.Refusal{Class: "wanted", Message: "m", Next: c.next, Open: step.Waiting, Resume: c.resume}
		}
		r, err := k.on(lines(t, twoLinesOf("a"))).Run(context.Background(), job(), engine.Options{})
		if err != nil || r.Items[0].Next != c.want {
			t.Errorf("%q, %v, want %q", r.Items[0].Next, err, c.want)
		}
	}
}

// TestWhoTakesWhatWasBrought has runs that wait, and what is left of them when texts
// were brought.
func TestWhoTakesWhatWasBrought(t *testing.T) {
	part := func(n int) string { return fmt.Sprintf("a/part-%d: brought %d", n, n) }
	for name, test := range map[string]struct {
		items []string
		wait  []string // the steps
		texts []string
		want  string // the statuses
		class string // of the refusal
		left  string // the names of the texts that nobody took
		exit  int
		kept  map[string]string // the answers of steps that had waited
	}{
		"one text and one step, whatever it says": {
			[]string{"a"}, []string{"a/ask"}, []string{"anything"}, "done", "", "", 0, map[string]string{"a/ask": "anything"},
		},
		"one text that is nobody's": {
			[]string{"a"}, []string{"a/part-1", "a/part-2"}, []string{"anything"}, "waiting:wanted", "not-asked-for", "text-1", 4, nil,
		},
		"two texts and one step": {
			[]string{"a"}, []string{"a/ask"}, []string{"anything", "a/ask: mine"}, "done", "not-asked-for", "text-1", 1, map[string]string{"a/ask": "a/ask: mine"},
		},
		"two steps of an item, each its own": {
			[]string{"a"}, []string{"a/part-1", "a/part-2"}, []string{part(2), part(1)}, "done", "", "", 0, map[string]string{"a/part-1": part(1), "a/part-2": part(2)},
		},
		"two items, each its own": {
			[]string{"a", "b"}, []string{"a/ask", "b/ask"}, []string{"b/ask: of b", "a/ask: of a"}, "done done", "", "", 0,
			map[string]string{"a/ask": "a/ask: of a", "b/ask": "b/ask: of b"},
		},
		"one of two items": {
			[]string{"a", "b"}, []string{"a/ask", "b/ask"}, []string{"b/ask: of b"}, "waiting:wanted done", "", "", 4, map[string]string{"b/ask": "b/ask: of b"},
		},
		"one of two steps": {
			[]string{"a"}, []string{"a/part-1", "a/part-2"}, []string{part(2)}, "waiting:wanted", "", "", 4, map[string]string{"a/part-2": part(2)},
		},
		"two texts for one step: the first": {
			[]string{"a", "b"}, []string{"a/ask", "b/ask"}, []string{"a/ask: first", "a/ask: second"}, "done waiting:wanted", "not-asked-for", "text-2", 4,
			map[string]string{"a/ask": "a/ask: first"},
		},
		"all that nobody took are named": {
			[]string{"a", "b"}, []string{"a/ask", "b/ask"}, []string{"x", "a/ask: of a", "y"}, "done waiting:wanted", "not-asked-for", "text-1, text-3", 4,
			map[string]string{"a/ask": "a/ask: of a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := asks(test.items...)
			k.instead = at(waiting, test.wait...)
			f := lines(t, twoLinesOf(test.items...))
			if r, err := k.on(f).Run(context.Background(), job(), engine.Options{}); err != nil || r.Exit != 4 {
				t.Fatal(statuses(r), err)
			}
			r, err := resume(f, k, bring(test.texts...))
			if statuses(r) != test.want || classOf(err) != test.class || r.Exit != test.exit {
				t.Errorf("%s, exit %d, %v", statuses(r), r.Exit, err)
			}
			if refused := new(step.Refusal); errors.As(err, &refused) && !strings.HasSuffix(refused.Message, "asked for "+test.left) {
				t.Errorf("it says %q of %q", refused.Message, test.left)
			}
			if d := cmp.Diff(test.kept, answers(t, f, test.wait...), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

// answers are those of the steps, "item/step", that are finished.
func answers(t testing.TB, f afero.Fs, steps ...string) map[string]string {
	t.Helper()
	store, err := engine.New(engine.Env{FS: f, State: "/state"}).Artifacts("run-0001")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	out := map[string]string{}
	items := record(t, f, "run-0001")
	for _, at := range steps {
		item, name, _ := strings.Cut(at, "/")
		d, ok := items[item].Steps[name]
		if !ok {
			continue
		}
		text, err := store.Get(d.Artifacts["answer"])
		if err != nil {
			t.Error(at, err)
		}
		out[at] = string(text)
	}
	return out
}

// A lone text is not given to a step that was cut off before it could say whether it
// waits, in the same item or in another one, even if it comes first.
func TestALoneTextIsForTheStepThatWaits(t *testing.T) {
	for name, cut := range map[string]string{"the same item": "b/part-1", "another item": "a/part-1"} {
		t.Run(name, func(t *testing.T) {
			f := lines(t, twoLinesOf("a", "b"))
			ctx, cancel := context.WithCancel(context.Background())
			waits, kept := newGate(), newGate()
			k := asks("a", "b")
			k.instead = func(at string) error {
				if at != "b/part-2" {
					return nil
				}
				waits.open()
				return waiting(at)
			}
			k.while = func(ctx context.Context, at string) error {
				if at == cut {
					waits.wait(t)
					cancel()
				}
				return ctx.Err()
			}
			j := job()
			j.Run.Workers = 2
			if r, err := k.on(f).Run(ctx, j, engine.Options{}); err != nil || r.Items[1].Status == step.Done {
				t.Fatal(statuses(r), err)
			}
			k.while = nil
			k.before = func(at string) {
				if at == "b/part-2" {
					kept.wait(t)
				}
			}
			k.kept = func(at string) error {
				if at == cut {
					kept.open()
				}
				return nil
			}
			r, err := resume(f, k, bring("b/part-2: brought"))
			if err != nil || r.Exit != 0 {
				t.Error(statuses(r), err)
			}
			want := map[string]string{cut: says(cut, "one"), "b/part-2": "b/part-2: brought"}
			if d := cmp.Diff(want, answers(t, f, cut, "b/part-2")); d != "" {
				t.Error(d)
			}
		})
	}
}

// gate lets those who wait pass once it is open.
type gate struct {
	once sync.Once
	c    chan struct{}
}

func newGate() *gate { return &gate{c: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.c) }) }

// wait fails the test rather than to wait for ever.
func (g *gate) wait(t testing.TB) {
	t.Helper()
	select {
	case <-g.c:
	case <-time.After(patience):
		t.Error("what was waited for does not come")
	}
}

// patience is how long something may take that takes no time.
const patience = 10 * time.Second

// A run that is over takes nothing, and is not touched.
func TestATextForAFinishedRun(t *testing.T) {
	k := asks("a")
	f := left(t, k, "done", twoLinesOf("a"))
	before := picture(t, f, "/state")
	r, err := resume(f, k, bring(twoAnswers))
	if classOf(err) != "not-asked-for" || len(r.Items) != 0 || r.Exit != 1 {
		t.Errorf("%s, exit %d, %v", statuses(r), r.Exit, err)
	}
	if refused := new(step.Refusal); errors.As(err, &refused) && (!strings.Contains(refused.Message, "text-1") || !strings.Contains(refused.Next, "precis show run-0001")) {
		t.Errorf("%+v", refused)
	}
	if d := cmp.Diff(before, picture(t, f, "/state")); d != "" {
		t.Error(d)
	}
}

// A step that failed is tried again, without anything that was brought.
func TestAStepThatFailsOpen(t *testing.T) {
	f := lines(t, twoLinesOf("a"))
	k := asks("a")
	k.instead = at(failing, "a/part-1")
	r, err := k.on(f).Run(context.Background(), job(), engine.Options{})
	if err != nil || statuses(r) != "failed:no-answer" || r.Exit != 1 || !r.Items[0].Open || r.Items[0].Next != "look at the service: precis resume run-0001" {
		t.Fatalf("exit %d, %+v, %v", r.Exit, r.Items[0], err)
	}
	d, err := k.on(f).Show("last")
	if err != nil || d.Status != engine.RunOpen || d.Detail[0].Result != nil || d.Detail[0].Left == nil || d.Detail[0].Left.Class != "no-answer" {
		t.Errorf("%+v, %v", d, err)
	}
	k.instead = nil
	if r, err = resume(f, k, engine.Options{}); err != nil || statuses(r) != "done" || r.Exit != 0 || read(t, f, "/out/a.txt") != twoAnswers {
		t.Errorf("%s, %v", statuses(r), err)
	}
	// The other part had its answer, and the first was never asked for.
	if d := cmp.Diff(map[string]int{"a/part-1": 1, "a/part-2": 1, "a/ask": 1}, k.count()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(straight(t, k, twoLinesOf("a")), record(t, f, "run-0001")); d != "" {
		t.Error(d)
	}
}

// mixed is a run of an item for each word, one after the other, and how it ends.
type mixed struct {
	items, want string
	stop        bool // after a failure
	exit        int
	over        bool // nothing is left to be resumed
}

func TestExitsOfMixedItems(t *testing.T) {
	for _, m := range []mixed{
		{"done skip", "done refused:nothing", false, 0, true},
		{"wait", "waiting:wanted", false, 4, false},
		{"done wait done", "done waiting:wanted done", false, 4, false},
		{"wait skip", "waiting:wanted refused:nothing", false, 4, false},
		{"wait fail", "waiting:wanted failed:no-answer", false, 1, false},
		{"fail wait", "failed:no-answer waiting:wanted", false, 1, false},
		{"wait refuse", "waiting:wanted refused:no", false, 1, false},
		{"refuse done", "refused:no done", false, 1, true},
		{"fail done", "failed:no-answer done", false, 1, false},
		{"wait done", "waiting:wanted done", true, 4, false},
		{"wait fail done", "waiting:wanted failed:no-answer interrupted:stopped", true, 1, false},
		{"skip fail wait", "refused:nothing failed:no-answer interrupted:stopped", true, 1, false},
		{"refuse done", "refused:no interrupted:stopped", true, 1, false},
	} {
		t.Run(fmt.Sprintf("%s, stop %v", m.items, m.stop), m.check)
	}
}

func (m mixed) check(t *testing.T) {
	words := strings.Fields(m.items)
	names := strings.Split("abc", "")[:len(words)]
	k := asks(names...)
	k.instead = func(at string) error {
		item, name, _ := strings.Cut(at, "/")
		if name != "ask" {
			return nil
		}
		return become(words[slices.Index(names, item)], at)
	}
	j := small()
	if m.stop {
		j.Run.OnFailure = "stop"
	}
	f := lines(t, twoLinesOf(names...))
	r, err := k.on(f).Run(context.Background(), j, engine.Options{})
	if err != nil || statuses(r) != m.want || r.Exit != m.exit {
		t.Errorf("%s, exit %d, %v; want %s, exit %d", statuses(r), r.Exit, err, m.want, m.exit)
	}
	state, err := journal.Scan(f, journalFile, nil)
	if err != nil || (state.Finished != nil) != m.over || m.over && state.Finished.Exit != m.exit {
		t.Errorf("the journal ends with %+v, %v", state.Finished, err)
	}
	valid(t, f, journalFile)
	k.instead = nil // what was open is done now, and what had ended has ended
	r, err = resume(f, k, engine.Options{})
	for i, word := range words {
		want := step.Done
		if word == "refuse" || word == "skip" {
			want = step.Refused
		}
		if err != nil || r.Items[i].Status != want {
			t.Errorf("gone on with: %s, %v", statuses(r), err)
		}
	}
}

// become is what an item comes to that is told so in a word.
func become(word, at string) error {
	switch word {
	case "wait":
		return waiting(at)
	case "fail":
		return failing(at)
	case "refuse":
		return &step.Refusal{Class: "no", Message: "m"}
	case "skip":
		return &step.Refusal{Class: "nothing", Message: "m", Skip: true}
	}
	return nil
}

// A run is said to wait only if nothing of it was cut off.
func TestWhatARunIsSaidToWaitFor(t *testing.T) {
	for name, test := range map[string]struct {
		cut  string // the step during which the run is interrupted
		want engine.RunStatus
		left string // the class that is told of item "b"
	}{
		"nothing cut":     {"", engine.RunWaiting, "wanted"},
		"another item":    {"a/part-1", engine.RunInterrupted, ""},
		"a step besides":  {"b/part-1", engine.RunInterrupted, ""},
		"an ended one is": {"a/none", engine.RunWaiting, "wanted"},
	} {
		t.Run(name, func(t *testing.T) {
			f := lines(t, twoLinesOf("a", "b"))
			k := asks("a", "b")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			k.instead = at(waiting, "b/part-2")
			k.while = func(ctx context.Context, at string) error {
				if at == test.cut {
					cancel()
				}
				return ctx.Err()
			}
			if _, err := k.on(f).Run(ctx, small(), engine.Options{}); err != nil {
				t.Fatal(err)
			}
			d, err := k.on(f).Show("last")
			if err != nil || d.Status != test.want {
				t.Fatalf("%+v, %v", d, err)
			}
			got := ""
			if b := d.Detail[1]; b.Left != nil {
				got = b.Left.Class
			}
			if got != test.left {
				t.Errorf("item b: %q, want %q", got, test.left)
			}
		})
	}
}
