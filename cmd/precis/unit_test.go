package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/spec"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"a word-that-is-too-wide b", 6, []string{"a", "word-that-is-too-wide", "b"}},
		{"灯籠 の一覧 x", 11, []string{"灯籠 の一覧", "x"}},
		{"precis resume r --state 'my  own state' now", 24, []string{"precis resume r --state", "'my  own state' now"}},
		{"try --set a.b=1 now", 8, []string{"try", "--set a.b=1", "now"}},
	}
	for _, test := range tests {
		if got := wrap(test.text, test.width); !slices.Equal(got, test.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

func TestShorten(t *testing.T) {
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"abcdefghij", 5, "ab…ij"},
		{"abcdefghij", 6, "ab…hij"},
		{"灯籠灯籠灯籠", 7, "灯…灯籠"}, // the head has room for one and a half
	}
	for _, test := range tests {
		got := shorten(test.text, test.width)
		if textWidth(got) > test.width || test.want != "" && got != test.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain, 灯籠, é": "plain, 灯籠, é",
		"\x1b[31mred":  `\u001b[31mred`,
		"a\u202eb":     `a\u202eb`,
		"a\nb":         `a\u000ab`,
		"a\xffb":       `a\ufffdb`,
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0: "", 0.0001: "▏", 0.5: "██", 0.53: "██▏", 1: "████"} {
		if got := bar(share, 4); got != want {
			t.Errorf("bar(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestTableAlignsWideCharacters(t *testing.T) {
	var b bytes.Buffer
	p := &page{w: &b, width: 20}
	p.table(0, []column{{head: "name", stretch: true}, {head: "n", right: true}}, [][]string{
		{"灯籠の一覧灯籠の一覧", "1,000"}, {"ab", "5"},
	})
	want := []int{20, 20, 20}
	var got []int
	for line := range strings.Lines(b.String()) {
		got = append(got, textWidth(strings.TrimSuffix(line, "\n")))
	}
	if p.err != nil || !slices.Equal(got, want) {
		t.Errorf("lines are %v wide, want %v:\n%s", got, want, b.String())
	}
}

// TestWideTable: all columns that stretch give way, the widest first.
func TestWideTable(t *testing.T) {
	p := &page{w: io.Discard, width: 30}
	columns := []column{{head: "a", stretch: true}, {head: "b"}, {head: "c", stretch: true}}
	row := []string{strings.Repeat("x", 30), "yyyy", strings.Repeat("z", 12)}
	for width, want := range map[int][]int{30: {11, 4, 11}, 50: {30, 4, 12}, 34: {14, 4, 12}, 10: {8, 4, 8}} {
		p.width = width
		if got := p.widths(0, columns, [][]string{row}); !slices.Equal(got, want) {
			t.Errorf("%d columns: %v, want %v", width, got, want)
		}
	}
	p.loose = true
	if got, want := p.widths(0, columns, [][]string{row}), []int{30, 4, 12}; !slices.Equal(got, want) {
		t.Errorf("no terminal: %v, want %v", got, want)
	}
}

func TestChange(t *testing.T) {
	tests := []struct {
		before, after int64
		want          string
	}{
		{100, 100, "unchanged"},
		{0, 0, "unchanged"},
		{100, 36, "64 % less"},
		{1000, 1, "99 % less"}, // nothing that is left is all gone
		{100, 0, "100 % less"},
		{100, 108, "8 % more"},
		{10000, 9999, "about the same"},
	}
	for _, test := range tests {
		if got := change(test.before, test.after); got != test.want {
			t.Errorf("change(%d, %d) = %q, want %q", test.before, test.after, got, test.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("any"), 1},
		{&step.Refusal{Class: "dangling"}, 1},
		{usagef("", "wrong"), 2},
		{spec.Problems{{}}, 2},
		{exitError(4), 4},
		{errors.Join(errors.New("stdout is closed"), exitError(3)), 3},
		{fmt.Errorf("reading: %w", context.Canceled), 130},
	}
	for _, test := range tests {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("exitCode(%v) = %d, want %d", test.err, got, test.want)
		}
	}
}

func TestWorse(t *testing.T) {
	for codes, want := range map[[2]int]int{{0, 0}: 0, {0, 130}: 130, {4, 1}: 1, {130, 3}: 3, {5, 0}: 5} {
		if got := worse(codes[0], codes[1]); got != want {
			t.Errorf("worse%v = %d, want %d", codes, got, want)
		}
	}
}

func TestCommandsCanBeTyped(t *testing.T) {
	for state, want := range map[string]string{
		defaultState: "precis show last 'a b'",
		"s/1.2":      "precis show last 'a b' --state s/1.2",
		"my state":   "precis show last 'a b' --state 'my state'",
		"it's":       `precis show last 'a b' --state 'it'\''s'`,
		"~$x":        "precis show last 'a b' --state '~$x'",
	} {
		if got := (&cli{state: state}).command("show", "last", "a b"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestTroubleIsOneLine: of several errors, and with its place to the byte.
func TestTroubleIsOneLine(t *testing.T) {
	two := errors.Join(errors.New("a"), errors.New("b"))
	at := step.Place{File: "j", Line: 2}
	for _, test := range []struct {
		err  error
		want string
	}{
		{two, "a; b"},
		{fmt.Errorf("close: %w", two), "close: a; b"},
		{&step.Refusal{Class: "x", Message: "m", Err: two}, "m: a; b"},
		{&step.Refusal{Class: "x", Message: "m", Place: at}, "j:2: m"},
		{&step.Refusal{Class: "journal-header", Message: "m", Place: at}, "j:2: byte 0: m"},
		{&step.Refusal{Class: "x", Message: "m", Place: step.Place{File: "j", Byte: 7}}, "j: byte 7: m"},
	} {
		var errOut bytes.Buffer
		(&cli{errOut: &errOut}).fail(test.err)
		if got := errOut.String(); got != "precis: "+test.want+"\n" {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	var out bytes.Buffer
	(&page{w: &out, width: plainWidth}).refusal(engine.ItemResult{Class: "failed", Message: two.Error()})
	if out.String() != "  reason     failed: a; b\n" {
		t.Errorf("%q", out.String())
	}
}

// TestEveryVerbExplainsItself holds the help to what it promises.
func TestEveryVerbExplainsItself(t *testing.T) {
	root := (&cli{}).root()
	for _, verb := range append([]*cobra.Command{root}, root.Commands()...) {
		sections := strings.Split(verb.Long, "\n\n")
		last := sections[len(sections)-1]
		if verb == root || verb.Name() == "run" { // a line on several items follows
			last = sections[len(sections)-2]
		}
		if !strings.HasPrefix(last, "EXIT STATUS\n  0  ") {
			t.Errorf("%s: the help ends with %q", verb.Name(), last)
		}
		if n := len(strings.Split(verb.Example, "\n")); verb.Example == "" || n > 3 {
			t.Errorf("%s: %d examples", verb.Name(), n)
		}
		for line := range strings.Lines(verb.Long) {
			if len(line) > 83 {
				t.Errorf("%s: a line of the help is too long: %s", verb.Name(), line)
			}
		}
	}
}

// TestPathsStayWhole: a path of many words, wider than the page, is one line.
func TestPathsStayWhole(t *testing.T) {
	var b bytes.Buffer
	p := &page{w: &b, width: 60}
	long := strings.Repeat("a folder of mine/", 6) + "report.json"
	p.path("report", long, " (replaced)")
	if want := "  report     " + long + " (replaced)\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestDigestOfNoHandoff: what is no text that a person wrote is refused.
func TestDigestOfNoHandoff(t *testing.T) {
	const job = `{"version":1,"kind":"compress","input":{"sessions":["s"],"handoff":"notes"},"mode":{"summary":"deterministic"},"publish":{"to":"none"}}`
	for name, c := range map[string]struct {
		notes []byte
		code  int
	}{
		"text":      {[]byte("灯籠の一覧\n"), exitDone},
		"not UTF-8": {[]byte("caf\xe9\n"), exitFailed},
		"too large": {bytes.Repeat([]byte("a"), 16<<20+1), exitFailed},
	} {
		f := memfs.New(time.Now)
		for file, data := range map[string][]byte{"job.json": []byte(job), "notes": c.notes} {
			if err := afero.WriteFile(f, file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		code := (&cli{out: &out, errOut: &out, fs: f, width: plainWidth}).execute(context.Background(), []string{"digest", "job.json", "--json"})
		if code != c.code || strings.Contains(out.String(), `"class":"handoff-`) == (code == exitDone) {
			t.Errorf("%s: exit code %d, want %d: %s", name, code, c.code, out.String())
		}
	}
}

// TestInterrupted cancels before anything began: the exit code and the output say
// so, and nothing is published.
func TestInterrupted(t *testing.T) {
	const job = `{"version":1,"kind":"compress","name":"n","input":{"sessions":["s.jsonl"]},
		"mode":{"summary":"deterministic"},"publish":{"to":"candidate","path":"out/{session}.jsonl"}}`
	tests := []struct {
		args []string
		out  string // what standard output has; "" for nothing
		err  string
	}{
		{[]string{"inspect", "s.jsonl"}, "", "nothing half-written is left"},
		{[]string{"inspect", "s.jsonl", "--json"}, `"class":"interrupted"`, ""},
		{[]string{"validate", "s.jsonl"}, "", "nothing half-written is left"},
		{[]string{"validate", "s.jsonl", "--json"}, `"class":"interrupted"`, ""},
		{[]string{"run", "job.json"}, "s.jsonl  interrupted", "nothing half-written is left"},
		{[]string{"run", "job.json", "--json"}, `"exit":130`, ""},
	}
	for _, test := range tests {
		f := memfs.New(time.Now)
		for name, text := range map[string]string{"s.jsonl": "{\"type\":\"mode\"}\n", "job.json": job} {
			if err := afero.WriteFile(f, name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out, errOut bytes.Buffer
		c := &cli{out: &out, errOut: &errOut, fs: f, width: plainWidth}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if code := c.execute(ctx, test.args); code != exitInterrupted {
			t.Errorf("%v: exit code %d, want %d", test.args, code, exitInterrupted)
		}
		if !has(out.String(), test.out) || !has(errOut.String(), test.err) {
			t.Errorf("%v: out %q, err %q", test.args, out.String(), errOut.String())
		}
		if exists, err := afero.Exists(f, "out"); exists || err != nil {
			t.Errorf("%v: the output folder was made (%v)", test.args, err)
		}
	}
}

// TestInterruptedTooLate: a signal that comes when all is done changes nothing, and
// nothing is said of it.
func TestInterruptedTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for status, want := range map[step.Status]string{step.Done: "", step.Refused: "", step.Interrupted: "interrupted; nothing half"} {
		var out, errOut bytes.Buffer
		c := &cli{out: &out, errOut: &errOut, fs: memfs.New(time.Now), width: plainWidth, state: defaultState}
		_, err := c.execution(ctx, c.engine(), engine.Options{}, running, func(engine.Options) (engine.Result, error) {
			return engine.Result{Run: "r", Items: []engine.ItemResult{{Session: "s", Status: status}}}, nil
		})
		if err != nil || !has(errOut.String(), want) {
			t.Errorf("%s: %q (%v)", status, errOut.String(), err)
		}
	}
}

// TestResumeOfWhatRuns says why the run was left alone, and nothing of its record.
func TestResumeOfWhatRuns(t *testing.T) {
	var out, errOut bytes.Buffer
	c := &cli{out: &out, errOut: &errOut, fs: memfs.New(time.Now), width: plainWidth, state: defaultState}
	_, err := c.execution(context.Background(), c.engine(), engine.Options{}, resuming, func(engine.Options) (engine.Result, error) {
		return engine.Result{Run: "r", Items: []engine.ItemResult{{Session: "s", Status: step.Done}, {}}}, &step.Refusal{Class: "run-locked", Message: "the run is not over"}
	})
	if err != nil || out.Len() > 0 || errOut.String() != "precis: the run is not over\n" {
		t.Errorf("out %q, err %q (%v)", out.String(), errOut.String(), err)
	}
}

// has tells whether a text holds what it should, nothing for "".
func has(text, want string) bool {
	if want == "" {
		return text == ""
	}
	return strings.Contains(text, want)
}

func TestSecondSignalEndsTheProcess(t *testing.T) {
	ended := make(chan int)
	ctx, stop := interruptible(context.Background(), func(code int) { ended <- code })
	defer stop()
	for range 2 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
	}
	if code := <-ended; code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
}

// TestCommittedWithoutOutput: what was published stands though nobody was told.
func TestCommittedWithoutOutput(t *testing.T) {
	broken := errors.New("broken pipe")
	result := func(op string) engine.Result {
		return engine.Result{Items: []engine.ItemResult{{Outputs: []step.Published{{Op: step.Op(op)}}}}}
	}
	for op, want := range map[string]int{"create": exitCommitted, "replace": exitCommitted, "keep": exitFailed} {
		if got := exitCode(committed(result(op), broken)); got != want {
			t.Errorf("%s: exit code %d, want %d", op, got, want)
		}
	}
	if err := committed(result("create"), nil); err != nil {
		t.Error(err)
	}
}

// TestWatcherTakesAnyEvent gives the bars what a run may tell, in an order that
// it may tell it in; the terminal is none, so nothing is shown.
func TestWatcherTakesAnyEvent(t *testing.T) {
	var errOut bytes.Buffer
	for _, c := range []*cli{{errOut: &errOut, bars: true}, {errOut: &errOut}, {errOut: &errOut, bars: true, quiet: true}} {
		w := c.watch()
		for _, e := range []event.Event{
			event.RunStarted{Run: "r", Items: 2},
			event.StepStarted{Item: "unknown", Step: "read"},
			event.ItemStarted{Item: "i", Label: "in/灯籠.jsonl"},
			event.StepStarted{Item: "i", Step: "read"},
			event.Progress{Item: "i", Step: "read", Done: 1, Total: 2},
			event.Progress{Item: "i", Step: "read", Done: 2, Total: 2},
			event.StepFinished{Item: "i", Step: "read"},
			event.ItemFinished{ID: "i"},
			event.ItemFinished{ID: "never started"},
			event.Progress{Item: "i", Step: "read", Done: 2, Total: 2},
			event.ItemStarted{Item: "left open", Label: "x"},
			event.Run{},
		} {
			w.Emit(e)
		}
		w.stop()
	}
	if errOut.Len() > 0 {
		t.Errorf("shown within a second: %q", errOut.String())
	}
}
