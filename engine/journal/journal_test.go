package journal_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
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
)

const file = "/journal.jsonl"

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }

func mem() *memfs.FS { return memfs.New(now) }

func open(t testing.TB, f afero.Fs) *journal.Journal {
	t.Helper()
	j, err := journal.Open(f, file, applog.Owner{Host: "h", PID: 1, Start: now()}, now)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// story is a run of two items, of which one fails in its second step.
var story = []journal.Body{
	&journal.RunOpened{Run: "r1", Kind: "k", Job: "sha256:0", Durability: applog.SyncedFolder},
	&journal.ItemOpened{Item: "a", Source: "/a.jsonl", Label: "a"},
	&journal.ItemOpened{Item: "b", Source: "/b.jsonl", Label: "b <&>"},
	&journal.StepStarted{Item: "a", Step: "s", Key: "sha256:1", Components: plan.Components{Params: []byte(`{"p":"<1>"}`)}},
	&journal.StepFinished{Item: "a", Step: "s", Artifacts: map[string]step.Artifact{"x": {SHA256: "11", Bytes: 1}}},
	&journal.StepStarted{Item: "b", Step: "s", Key: "sha256:1"},
	&journal.StepStarted{Item: "a", Step: "t", Effect: true, Key: "sha256:2"},
	&journal.StepFailed{Item: "b", Step: "s", Outcome: journal.Outcome{Status: step.Interrupted}},
	&journal.StepFinished{Item: "a", Step: "t", Published: []step.Published{{Op: "create", Path: "/o", Bytes: 2, SHA256: "22"}},
		Facts: map[string]any{"big": int64(9007199254740993), "ratio": 0.25, "flag": true}},
	&journal.StepStarted{Item: "b", Step: "s", Key: "sha256:1"},
	&journal.StepFailed{Item: "b", Step: "s", Outcome: journal.Outcome{Status: step.Failed, Class: "c", Place: step.Place{Line: 3}}},
	&journal.ItemFinished{Item: "a", Outcome: journal.Outcome{Status: step.Done}},
	&journal.ItemFinished{Item: "b", Outcome: journal.Outcome{Status: step.Failed, Class: "c", Next: "n"}},
	&journal.RunFinished{Exit: 1},
}

func tell(t testing.TB, f afero.Fs, bodies ...journal.Body) {
	t.Helper()
	j := open(t, f)
	for _, b := range bodies {
		if err := j.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, f afero.Fs) []byte {
	t.Helper()
	data, err := afero.ReadFile(f, file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

func TestLinesAreAsDocumented(t *testing.T) {
	f := mem()
	tell(t, f, story[0], &journal.ItemOpened{Item: "a", Source: "/s", Label: "l"})
	head := `{"v":1,"seq":1,"parent":"","type":"run-opened","time":"2026-01-02T03:04:05.000000006Z","body":` +
		`{"run":"r1","kind":"k","job":"sha256:0","durability":"file+folder","owner":{"host":"","pid":0,"start":"0001-01-01T00:00:00Z"}}`
	first := head + `,"sum":"` + sum(head) + `"}`
	head = `{"v":1,"seq":2,"parent":"` + sum(first) + `","type":"item-opened","time":"2026-01-02T03:04:05.000000006Z","body":` +
		`{"item":"a","source":"/s","label":"l"}`
	want := first + "\n" + head + `,"sum":"` + sum(head) + `"}` + "\n"
	if d := cmp.Diff(want, string(content(t, f))); d != "" {
		t.Error(d)
	}
}

func TestFold(t *testing.T) {
	f := mem()
	tell(t, f, story...)
	entries, err := journal.Read(f, file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := journal.Fold(entries)
	if err != nil {
		t.Fatal(err)
	}
	if s.Run.Run != "r1" || s.Finished == nil || s.Finished.Exit != 1 || len(s.Items) != 2 {
		t.Fatalf("%+v", s)
	}
	a, b := s.Item("a"), s.Item("b")
	if a.Result.Status != step.Done || a.Step("t").Published[0].Path != "/o" || !a.Step("t").Effect || a.Step("s").Artifacts["x"].SHA256 != "11" {
		t.Errorf("item a: %+v", a)
	}
	if fmt.Sprint(a.Step("t").Facts) != "map[big:9007199254740993 flag:true ratio:0.25]" {
		t.Errorf("facts %v", a.Step("t").Facts)
	}
	if b.Result.Next != "n" || b.Step("s").Phase != journal.Failed || b.Step("s").Failure.Place.Line != 3 || len(b.Steps) != 1 {
		t.Errorf("item b: %+v", b)
	}
	if s.Item("c") != nil || a.Step("u") != nil {
		t.Error("found what is not there")
	}
}

func TestAppendRefusesWhatCannotFollow(t *testing.T) {
	started := &journal.StepStarted{Item: "a", Step: "s"}
	done := &journal.ItemFinished{Item: "a", Outcome: journal.Outcome{Status: step.Done}}
	for name, test := range map[string]struct {
		after int // entries of the story
		more  []journal.Body
		bad   journal.Body
	}{
		"not opened":               {0, nil, story[1]},
		"opened twice":             {1, nil, story[0]},
		"item twice":               {2, nil, story[1]},
		"step of no item":          {1, nil, started},
		"finished, not started":    {2, nil, story[4]},
		"failed, not started":      {2, nil, &journal.StepFailed{Item: "a", Step: "s"}},
		"finished twice":           {5, nil, story[4]},
		"failed after finished":    {5, nil, &journal.StepFailed{Item: "a", Step: "s"}},
		"started after finished":   {5, nil, started},
		"done with a running step": {4, nil, done},
		"done with a failed step":  {4, []journal.Body{&journal.StepFailed{Item: "a", Step: "s"}}, done},
		"ended as interrupted":     {2, nil, &journal.ItemFinished{Item: "a", Outcome: journal.Outcome{Status: step.Interrupted}}},
		"item ended twice":         {2, []journal.Body{done}, done},
		"step of an ended item":    {2, []journal.Body{done}, started},
		"run ended, item open":     {2, nil, story[13]},
		"anything after the end":   {14, nil, story[1]},
	} {
		f := mem()
		tell(t, f, append(append([]journal.Body{}, story[:test.after]...), test.more...)...)
		before := content(t, f)
		j := open(t, f)
		if err := j.Append(test.bad); err == nil {
			t.Errorf("%s: appended", name)
		}
		if !bytes.Equal(before, content(t, f)) {
			t.Errorf("%s: the file changed", name)
		}
		if test.after == 1 {
			if err := j.Append(story[1]); err != nil {
				t.Errorf("%s: a refused entry broke the journal: %v", name, err)
			}
		}
	}
}

func TestEveryChangedByteIsFound(t *testing.T) {
	f := mem()
	tell(t, f, story...)
	good := content(t, f)
	for at := 0; at < len(good)-1; at += 3 { // without the last newline, the last line is torn
		bad := bytes.Clone(good)
		bad[at] ^= 1
		f := mem()
		if err := afero.WriteFile(f, file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		line := 1 + bytes.Count(good[:at], []byte("\n"))
		start := int64(1 + bytes.LastIndexByte(good[:at], '\n'))
		_, err := journal.Read(f, file)
		var e *journal.Error
		if !errors.As(err, &e) || e.File != file || e.Line != line || e.Byte != start {
			t.Fatalf("byte %d of line %d (from %d): %v", at, line, start, err)
		}
		if _, err := journal.Open(f, file, applog.Owner{}, now); !errors.As(err, &e) {
			t.Fatalf("byte %d: opened: %v", at, err)
		}
		if !bytes.Equal(content(t, f), bad) {
			t.Fatalf("byte %d: the file was touched", at)
		}
	}
}

// sealed spells an entry by hand.
func sealed(head string) string { return head + `,"sum":"` + sum(head) + `"}` + "\n" }

func TestWhatIsNotKnownIsRefusedAndNotTouched(t *testing.T) {
	const run = `"type":"run-opened","time":"2026-01-02T03:04:05Z","body":{"run":"r","kind":"k","job":"j","durability":"file","owner":{"host":"h","pid":1,"start":"2026-01-02T03:04:05Z"}}`
	good := `{"v":1,"seq":1,"parent":"",` + run
	second := `,"type":"item-opened","time":"2026-01-02T03:04:05Z","body":{"item":"a","source":"s","label":"l"}`
	parent := sum(strings.TrimSuffix(sealed(good), "\n"))
	for name, test := range map[string]struct {
		text string
		want journal.Problem // "" for none
	}{
		"good":            {sealed(good) + sealed(`{"v":1,"seq":2,"parent":"`+parent+`"`+second), ""},
		"version":         {sealed(strings.Replace(good, `"v":1`, `"v":2`, 1)), journal.UnknownVersion},
		"version, no sum": {`{"v":2,"new":"shape"}` + "\n", journal.UnknownVersion},
		"type":            {sealed(strings.Replace(good, "run-opened", "run-begun", 1)), journal.UnknownType},
		"more members":    {sealed(strings.Replace(good, `"parent"`, `"more":1,"parent"`, 1)), journal.Syntax},
		"more in body":    {sealed(strings.Replace(good, `"kind"`, `"more":1,"kind"`, 1)), journal.Syntax},
		"twice":           {sealed(strings.Replace(good, `"kind"`, `"run":"r","kind"`, 1)), journal.Syntax},
		"other spelling":  {sealed(strings.Replace(good, `"seq":1`, `"seq": 1`, 1)), journal.Syntax},
		"time not UTC":    {sealed(strings.Replace(good, `05Z","body"`, `05+01:00","body"`, 1)), journal.Syntax},
		"not JSON":        {"hello\n", journal.Syntax},
		"empty line":      {"\n", journal.Syntax},
		"sequence":        {sealed(strings.Replace(good, `"seq":1`, `"seq":2`, 1)), journal.BadSequence},
		"parent":          {sealed(good) + sealed(`{"v":1,"seq":2,"parent":"`+sum("")+`"`+second), journal.BadParent},
		"order":           {sealed(`{"v":1,"seq":1,"parent":""` + second), journal.BadOrder},
	} {
		f := mem()
		if err := afero.WriteFile(f, file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, read := journal.Read(f, file)
		j, opened := journal.Open(f, file, applog.Owner{}, now)
		for _, err := range []error{read, opened} {
			var e *journal.Error
			if errors.As(err, &e); (err == nil) != (test.want == "") || e != nil && e.Problem != test.want {
				t.Errorf("%s: %v, want %q", name, err, test.want)
			}
		}
		if j != nil {
			j.Close()
		}
		if string(content(t, f)) != test.text {
			t.Errorf("%s: the file was touched", name)
		}
	}
}

func TestEveryCutIsAJournal(t *testing.T) {
	f := mem()
	tell(t, f, story...)
	good := content(t, f)
	for cut := 0; cut < len(good); cut += 7 {
		f := mem()
		if err := afero.WriteFile(f, file, good[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j := open(t, f)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		entries, err := journal.Read(f, file)
		if err != nil {
			t.Fatalf("cut %d: %v", cut, err)
		}
		n := bytes.Count(good[:cut], []byte("\n"))
		if len(entries) != n && !(len(entries) == n+1 && good[cut] == '\n') {
			t.Errorf("cut %d: %d entries of %d", cut, len(entries), n)
		}
	}
}

func TestReopenedJournalGoesOn(t *testing.T) {
	straight, broken := mem(), mem()
	tell(t, straight, story...)
	for _, b := range story {
		tell(t, broken, b)
	}
	if !bytes.Equal(content(t, straight), content(t, broken)) {
		t.Error("opening and closing changed the journal")
	}
}

func TestOneWriter(t *testing.T) {
	f := mem()
	open(t, f)
	if _, err := journal.Open(f, file, applog.Owner{}, now); !errors.Is(err, fsys.ErrLocked) {
		t.Error(err)
	}
}

// genBody draws an entry that may or may not fit.
func genBody(t *rapid.T) journal.Body {
	item := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "item")
	name := rapid.SampledFrom([]string{"s", "t"}).Draw(t, "step")
	status := rapid.SampledFrom([]step.Status{step.Done, step.Failed, step.Refused, step.UpToDate, step.Waiting}).Draw(t, "status")
	switch rapid.IntRange(0, 20).Draw(t, "type") {
	case 0:
		return &journal.RunFinished{}
	case 1, 2:
		return &journal.ItemFinished{Item: item, Outcome: journal.Outcome{Status: status}}
	case 3, 4, 5:
		return &journal.ItemOpened{Item: item}
	case 6:
		return &journal.RunOpened{Run: "again"}
	case 7, 8, 9:
		return &journal.StepFailed{Item: item, Step: name, Outcome: journal.Outcome{Status: status}}
	case 10, 11, 12, 13:
		return &journal.StepFinished{Item: item, Step: name, Facts: map[string]any{"n": rapid.Int64().Draw(t, "n")}}
	}
	return &journal.StepStarted{Item: item, Step: name}
}

func TestPrefixesFoldAndTerminalFactsStay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := mem()
		j := open(t, f)
		if err := j.Append(story[0]); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(0, 40).Draw(rt, "entries") {
			_ = j.Append(genBody(rt)) // what does not fit is refused
		}
		entries, err := journal.Read(f, file)
		if err != nil {
			rt.Fatal(err)
		}
		var before journal.State
		for n := range len(entries) + 1 {
			after, err := journal.Fold(entries[:n])
			if err != nil {
				rt.Fatalf("prefix of %d: %v", n, err)
			}
			terminalFactsStay(rt, before, after)
			before = after
		}
	})
}

func terminalFactsStay(t *rapid.T, before, after journal.State) {
	same := func(what string, a, b any) {
		if d := cmp.Diff(a, b, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s went back: %s", what, d)
		}
	}
	if before.Finished != nil {
		same("run", before.Finished, after.Finished)
	}
	for i, item := range before.Items {
		same("item", item.ItemOpened, after.Items[i].ItemOpened)
		if item.Result != nil {
			same("result", item, after.Items[i])
		}
		for k, s := range item.Steps {
			if s.Phase == journal.Finished {
				same("step", s, after.Items[i].Steps[k])
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	m := mem()
	tell(f, m, story...)
	good := content(f, m)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(`{"v":2}` + "\n"))
	f.Add([]byte("\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := mem()
		if err := afero.WriteFile(m, file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := journal.Read(m, file)
		var e *journal.Error
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Byte > int64(len(data)) {
				t.Fatal(err)
			}
			return
		}
		if _, err := journal.Fold(entries); err != nil {
			t.Fatalf("read, but does not fold: %v", err)
		}
		j := open(t, m)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := journal.Read(m, file)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%d entries, %d after sealing, %v", len(entries), len(again), err)
		}
	})
}
