package ledger_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
	"github.com/precis-dev/precis/fsys/memfs"
)

const file = "/ledger.jsonl"

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func mem() *memfs.FS { return memfs.New(now) }

var owner = applog.Owner{Host: "h", PID: 1, Start: now()}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, f afero.Fs) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(f, file, owner)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// record is what a run left of a source: files "path=digest".
func record(source, run string, files ...string) ledger.Record {
	c := plan.Components{Algorithm: plan.Algorithm, Step: "s", Params: json.RawMessage(`{"p":1}`), Inputs: []plan.Input{}}
	d := plan.Done{Step: "s", Key: "sha256:1", Components: c, Home: run}
	for _, f := range files {
		path, sum, _ := strings.Cut(f, "=")
		d.Published = append(d.Published, step.Published{Op: step.Create, Path: path, SHA256: sum})
	}
	return ledger.Record{Kind: "k", Job: "j", Source: source, Run: run, Steps: []plan.Done{d}}
}

func add(t testing.TB, f afero.Fs, records ...ledger.Record) {
	t.Helper()
	must(t, open(t, f).Append(records))
}

func content(t testing.TB, f afero.Fs) []byte {
	t.Helper()
	data, err := afero.ReadFile(f, file)
	must(t, err)
	return data
}

func write(t testing.TB, data []byte) *memfs.FS {
	t.Helper()
	f := mem()
	must(t, afero.WriteFile(f, file, data, 0o600))
	return f
}

// run is the run of a source's record, "" for none.
func run(t testing.TB, l *ledger.Ledger, source string) string {
	t.Helper()
	r, err := l.Item("k", "j", source)
	must(t, err)
	if r == nil {
		return ""
	}
	return r.Run
}

// has expects these records, and what they published, to be the last.
func has(t testing.TB, f afero.Fs, records ...ledger.Record) {
	t.Helper()
	l := open(t, f)
	for _, want := range records {
		got, err := l.Item(want.Kind, want.Job, want.Source)
		must(t, err)
		if d := cmp.Diff(&want, got); d != "" {
			t.Errorf("%s: %s", want.Source, d)
		}
		for _, p := range want.Steps[0].Published {
			owns(t, l, p.Path, p.SHA256)
		}
	}
}

// owns expects a digest for a path, "" for none.
func owns(t testing.TB, l *ledger.Ledger, path, want string) {
	t.Helper()
	if got, ok := l.Owned(path); got != want || ok != (want != "") {
		t.Errorf("%s: owned %q, want %q", path, got, want)
	}
}

func TestAppendAndOpen(t *testing.T) {
	f := mem()
	l := open(t, f)
	if run(t, l, "/a") != "" {
		t.Error("a record in no ledger")
	}
	must(t, l.Append(nil))
	if _, err := f.Stat(file); err == nil {
		t.Error("nothing made a file")
	}
	a, b := record("/a", "r1", "/out/a=11", "/out/a.bak=12"), record("/b", "r1", "/out/b=21")
	a.Steps[0].Facts = map[string]any{"big": json.Number("9007199254740993"), "text": "<é&>"}
	must(t, l.Append([]ledger.Record{a, b}))
	if run(t, l, "/a") != "" {
		t.Error("an open ledger changed")
	}
	has(t, f, a, b)
	l = open(t, f)
	owns(t, l, "/out/x/../a", "11")
	owns(t, l, "/out/c", "")
	for _, other := range [][3]string{{"l", "j", "/a"}, {"k", "i", "/a"}, {"k", "j", "/c"}, {"", "k\x00j", "/a"}} {
		if r, err := l.Item(other[0], other[1], other[2]); r != nil || err != nil {
			t.Errorf("%q: %v, %v", other, r, err)
		}
	}
	has(t, f.CrashClone(0), a, b)
}

func TestLinesAreAsDocumented(t *testing.T) {
	f := mem()
	add(t, f, record("/a", "r1", "/o=11"), record("/b", "r1"))
	for i, line := range strings.Split(strings.TrimSpace(string(content(t, f))), "\n") {
		at := strings.LastIndexByte(line, ' ')
		if line[at+1:] != sum(line[:at]) {
			t.Errorf("line %d: the sum is not that of what stands before it", i)
		}
		want := `{"v":1,"id":"` + sum("k\x00j\x00/" + string(rune('a'+i)))[:32] + `"`
		if i == 0 {
			want += `,"owns":{"/o":"11"}`
		}
		if want += `} {"kind":"k","job":"j",`; !strings.HasPrefix(line, want) {
			t.Errorf("%s\ndoes not begin with\n%s", line, want)
		}
	}
}

func TestTheLastRecordCounts(t *testing.T) {
	f := mem()
	add(t, f, record("/a", "r1", "/o=11"), record("/b", "r1", "/p=21"), record("/a", "r2", "/o=12"))
	add(t, f, record("/a", "r3", "/q=31"))
	has(t, f, record("/a", "r3", "/q=31"), record("/b", "r1", "/p=21"))
	owns(t, open(t, f), "/o", "12") // it still has what r2 left
}

func TestFindAndPublished(t *testing.T) {
	r := record("/a", "r1", "/o=11", "/p=12")
	if d := r.Find("s"); d == nil || d.Home != "r1" || r.Find("t") != nil {
		t.Errorf("found %+v", d)
	}
	if p := r.Published("/p"); p == nil || p.SHA256 != "12" || r.Published("/q") != nil {
		t.Errorf("published %+v", p)
	}
	var none *ledger.Record
	if none.Find("s") != nil || none.Published("/o") != nil {
		t.Error("found something in nothing")
	}
}

// TestDamage changes every byte. There is never a wrong answer: a damaged line is
// as if it were not there, and the others are.
func TestDamage(t *testing.T) {
	f := mem()
	add(t, f, record("/b", "r0", "/p=20"), record("/a", "r1", "/o=11"), record("/b", "r1", "/p=21"), record("/c", "r1", "/q=31"))
	good := content(t, f)
	for at := range good {
		line := bytes.Count(good[:at], []byte("\n"))
		for _, flip := range []byte{1, 2, 0x20, 0x80, good[at] ^ '\n', good[at]} {
			if flip == 0 {
				continue
			}
			bad := bytes.Clone(good)
			bad[at] ^= flip
			// Without its newline a line runs into the next one.
			damaged := func(n int) bool { return n == line || good[at] == '\n' && n == line+1 }
			checkDamage(t, write(t, bad), damaged)
			if t.Failed() {
				t.Fatalf("byte %d, bits %x", at, flip)
			}
		}
	}
}

func checkDamage(t *testing.T, f afero.Fs, damaged func(line int) bool) {
	want := map[string]string{"/a": "r1", "/b": "r1", "/c": "r1"}
	owned := map[string]string{"/o": "11", "/p": "21", "/q": "31"}
	if damaged(1) {
		want["/a"], owned["/o"] = "", ""
	}
	if damaged(2) {
		want["/b"], owned["/p"] = "r0", "20"
	}
	if damaged(3) {
		want["/c"], owned["/q"] = "", ""
	}
	l := open(t, f)
	for source, r := range want {
		if got := run(t, l, source); got != r {
			t.Errorf("%s is of %q, want %q", source, got, r)
		}
	}
	for path, sum := range owned {
		owns(t, l, path, sum)
	}
}

func TestLinesOfOtherVersionsAreNotThere(t *testing.T) {
	f := mem()
	add(t, f, record("/a", "r1", "/o=11"))
	line := strings.TrimSpace(string(content(t, f)))
	line = strings.Replace(line[:strings.LastIndexByte(line, ' ')], `{"v":1,`, `{"v":2,`, 1)
	l := open(t, write(t, []byte(line+" "+sum(line)+"\n")))
	if run(t, l, "/a") != "" {
		t.Error("read a version that is not known")
	}
	owns(t, l, "/o", "")
}

// TestEveryCut cuts the ledger at every byte: the whole lines are there, and the
// ledger goes on behind them.
func TestEveryCut(t *testing.T) {
	f := mem()
	records := []ledger.Record{record("/a", "r1", "/o=11"), record("/b", "r1", "/p=21"), record("/c", "r1")}
	add(t, f, records...)
	good := content(t, f)
	for cut := range len(good) + 1 {
		f := write(t, good[:cut])
		n := bytes.Count(good[:cut], []byte("\n"))
		has(t, f, records[:n]...)
		for _, r := range records[n:] {
			if run(t, open(t, f), r.Source) != "" {
				t.Errorf("cut %d: %s is there", cut, r.Source)
			}
		}
		more := record("/more", "r2", "/m=41")
		add(t, f, more)
		has(t, f, append(slices.Clone(records[:n]), more)...)
		if t.Failed() {
			t.Fatalf("cut at byte %d", cut)
		}
	}
}

func TestTwoLedgersAppendInTurn(t *testing.T) {
	f := mem()
	one, two := open(t, f), open(t, f)
	for n, l := range []*ledger.Ledger{one, two, one, two} {
		must(t, l.Append([]ledger.Record{record(fmt.Sprint("/", n), fmt.Sprint("r", n))}))
	}
	for n := range 4 {
		has(t, f, record(fmt.Sprint("/", n), fmt.Sprint("r", n)))
	}
}

func TestManyAppendAtOnce(t *testing.T) {
	f := mem()
	shared := open(t, f)
	var all sync.WaitGroup
	var want []ledger.Record
	for n := range 12 {
		r := record(fmt.Sprint("/", n), "r", fmt.Sprintf("/out/%d=%d", n, n))
		want = append(want, r)
		l := shared
		if n%2 == 0 {
			l = open(t, f)
		}
		all.Go(func() {
			if err := l.Append([]ledger.Record{r}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	has(t, f.CrashClone(0), want...)
}

func TestAppendWaitsForItsTurn(t *testing.T) {
	for _, test := range []struct {
		held time.Duration
		ok   bool
	}{{5 * time.Second, true}, {time.Minute, false}} {
		synctest.Test(t, func(t *testing.T) {
			f := mem()
			l := open(t, f)
			log, err := applog.Open(f, file, applog.Options{Owner: owner})
			must(t, err)
			go func() {
				time.Sleep(test.held)
				log.Close()
			}()
			err = l.Append([]ledger.Record{record("/a", "r1")})
			if (err == nil) != test.ok || err != nil && !errors.Is(err, fsys.ErrLocked) {
				t.Errorf("held for %s: %v", test.held, err)
			}
			time.Sleep(test.held) // until it is given up
		})
	}
}
