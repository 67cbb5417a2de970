package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/ledger"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
)

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// little is the size from which these tests tidy.
const little = 16 << 10

// heavy is a record that makes its ledger worth tidying, once another follows.
func heavy(source string, weight int) ledger.Record {
	r := record(source, "r0")
	r.Steps[0].Facts = map[string]any{"text": strings.Repeat("x", weight)}
	return r
}

// wasteful is a ledger of some records and one that counts no more.
func wasteful(t testing.TB, f afero.Fs, records ...ledger.Record) {
	t.Helper()
	ledger.SetLittle(t, little)
	add(t, f, append([]ledger.Record{heavy("/heavy", little), record("/heavy", "r1")}, records...)...)
}

func size(t testing.TB, f afero.Fs) int { t.Helper(); return len(content(t, f)) }

func TestTidyKeepsWhatCounts(t *testing.T) {
	f := mem()
	later := `{"v":2,"id":"of another version"} {}` + "\n"
	wasteful(t, f, record("/a", "r0", "/o=10", "/gone=1"), record("/a", "r1", "/o=11"), record("/b", "r1", "/p=21"))
	must(t, afero.WriteFile(f, file, append(content(t, f), later...), 0o600))
	l := open(t, f)
	add(t, f, record("/c", "r1", "/q=31")) // by another, since
	must(t, l.Tidy())
	if n := size(t, f); n > 4000 {
		t.Errorf("%d bytes", n)
	}
	want := []ledger.Record{record("/heavy", "r1"), record("/a", "r1", "/o=11"), record("/b", "r1", "/p=21"), record("/c", "r1", "/q=31")}
	has(t, f, want...)
	owns(t, open(t, f), "/gone", "1") // of a record that counts no more
	if !strings.Contains(string(content(t, f)), later) {
		t.Error("a line of a later version is gone")
	}
	if bytes.Contains(content(t, f), []byte(`"r0"`)) {
		t.Error("an old record is still there")
	}
	add(t, f, record("/d", "r2"))
	has(t, f, append(want, record("/d", "r2"))...)
	if run(t, l, "/a") != "r1" {
		t.Error("a ledger that was open has lost its file")
	}
}

func TestTidyTwiceIsTidyOnce(t *testing.T) {
	f := mem()
	wasteful(t, f, record("/a", "r0", "/o=10", "/gone=1"), record("/a", "r1", "/o=11"))
	one, two := open(t, f), open(t, f)
	must(t, one.Tidy())
	before := content(t, f)
	counted := faultfs.New(f, faultfs.Plan{})
	l, err := ledger.Open(counted, file, owner)
	must(t, err)
	must(t, l.Tidy())
	must(t, l.Close())
	must(t, two.Tidy()) // it was wasteful when it was opened
	if len(counted.Ops()) > 0 || !bytes.Equal(before, content(t, f)) {
		t.Errorf("a tidy ledger was tidied: %v", counted.Ops())
	}
	add(t, f, heavy("/heavy", little), record("/heavy", "r2"))
	must(t, open(t, f).Tidy())
	owns(t, open(t, f), "/gone", "1")
}

// What is owned by many records that count no more is no waste.
func TestTidyIsNotTriedInVain(t *testing.T) {
	f := mem()
	l := open(t, f)
	var records []ledger.Record
	for n := range 100 {
		records = append(records, record("/a", "r", fmt.Sprintf("/out/%s/%d=%064d", strings.Repeat("d", 200), n, n)))
	}
	must(t, l.Append(records))
	ledger.SetLittle(t, little)
	must(t, open(t, f).Tidy())
	before := size(t, f)
	counted := faultfs.New(f, faultfs.Plan{})
	l, err := ledger.Open(counted, file, owner)
	must(t, err)
	defer l.Close()
	must(t, l.Tidy())
	if len(counted.Ops()) > 0 || before < little {
		t.Errorf("%d bytes were tidied to %d", before, size(t, f))
	}
}

func TestTidyPassesOverDamage(t *testing.T) {
	f := mem()
	ledger.SetLittle(t, little)
	add(t, f, record("/a", "r0", "/o=10"), heavy("/heavy", little), record("/heavy", "r1"), record("/a", "r1", "/o=11"))
	bad := content(t, f)
	bad[bytes.LastIndex(bad, []byte(`"r1"`))+1] = 's'
	f = write(t, bad)
	must(t, open(t, f).Tidy())
	has(t, f, record("/a", "r0", "/o=10"), record("/heavy", "r1"))
}

func TestLittleIsNotTidied(t *testing.T) {
	for weight, tidied := range map[int]bool{3 << 20: false, 5 << 20: true} {
		f := mem()
		add(t, f, heavy("/heavy", weight), record("/heavy", "r1"))
		must(t, open(t, f).Tidy())
		if (size(t, f) < weight) != tidied {
			t.Errorf("%d bytes were tidied to %d", weight, size(t, f))
		}
		has(t, f, record("/heavy", "r1"))
	}
}

func TestTidyIsLeftToAnother(t *testing.T) {
	f := mem()
	wasteful(t, f)
	log, err := applog.Open(f, file, applog.Options{Owner: owner})
	must(t, err)
	l, before := open(t, f), size(t, f)
	must(t, l.Tidy())
	if size(t, f) != before {
		t.Error("tidied while another wrote")
	}
	must(t, log.Close())
	must(t, l.Tidy())
	if size(t, f) == before {
		t.Error("not tidied")
	}
}

// TestNobodyGetsInBetween lets another run append before every operation of a
// Tidy. Either it is told that the ledger is locked, or its record is kept.
func TestNobodyGetsInBetween(t *testing.T) {
	kept, told := 0, 0
	for at := 1; ; at++ {
		more, hit := false, false
		synctest.Test(t, func(t *testing.T) { // so that nobody waits
			base := mem()
			wasteful(t, base, record("/a", "r1", "/o=11"))
			another := open(t, base)
			var appended error
			plan := faultfs.Plan{At: at, Do: func() { appended = another.Append([]ledger.Record{record("/b", "r2", "/p=21")}) }}
			f := faultfs.New(base, plan)
			must(t, open(t, f).Tidy())
			hit = f.Hit()
			switch {
			case !hit:
			case appended == nil:
				more = true
				has(t, base.CrashClone(0), record("/b", "r2", "/p=21"))
			case !errors.Is(appended, fsys.ErrLocked):
				t.Error(appended)
			default:
				told++
			}
			has(t, base.CrashClone(0), record("/a", "r1", "/o=11"), record("/heavy", "r1"))
		})
		if more {
			kept++
		}
		if !hit {
			break
		}
	}
	if kept == 0 || told < 5 {
		t.Errorf("appended %d times, refused %d times", kept, told)
	}
}

// TestOpenWhileAnotherTidies has the ledger replaced before every operation of an
// Open and of what is asked of it.
func TestOpenWhileAnotherTidies(t *testing.T) {
	for at := 1; at < 20; at++ {
		base := mem()
		wasteful(t, base, record("/a", "r1", "/o=11"), record("/b", "r1"))
		another := open(t, base)
		f := faultfs.New(base, faultfs.Plan{At: at, Reads: true, Do: func() { must(t, another.Tidy()) }})
		has(t, f, record("/a", "r1", "/o=11"), record("/b", "r1"), record("/heavy", "r1"))
		if t.Failed() {
			t.Fatalf("tidied before operation %d", at)
		}
	}
}

// TestAppendersAndTidiersAtOnce runs on a disk, with its locks.
func TestAppendersAndTidiersAtOnce(t *testing.T) {
	const writers, each = 3, 6
	ledger.SetLittle(t, little)
	f, name := fsys.OS(), filepath.Join(t.TempDir(), "ledger")
	var all sync.WaitGroup
	work := func(w int) error {
		for n := range each {
			l, err := ledger.Open(f, name, owner)
			if err != nil {
				return err
			}
			text := []ledger.Record{heavy("/heavy", little), record("/heavy", "r1"), record(fmt.Sprint("/", w, "/", n), "r", fmt.Sprintf("/%d/%d=1", w, n))}
			if err := errors.Join(l.Append(text), l.Tidy(), l.Close()); err != nil {
				return err
			}
		}
		return nil
	}
	for w := range writers {
		all.Go(func() {
			if err := work(w); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	l, err := ledger.Open(f, name, owner)
	must(t, err)
	defer l.Close()
	for w := range writers {
		for n := range each {
			if run(t, l, fmt.Sprint("/", w, "/", n)) != "r" {
				t.Errorf("record %d of writer %d is lost", n, w)
			}
			owns(t, l, fmt.Sprintf("/%d/%d", w, n), "1")
		}
	}
	info, err := f.Stat(name)
	must(t, err)
	if info.Size() > writers*each*little {
		t.Errorf("%d bytes: nobody tidied", info.Size())
	}
}

// TestRecordsSurvive fails or stops the world at every operation of an Append and
// of a Tidy. What was recorded before is there, also after a power cut, and what
// was acknowledged.
func TestRecordsSurvive(t *testing.T) {
	before := []ledger.Record{record("/a", "r1", "/o=11"), record("/b", "r1", "/p=21"), record("/heavy", "r1")}
	more := []ledger.Record{record("/c", "r2", "/q=31"), record("/d", "r2")}
	start := mem()
	wasteful(t, start, before[:2]...)
	must(t, afero.WriteFile(start, file, append(content(t, start), `{"v":1,"torn`...), 0o600))
	must(t, syncAll(start))
	for name, work := range map[string]func(*ledger.Ledger) error{
		"append": func(l *ledger.Ledger) error { return l.Append(more) },
		"tidy":   func(l *ledger.Ledger) error { return l.Tidy() },
	} {
		for _, plan := range []faultfs.Plan{{Err: syscall.ENOSPC}, {Short: true}, {Stop: true}, {Stop: true, Short: true}} {
			for plan.At = 1; ; plan.At++ {
				base := start.CrashClone(0)
				f := faultfs.New(base, plan)
				l, err := ledger.Open(f, file, owner)
				must(t, err)
				want := before
				if work(l) == nil && name == "append" {
					want = slices.Concat(before, more)
				}
				if !f.Hit() {
					break
				}
				checkSurvivors(t, base, want)
				if t.Failed() {
					t.Fatalf("%s, %+v (%s)", name, plan, f.Ops()[plan.At-1])
				}
			}
		}
	}
}

func syncAll(f *memfs.FS) error {
	h, err := f.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(h.Sync(), h.Close(), f.SyncDir("/"))
}

// checkSurvivors looks at what several power cuts leave, and goes on with it.
func checkSurvivors(t *testing.T, base *memfs.FS, want []ledger.Record) {
	t.Helper()
	for seed := range uint64(4) {
		f := base.CrashClone(seed)
		has(t, f, want...)
		add(t, f, record("/e", "r3", "/s=51"))
		has(t, f, append(slices.Clone(want), record("/e", "r3", "/s=51"))...)
		must(t, open(t, f).Tidy())
		has(t, f, append(slices.Clone(want), record("/e", "r3", "/s=51"))...)
	}
}
