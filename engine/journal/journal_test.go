package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/schemas"
)

const file = "/journal.jsonl"

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }

func mem() *memfs.FS { return memfs.New(now) }

var owner = applog.Owner{Host: "h", PID: 1, Start: now()}

func open(t rapid.TB, f afero.Fs) *journal.Journal {
	t.Helper()
	j, err := journal.Open(f, file, owner, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// done is a finished step.
func done(item, name string) *journal.StepFinished {
	c := plan.Components{Algorithm: plan.Algorithm, Step: name, Params: []byte(`{"p":"<1>"}`), Inputs: []plan.Input{{Name: "source", Digest: "sha256:9"}}}
	return &journal.StepFinished{Item: item, Done: plan.Done{Step: name, Key: "sha256:1", Components: c}}
}

func started(item, name string) *journal.StepStarted {
	return &journal.StepStarted{Item: item, Step: name}
}

func failed(item, name string, s step.Status) *journal.StepFailed {
	return &journal.StepFailed{Item: item, Step: name, Outcome: journal.Outcome{Status: s, Class: "c", Place: step.Place{Line: 3}}}
}

func ended(item string, s step.Status) *journal.ItemFinished {
	return &journal.ItemFinished{Item: item, Outcome: journal.Outcome{Status: s}}
}

func opened(items int) *journal.RunOpened {
	return &journal.RunOpened{Run: "r1", Kind: "k", Job: "sha256:0", Items: items, Durability: applog.SyncedFolder, Owner: owner}
}

func item(id string) *journal.ItemOpened {
	return &journal.ItemOpened{Item: id, Source: "/" + id, Label: id + " <&>"}
}

// story is a run of two items, of which one fails in its second attempt.
func story() []journal.Body {
	made := []step.Published{{Op: step.Replace, Path: "/o", Bytes: 2, SHA256: "22", Old: &step.Artifact{SHA256: "21", Bytes: 9}}}
	first, second, again := done("a", "s"), done("a", "t"), done("a", "u")
	first.Artifacts = map[string]step.Artifact{"x": {SHA256: "11", Bytes: 1}}
	second.Published, second.Sizes = made, &step.Sizes{Before: step.Size{Bytes: 9}, After: step.Size{Bytes: 2}}
	second.Facts = map[string]any{"big": int64(9007199254740993), "ratio": 0.25, "flag": true}
	again.Home, again.Observed = "r0", []step.Observed{{Name: "n", Path: "/n", Artifact: step.Artifact{SHA256: "33", Bytes: 3}}}
	return []journal.Body{
		opened(2), item("a"), item("b"),
		started("a", "s"), first, started("b", "s"), again,
		&journal.StepStarted{Item: "a", Step: "t", Effect: true, Intent: made},
		failed("b", "s", step.Interrupted),
		&journal.RunResumed{Owner: owner},
		second, started("b", "s"), failed("b", "s", step.Failed),
		ended("a", step.Done),
		&journal.ItemFinished{Item: "b", Outcome: journal.Outcome{Status: step.Failed, Class: "c", Next: "n"}},
		&journal.RunFinished{Exit: 1},
		&journal.ItemRestored{Item: "a", Published: made},
	}
}

func kept(item, name string, artifacts ...string) *journal.StepKept {
	b := &journal.StepKept{Item: item, Step: name, Artifacts: map[string]step.Artifact{}}
	for _, a := range artifacts {
		name, sum, _ := strings.Cut(a, "=")
		b.Artifacts[name] = step.Artifact{SHA256: sum, Bytes: 1}
	}
	return b
}

// leftOpen says of an item that is finished that it is open.
func leftOpen(b *journal.ItemFinished) *journal.ItemFinished {
	b.Open = true
	return b
}

// left is a step that leaves its item open.
func left(item, name string, s step.Status) *journal.StepFailed {
	b := failed(item, name, s)
	b.Open = true
	return b
}

// patience is a run of an item whose step keeps what it gets, waits, fails and comes
// to its end in the third process.
func patience() []journal.Body {
	asked := done("a", "s")
	asked.Asked, asked.Facts = true, map[string]any{"by": "somebody"}
	return []journal.Body{
		opened(1), item("a"),
		started("a", "s"), kept("a", "s", "x=11", "y=22"), kept("a", "s", "y=33"), left("a", "s", step.Waiting),
		&journal.RunResumed{Owner: owner},
		started("a", "s"), kept("a", "s", "z=44"), left("a", "s", step.Failed),
		&journal.RunResumed{Owner: owner},
		started("a", "s"), asked,
		ended("a", step.Done),
		&journal.RunFinished{},
	}
}

// tell writes entries, so many to a line.
func tell(t rapid.TB, f afero.Fs, each int, bodies ...journal.Body) {
	t.Helper()
	j := open(t, f)
	for i, b := range bodies {
		must(t, j.Append(b))
		if (i+1)%each == 0 {
			must(t, j.Commit())
		}
	}
	must(t, j.Commit())
	must(t, j.Close())
}

func content(t rapid.TB, f afero.Fs) []byte {
	t.Helper()
	data, err := afero.ReadFile(f, file)
	must(t, err)
	return data
}

func write(t rapid.TB, data []byte) *memfs.FS {
	t.Helper()
	f := mem()
	must(t, afero.WriteFile(f, file, data, 0o600))
	return f
}

func read(t rapid.TB, f afero.Fs) []journal.Entry {
	t.Helper()
	var all []journal.Entry
	for e, err := range journal.Read(f, file) {
		must(t, err)
		all = append(all, e)
	}
	return all
}

func scan(t rapid.TB, f afero.Fs) journal.State {
	t.Helper()
	s, err := journal.Scan(f, file, nil)
	must(t, err)
	return s
}

// differ compares states and entries.
func differ(a, b any) string {
	if reflect.DeepEqual(a, b) {
		return "" // much faster than to say so
	}
	return cmp.Diff(a, b, cmpopts.IgnoreUnexported(journal.State{}), cmpopts.EquateEmpty())
}

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// sealed ends a line that was spelled by hand.
func sealed(head string) string { return head + `,"sum":"` + sum(head) + `"}` + "\n" }

// spell writes a line by hand.
func spell(seq int, parent string, bodies ...journal.Body) string {
	var entries []string
	for _, b := range bodies {
		body, err := json.Marshal(b)
		if err != nil {
			panic(err)
		}
		entries = append(entries, fmt.Sprintf(`{"type":"%s","time":"2026-01-02T03:04:05.000000006Z","body":%s}`, b.Type(), body))
	}
	return sealed(fmt.Sprintf(`{"v":2,"seq":%d,"parent":"%s","entries":[%s]`, seq, parent, strings.Join(entries, ",")))
}

func TestLinesAreAsDocumented(t *testing.T) {
	f := mem()
	tell(t, f, 2, opened(1), item("a"), started("a", "s"))
	first := spell(1, "", opened(1), item("a"))
	want := first + spell(2, sum(strings.TrimSuffix(first, "\n")), started("a", "s"))
	if d := cmp.Diff(want, string(content(t, f))); d != "" {
		t.Error(d)
	}
	const entry = `{"v":2,"seq":1,"parent":"","entries":[{"type":"run-opened","time":"2026-01-02T03:04:05.000000006Z","body":{"run":"r1",`
	if !strings.HasPrefix(want, entry) {
		t.Errorf("%s\ndoes not begin with\n%s", want, entry)
	}
}

func TestLinesFollowTheirSchema(t *testing.T) {
	s, err := schemas.Compile("journal")
	must(t, err)
	for _, bodies := range [][]journal.Body{story(), patience()} {
		f := mem()
		tell(t, f, 3, bodies...)
		for _, line := range bytes.Split(bytes.TrimSpace(content(t, f)), []byte("\n")) {
			if err := s.Validate(number(t, line)); err != nil {
				t.Errorf("%#v\n%s", err, line)
			}
		}
	}
	// The schema tells what it is about from what it is not.
	good := spell(1, "", kept("a", "s", "x="+sum("")))
	must(t, s.Validate(number(t, []byte(good))))
	for old, bad := range map[string]string{
		`"artifacts":`: `"artefacts":`, `"step":"s",`: ``, `"item":"a",`: ``, `"bytes":1`: `"bytes":"1"`, `step-kept`: `step-started`,
	} {
		if line := strings.Replace(good, old, bad, 1); line == good || s.Validate(number(t, []byte(line))) == nil {
			t.Errorf("valid with %s: %s", bad, line)
		}
	}
}

// number reads JSON with its numbers as they are written.
func number(t testing.TB, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	must(t, d.Decode(&v))
	return v
}

// TestPatience looks at the state after each entry of that run.
func TestPatience(t *testing.T) {
	all := patience()
	none := map[string]string{}
	first := map[string]string{"x": "11", "y": "22"}
	second := map[string]string{"x": "11", "y": "33"}
	third := map[string]string{"x": "11", "y": "33", "z": "44"}
	for n, want := range map[int]struct {
		phase journal.Phase
		kept  map[string]string
		left  step.Status // why the item is open
	}{
		3: {journal.Started, none, ""}, 4: {journal.Started, first, ""}, 5: {journal.Started, second, ""},
		6: {journal.Failed, second, step.Waiting}, 7: {journal.Failed, second, step.Waiting},
		8: {journal.Started, second, ""}, 9: {journal.Started, third, ""},
		10: {journal.Failed, third, step.Failed}, 11: {journal.Failed, third, step.Failed},
		12: {journal.Started, third, ""}, 13: {journal.Finished, third, ""},
	} {
		f := mem()
		tell(t, f, 1, all[:n]...)
		state := scan(t, f)
		i := state.Item("a")
		st, why := i.Step("s"), step.Status("")
		if left := i.Left(); left != nil {
			why = left.Status
		}
		got := map[string]string{}
		for name, a := range st.Kept {
			got[name] = a.SHA256
		}
		if d := cmp.Diff(want.kept, got); d != "" || st.Phase != want.phase || why != want.left || i.Result != nil {
			t.Errorf("after %d entries: %s, left as %q: %s", n, st.Phase, why, d)
		}
	}
	f := mem()
	tell(t, f, 4, all...)
	var asked bool
	state, err := journal.Scan(f, file, func(i *journal.Item) error {
		asked = i.Step("s").Done.Asked
		return nil
	})
	if err != nil || state.Finished == nil || !asked || state.Item("a").Left() != nil {
		t.Errorf("%+v, asked %v, %v", state, asked, err)
	}
}

// An item is left open by its steps only where each that ended badly is to be tried
// again, and none was cut off.
func TestWhyAnItemIsOpen(t *testing.T) {
	start := []journal.Body{opened(1), item("a"), started("a", "s"), started("a", "t")}
	for name, test := range map[string]struct {
		then []journal.Body
		want step.Status
	}{
		"both under way":             {nil, ""},
		"one waits":                  {[]journal.Body{done("a", "s"), left("a", "t", step.Waiting)}, step.Waiting},
		"one waits, one under way":   {[]journal.Body{left("a", "s", step.Waiting)}, ""},
		"one under way, one waits":   {[]journal.Body{left("a", "t", step.Waiting)}, ""},
		"both, the first is told":    {[]journal.Body{left("a", "t", step.Waiting), left("a", "s", step.Failed)}, step.Failed},
		"one waits, one interrupted": {[]journal.Body{left("a", "s", step.Waiting), failed("a", "t", step.Interrupted)}, ""},
		"one interrupted, one waits": {[]journal.Body{failed("a", "s", step.Interrupted), left("a", "t", step.Waiting)}, ""},
		"one waits, one refused":     {[]journal.Body{left("a", "s", step.Waiting), failed("a", "t", step.Refused)}, ""},
		"all is done":                {[]journal.Body{done("a", "s"), done("a", "t")}, ""},
		"it ended all the same":      {[]journal.Body{left("a", "s", step.Waiting), failed("a", "t", step.Refused), ended("a", step.Refused)}, ""},
	} {
		f := mem()
		tell(t, f, 2, append(start[:len(start):len(start)], test.then...)...)
		var over *journal.Item // with its steps
		state, err := journal.Scan(f, file, func(i *journal.Item) error {
			over = &journal.Item{Steps: i.Steps, Result: i.Result}
			return nil
		})
		must(t, err)
		got := step.Status("")
		if o := state.Item("a").Left(); o != nil {
			got = o.Status
		}
		if got != test.want || over != nil && (len(over.Steps) == 0 || over.Left() != nil) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestFold(t *testing.T) {
	f := mem()
	tell(t, f, 4, story()...)
	steps := map[string][]*journal.Step{}
	s, err := journal.Scan(f, file, func(i *journal.Item) error {
		steps[i.ItemOpened.Item] = i.Steps
		return nil
	})
	must(t, err)
	if s.Run.Run != "r1" || s.Finished == nil || s.Finished.Exit != 1 || len(s.Items) != 2 || len(s.Resumed) != 1 || !s.Ended.Equal(now()) {
		t.Fatalf("%+v", s)
	}
	a, b := s.Item("a"), s.Item("b")
	if a.Result.Status != step.Done || a.Published[0].Old.SHA256 != "21" || a.Sizes.After.Bytes != 2 || len(a.Restored) != 1 || a.Steps != nil {
		t.Errorf("item a: %+v", a)
	}
	st := steps["a"]
	if len(st) != 3 || st[0].Done.Artifacts["x"].SHA256 != "11" || st[1].Done.Home != "r0" || !st[2].Effect || st[2].Intent[0].Path != "/o" {
		t.Errorf("steps of a: %+v", st)
	}
	if facts := fmt.Sprint(st[2].Done.Facts); facts != "map[big:9007199254740993 flag:true ratio:0.25]" {
		t.Errorf("facts %s", facts)
	}
	if b.Result.Next != "n" || len(steps["b"]) != 1 || steps["b"][0].Phase != journal.Failed || steps["b"][0].Failure.Place.Line != 3 {
		t.Errorf("item b: %+v, %+v", b, steps["b"])
	}
	if s.Item("c") != nil || b.Step("u") != nil {
		t.Error("found what is not there")
	}
}

func TestAppendRefusesWhatCannotFollow(t *testing.T) {
	s := story()
	for name, test := range map[string]struct {
		before []journal.Body
		bad    journal.Body
	}{
		"not opened":               {nil, s[1]},
		"opened twice":             {s[:1], s[0]},
		"item twice":               {s[:2], s[1]},
		"step of no item":          {s[:1], started("a", "s")},
		"finished, not started":    {s[:3], done("a", "s")},
		"failed, not started":      {s[:3], failed("a", "s", step.Failed)},
		"finished twice":           {s[:5], done("a", "s")},
		"taken after finished":     {s[:7], s[6]},
		"failed after finished":    {s[:5], failed("a", "s", step.Failed)},
		"started after finished":   {s[:5], started("a", "s")},
		"done with a running step": {s[:4], ended("a", step.Done)},
		"bad with a running step":  {s[:4], ended("a", step.Failed)},
		"done with a failed step":  {append(s[:4:4], failed("a", "s", step.Failed)), ended("a", step.Done)},
		"ended as interrupted":     {s[:3], ended("a", step.Interrupted)},
		"item ended twice":         {append(s[:3:3], ended("a", step.Done)), ended("a", step.Failed)},
		"step of an ended item":    {append(s[:3:3], ended("a", step.Done)), started("a", "s")},
		"run ended, item open":     {s[:3], s[15]},
		"anything after the end":   {s[:16], item("c")},
		"resumed after the end":    {s[:16], s[9]},
		"restored while open":      {s[:8], s[16]},
		"kept of no item":          {s[:1], kept("a", "s", "x=1")},
		"kept, not started":        {s[:3], kept("a", "s", "x=1")},
		"kept after finished":      {s[:5], kept("a", "s", "x=1")},
		"kept after failed":        {s[:9], kept("b", "s", "x=1")},
		"kept after left open":     {append(s[:4:4], left("a", "s", step.Waiting)), kept("a", "s", "x=1")},
		"kept of an ended item":    {append(s[:3:3], ended("a", step.Failed)), kept("a", "s", "x=1")},
		"kept after the end":       {s[:16], kept("a", "s", "x=1")},
		"ended as waiting":         {append(s[:4:4], left("a", "s", step.Waiting)), ended("a", step.Waiting)},
		"ended and open":           {append(s[:4:4], left("a", "s", step.Failed)), leftOpen(ended("a", step.Failed))},
		"refused and open":         {s[:3], leftOpen(ended("a", step.Refused))},
		"done and open":            {s[:3], leftOpen(ended("a", step.Done))},
		"done with an open step":   {append(s[:4:4], left("a", "s", step.Waiting)), ended("a", step.Done)},
		"run ended, item waits":    {patience()[:6], &journal.RunFinished{Exit: 4}},
	} {
		f := mem()
		tell(t, f, 3, test.before...)
		before := content(t, f)
		j := open(t, f)
		if err := j.Append(test.bad); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), string(test.bad.Type())) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, j.Commit())
		if !bytes.Equal(before, content(t, f)) {
			t.Errorf("%s: the file changed", name)
		}
		if len(test.before) == 1 {
			must(t, j.Append(s[1])) // a refused entry broke nothing
		}
	}
}

// A run that is resumed may find its step done by another run meanwhile.
func TestAStepIsTakenFromAnotherRunInPlaceOfAnAttempt(t *testing.T) {
	taken := done("a", "s")
	taken.Home = "r2"
	for _, attempt := range [][]journal.Body{{started("a", "s")}, {started("a", "s"), failed("a", "s", step.Interrupted)}} {
		f := mem()
		tell(t, f, 1, append([]journal.Body{opened(1), item("a")}, append(attempt, taken)...)...)
		st := scan(t, f)
		if got := st.Item("a").Step("s"); got.Phase != journal.Finished || got.Done.Home != "r2" || got.Failure != nil || !got.Began.IsZero() {
			t.Errorf("%+v", got)
		}
	}
}

// What is appended is what is read, also where JSON cannot say it exactly.
func TestWhatAppendTakesCanBeRead(t *testing.T) {
	type pair struct{ B, A int }
	odd := done("a\xff", "s\xfe")
	odd.Facts = map[string]any{"pair": pair{1, 2}, "\xff": "\xff", "n": json.Number("1E5"), "f": 1e300}
	odd.Components.Params = []byte(" {\"b\" : \"\xff\u2028\"}")
	f := mem()
	j := open(t, f)
	for _, b := range []journal.Body{opened(2), item("a\xff"), item("b"), started("a\xff", "s\xfe"), odd} {
		must(t, j.Append(b))
	}
	if err := j.Append(item("a\xfe")); err == nil {
		t.Error("two items whose names are read as one")
	}
	must(t, j.Append(ended("a\xff", step.Done)))
	must(t, j.Commit())
	if n := len(read(t, f)); n != 6 {
		t.Errorf("%d entries", n)
	}
	bad := done("b", "s")
	bad.Facts = map[string]any{"f": func() {}}
	if err := j.Append(bad); err == nil {
		t.Error("appended a function")
	}
}

func TestReopenedJournalGoesOn(t *testing.T) {
	straight, broken := mem(), mem()
	tell(t, straight, 1, story()...)
	for _, b := range story() {
		tell(t, broken, 1, b)
	}
	if d := cmp.Diff(string(content(t, straight)), string(content(t, broken))); d != "" {
		t.Error(d)
	}
}

func TestOpenTellsOfFinishedItemsOnce(t *testing.T) {
	f := mem()
	tell(t, f, 5, story()...)
	var told []string
	j, err := journal.Open(f, file, owner, now, func(i *journal.Item) error {
		told = append(told, fmt.Sprint(i.ItemOpened.Item, len(i.Steps)))
		return nil
	})
	must(t, err)
	if d := cmp.Diff([]string{"a3", "b1"}, told); d != "" {
		t.Error(d)
	}
	if d := differ(scan(t, f), *j.State()); d != "" {
		t.Error(d)
	}
}

func TestAnErrorOfTheCallerIsNotOneOfTheJournal(t *testing.T) {
	f := mem()
	tell(t, f, 5, story()...)
	mine := errors.New("mine")
	stop := func(*journal.Item) error { return mine }
	_, scanned := journal.Scan(f, file, stop)
	_, opened := journal.Open(f, file, owner, now, stop)
	for _, err := range []error{scanned, opened} {
		var e *journal.Error
		if !errors.Is(err, mine) || errors.As(err, &e) {
			t.Error(err)
		}
	}
	open(t, f) // the lock was given up
}

func TestOneWriter(t *testing.T) {
	f := mem()
	j := open(t, f)
	_, err := journal.Open(f, file, applog.Owner{Host: "other", PID: 2}, now, nil)
	var locked *applog.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, fsys.ErrLocked) || locked.Owner == nil {
		t.Fatal(err)
	}
	if *locked.Owner != owner || !strings.Contains(err.Error(), "process 1 on h since 2026-01-02T03:04:05Z") {
		t.Error(err)
	}
	must(t, j.Close())
	open(t, f)
}
