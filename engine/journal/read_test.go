package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/memfs"
)

// refusal is what every way to read a journal says of one that is wrong; they say
// the same, and none touches the file.
func refusal(t *testing.T, f *memfs.FS) *journal.Error {
	t.Helper()
	before := content(t, f)
	var errs [3]error
	for _, err := range journal.Read(f, file) {
		errs[0] = err
	}
	_, errs[1] = journal.Scan(f, file, nil)
	_, errs[2] = journal.Open(f, file, owner, now, nil)
	var first *journal.Error
	for _, err := range errs {
		var e *journal.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		if first == nil {
			first = e
		}
		if (e == nil) != (first == nil) || e != nil && *e != *first {
			t.Fatalf("told in two ways: %v; %v", first, e)
		}
	}
	if !bytes.Equal(content(t, f), before) {
		t.Fatal("the file was touched")
	}
	return first
}

func TestEveryChangedByteIsFound(t *testing.T) {
	f := mem()
	tell(t, f, 4, story()...)
	good := content(t, f)
	for at := 0; at < len(good)-1; at += 3 { // without the last newline, the last line is torn
		bad := bytes.Clone(good)
		bad[at] ^= 1
		e := refusal(t, write(t, bad))
		line := 1 + bytes.Count(good[:at], []byte("\n"))
		start := int64(1 + bytes.LastIndexByte(good[:at], '\n'))
		if e == nil || e.File != file || e.Line != line || e.Byte != start {
			t.Fatalf("byte %d of line %d (from %d): %v", at, line, start, e)
		}
	}
}

func TestWhatIsNotKnownIsRefusedAndNotTouched(t *testing.T) {
	good := spell(1, "", opened(1))
	head := strings.TrimSuffix(good, good[strings.Index(good, `,"sum":`):])
	parent := sum(strings.TrimSuffix(good, "\n"))
	change := func(old, new string) string { return sealed(strings.Replace(head, old, new, 1)) }
	for name, test := range map[string]struct {
		text string
		want journal.Problem // "" for none
		line int
	}{
		"good":             {good + spell(2, parent, item("a"), started("a", "s")), "", 0},
		"version":          {change(`"v":2`, `"v":3`), journal.UnknownVersion, 1},
		"version before":   {`{"v":1,"seq":1,"parent":"","type":"run-opened"}` + "\n", journal.UnknownVersion, 1},
		"version, no sum":  {good + `{"v":3,"new":"shape"}` + "\n", journal.UnknownVersion, 2},
		"type":             {change("run-opened", "run-begun"), journal.UnknownType, 1},
		"type among known": {good + strange(spell(2, parent, item("a"), item("b"))), journal.UnknownType, 2},
		"sum":              {strings.Replace(good, `"kind":"k"`, `"kind":"l"`, 1), journal.BadSum, 1},
		"no sum":           {head + "}\n", journal.BadSum, 1},
		"more members":     {change(`"parent"`, `"more":1,"parent"`), journal.Syntax, 1},
		"more in body":     {change(`"kind"`, `"more":1,"kind"`), journal.Syntax, 1},
		"more in entry":    {change(`"time"`, `"more":1,"time"`), journal.Syntax, 1},
		"twice":            {change(`"kind"`, `"run":"r","kind"`), journal.Syntax, 1},
		"other spelling":   {change(`"seq":1`, `"seq": 1`), journal.Syntax, 1},
		"other case":       {change(`"seq":1`, `"Seq":1`), journal.Syntax, 1},
		"time not UTC":     {change(`06Z","body"`, `06+01:00","body"`), journal.Syntax, 1},
		"no entries":       {sealed(`{"v":2,"seq":1,"parent":"","entries":[]`), journal.Syntax, 1},
		"no body":          {sealed(`{"v":2,"seq":1,"parent":"","entries":[{"type":"run-opened","time":"2026-01-02T03:04:05Z"}]`), journal.Syntax, 1},
		"not JSON":         {"hello\n", journal.Syntax, 1},
		"empty line":       {good + "\n", journal.Syntax, 2},
		"sequence":         {change(`"seq":1`, `"seq":2`), journal.BadSequence, 1},
		"sequence again":   {good + spell(1, parent, item("a")), journal.BadSequence, 2},
		"parent":           {good + spell(2, sum(""), item("a")), journal.BadParent, 2},
		"no parent":        {good + spell(2, "", item("a")), journal.BadParent, 2},
		"order":            {good + spell(2, parent, item("a"), item("a")), journal.BadOrder, 2},
	} {
		e := refusal(t, write(t, []byte(test.text)))
		switch {
		case test.want == "" && e != nil, test.want != "" && e == nil:
			t.Errorf("%s: %v, want %q", name, e, test.want)
		case e == nil:
		case e.Problem != test.want || e.Line != test.line || e.Byte != int64(start(test.text, test.line)):
			t.Errorf("%s: %v, want %q in line %d", name, e, test.want, test.line)
		case !strings.HasPrefix(e.Error(), file+":"):
			t.Errorf("%s: the message does not name the file: %v", name, e)
		}
	}
}

// strange gives the last entry of a line an unknown type.
func strange(line string) string {
	at := strings.LastIndex(line, "item-opened")
	return sealed(line[:at] + "item-begun" + line[at+len("item-opened"):strings.Index(line, `,"sum":`)])
}

// start is the offset of a line.
func start(text string, line int) (at int) {
	for range line - 1 {
		at += strings.Index(text[at:], "\n") + 1
	}
	return at
}

// next is an entry that may follow any line of the story.
func next(s *journal.State) journal.Body {
	switch {
	case s.Run == nil:
		return opened(0)
	case s.Finished == nil:
		return &journal.RunResumed{Owner: owner}
	}
	return &journal.ItemRestored{Item: "a"}
}

// TestEveryCut cuts a journal at every byte. What is left are the whole lines, and
// the journal goes on behind them.
func TestEveryCut(t *testing.T) {
	f := mem()
	tell(t, f, 4, story()...)
	good := content(t, f)
	lines := bytes.SplitAfter(bytes.TrimSuffix(good, []byte("\n")), []byte("\n"))
	entries := read(t, f)
	for cut := range len(good) + 1 {
		whole, n := 0, 0
		for _, line := range lines {
			end := whole + len(bytes.TrimSuffix(line, []byte("\n")))
			if end > cut {
				break
			}
			whole, n = whole+len(line), min(n+4, len(entries))
		}
		checkCut(t, good, cut, min(whole, cut), entries[:n])
		if t.Failed() {
			t.Fatalf("cut at byte %d", cut)
		}
	}
}

// checkCut reads what is left of a journal, and goes on with it.
func checkCut(t *testing.T, good []byte, cut, whole int, want []journal.Entry) {
	f := write(t, good[:cut])
	if d := differ(want, read(t, f)); d != "" {
		t.Error(d)
	}
	state := scan(t, f)
	j := open(t, f)
	if d := differ(state, *j.State()); d != "" {
		t.Error(d)
	}
	aside, err := afero.ReadFile(f, file+".torn-1")
	torn := bytes.TrimPrefix(good[whole:cut], []byte("\n"))
	if !bytes.Equal(aside, torn) || (len(torn) == 0) != errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q was kept aside, %v; want %q", aside, err, torn)
	}
	more := next(&state)
	must(t, j.Append(more))
	must(t, j.Commit())
	must(t, j.Close())
	after := content(t, f)
	if !bytes.HasPrefix(after, good[:whole]) {
		t.Error("a whole line was cut")
	}
	if d := differ(append(want[:len(want):len(want)], journal.Entry{Time: now(), Body: more}), read(t, f)); d != "" {
		t.Error(d)
	}
}

func TestReadStopsWhenItIsToldTo(t *testing.T) {
	f := mem()
	tell(t, f, 3, story()...)
	n := 0
	for range journal.Read(f, file) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d entries", n)
	}
	for _, err := range journal.Read(mem(), file) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// A line that cannot follow leaves nothing of itself behind a reader of entries.
func TestALineIsReadWholeOrNotAtAll(t *testing.T) {
	good := spell(1, "", opened(1), item("a"))
	bad := spell(2, sum(strings.TrimSuffix(good, "\n")), ended("a", step.Done), started("a", "s"))
	n := 0
	for _, err := range journal.Read(write(t, []byte(good+bad)), file) {
		if err == nil {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d entries", n)
	}
}
