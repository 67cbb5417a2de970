package applog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
)

var owner = applog.Owner{Host: "host", PID: 7, Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

func mem() *memfs.FS { return memfs.New(func() time.Time { return owner.Start }) }

// closed is the test's idea of a complete line.
func closed(line []byte) bool { return bytes.HasSuffix(line, []byte("}")) }

var options = applog.Options{Owner: owner, Complete: closed}

func open(t testing.TB, f afero.Fs) *applog.Log {
	t.Helper()
	l, err := applog.Open(f, "/log", options)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func read(t testing.TB, f afero.Fs) []string {
	t.Helper()
	var lines []string
	for l, err := range applog.Read(f, "/log", closed) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(l.Bytes))
	}
	return lines
}

func appendAll(l *applog.Log, lines ...string) (acknowledged int, err error) {
	for i, line := range lines {
		if err := l.Append([]byte(line)); err != nil {
			return i, err
		}
	}
	return len(lines), nil
}

func TestLinesHaveNumbersAndOffsets(t *testing.T) {
	f := mem()
	l := open(t, f)
	if _, err := appendAll(l, "{a}", "", "{ccc}"); err != nil {
		t.Fatal(err)
	}
	var got []applog.Line
	for line, err := range applog.Read(f, "/log", nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	want := []applog.Line{{1, 0, []byte("{a}")}, {2, 4, []byte{}}, {3, 5, []byte("{ccc}")}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if l.Level() != applog.SyncedFolder {
		t.Errorf("level %s", l.Level())
	}
}

func TestEveryCutIsIgnoredThenSealed(t *testing.T) {
	const text = "{first}\n{second line}\n{3}\n"
	for cut := range len(text) + 1 {
		f := mem()
		if err := afero.WriteFile(f, "/log", []byte(text[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		whole := strings.Split(text[:cut], "\n")
		torn := whole[len(whole)-1]
		whole = whole[:len(whole)-1]
		if strings.HasSuffix(torn, "}") {
			whole, torn = append(whole, torn), ""
		}
		before := read(t, f)
		l := open(t, f)
		if _, err := appendAll(l, "{new}"); err != nil {
			t.Fatal(err)
		}
		after := read(t, f)
		if len(before) != len(whole) || strings.Join(before, "|") != strings.Join(whole, "|") {
			t.Errorf("cut %d: read %q before sealing, want %q", cut, before, whole)
		}
		if d := cmp.Diff(append(whole, "{new}"), after); d != "" {
			t.Errorf("cut %d: %s", cut, d)
		}
		aside, err := afero.ReadFile(f, "/log.torn-1")
		if string(aside) != torn || (torn == "") != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("cut %d: kept %q aside, want %q (%v)", cut, aside, torn, err)
		}
	}
}

func TestTornTailsAreNumberedAndSavedOnce(t *testing.T) {
	f := mem()
	for _, test := range []struct{ tail, newest string }{
		{"{one", "/log.torn-1"}, {"{two", "/log.torn-2"}, {"{two", "/log.torn-2"},
	} {
		if err := afero.WriteFile(f, "/log", []byte("{a}\n"+test.tail), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(t, f).Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := afero.ReadFile(f, test.newest); string(got) != test.tail {
			t.Errorf("%s holds %q, want %q", test.newest, got, test.tail)
		}
	}
	if _, err := f.Stat("/log.torn-3"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the same bytes were saved twice")
	}
}

// TestReadWhileAnotherWrites lets the log grow before every operation of a reader.
// It sees whole lines, and no part of one.
func TestReadWhileAnotherWrites(t *testing.T) {
	const text = "{first}\n{second line}\n{3}\n"
	for cut := range len(text) {
		for to := cut + 1; to <= len(text); to++ {
			for at := 1; ; at++ {
				base := mem()
				if err := afero.WriteFile(base, "/log", []byte(text[:cut]), 0o600); err != nil {
					t.Fatal(err)
				}
				f := faultfs.New(base, faultfs.Plan{At: at, Reads: true, Do: func() {
					w, _ := base.OpenFile("/log", os.O_WRONLY|os.O_APPEND, 0)
					w.Write([]byte(text[cut:to]))
					w.Close()
				}})
				got := strings.Join(read(t, f), "\n") + "\n"
				if !strings.HasPrefix(text, got) && got != "\n" {
					t.Fatalf("from %d to %d bytes before operation %d: read %q", cut, to, at, got)
				}
				if !f.Hit() {
					break
				}
			}
		}
	}
}

func TestHolesAtTheEndAreTorn(t *testing.T) {
	f := mem()
	const text = "{a}\n{b\x00\x00\x00}\n"
	if err := afero.WriteFile(f, "/log", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"{a}"}, read(t, f)); d != "" {
		t.Error(d)
	}
	open(t, f).Close()
	if got, _ := afero.ReadFile(f, "/log"); string(got) != "{a}\n" {
		t.Errorf("sealed to %q", got)
	}
}

func TestLongLinesCrossReadBuffers(t *testing.T) {
	f := mem()
	long := "{" + strings.Repeat("x", 200_000) + "}"
	if err := afero.WriteFile(f, "/log", []byte(long+"\n"+long[:150_000]), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, f)
	if _, err := appendAll(l, long); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{long, long}, read(t, f)); d != "" {
		t.Error("long lines came back changed")
	}
}

func TestRefusesLinesItCouldNotReadBack(t *testing.T) {
	l := open(t, mem())
	for _, line := range []string{"a\nb", "a\n", "a\x00"} {
		if l.Append([]byte(line)) == nil {
			t.Errorf("appended %q", line)
		}
	}
	if err := l.Append([]byte("{ok}")); err != nil {
		t.Errorf("a refused line broke the log: %v", err)
	}
}

func TestOneWriter(t *testing.T) {
	f := mem()
	l := open(t, f)
	_, err := applog.Open(f, "/log", applog.Options{Owner: applog.Owner{PID: 8}})
	var locked *applog.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, fsys.ErrLocked) {
		t.Fatalf("a second writer: %v", err)
	}
	const want = "log /log is being written by process 7 on host since 2026-01-02T03:04:05Z"
	if err.Error() != want {
		t.Errorf("message %q\nwant    %q", err, want)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte("{x}")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("append to a closed log: %v", err)
	}
	open(t, f)
}

func TestOwnerRecordMayBeUnreadable(t *testing.T) {
	f := mem()
	open(t, f)
	if err := afero.WriteFile(f, "/log.owner", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := applog.Open(f, "/log", options)
	if err == nil || err.Error() != "log /log is being written by another process" {
		t.Error(err)
	}
}

func TestReadOfNoLog(t *testing.T) {
	for _, err := range applog.Read(mem(), "/log", nil) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// TestAcknowledgedLinesSurvive sweeps faults and power cuts over a session that
// opens a log with a torn tail and appends to it.
func TestAcknowledgedLinesSurvive(t *testing.T) {
	lines := []string{"{one}", "{two, which is longer than a block of the memory filesystem is wide}", "{three}"}
	for _, plan := range []faultfs.Plan{{Err: syscall.ENOSPC}, {Short: true}, {Stop: true}, {Stop: true, Short: true}} {
		for plan.At = 1; ; plan.At++ {
			base := mem()
			first := open(t, base)
			appendAll(first, "{old}")
			first.Close()
			w, _ := base.OpenFile("/log", os.O_WRONLY|os.O_APPEND, 0)
			w.Write([]byte("{torn"))

			f := faultfs.New(base, plan)
			acknowledged := 0
			l, err := applog.Open(f, "/log", options)
			if err == nil {
				acknowledged, _ = appendAll(l, lines...)
				l.Close()
			}
			if !f.Hit() {
				break
			}
			want := append([]string{"{old}"}, lines[:acknowledged]...)
			for seed := range uint64(6) {
				checkSurvivors(t, fmt.Sprintf("%+v seed %d", plan, seed), base.CrashClone(seed), want)
			}
		}
	}
}

func checkSurvivors(t *testing.T, name string, f *memfs.FS, want []string) {
	t.Helper()
	got := read(t, f)
	if len(got) < len(want) || len(got) > len(want)+1 || strings.Join(got[:len(want)], "|") != strings.Join(want, "|") {
		t.Errorf("%s: read %q, acknowledged %q", name, got, want)
		return
	}
	l := open(t, f)
	if _, err := appendAll(l, "{again}"); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if d := cmp.Diff(append(got, "{again}"), read(t, f)); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

func TestWhatIsBuiltUponIsDurable(t *testing.T) {
	f := mem()
	w, err := fsys.CreateNew(f, "/log")
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("{of a process that died before its sync}\n"))
	open(t, f)
	if d := cmp.Diff(read(t, f), read(t, f.CrashClone(0))); d != "" {
		t.Error(d)
	}
}

func TestAFailedAppendBreaksTheLog(t *testing.T) {
	base := mem()
	open(t, base).Close()
	var count int
	{
		f := faultfs.New(base, faultfs.Plan{})
		l := open(t, f)
		count = len(f.Ops())
		l.Close()
	}
	f := faultfs.New(base, faultfs.Plan{At: count + 2}) // the sync of the first append
	l := open(t, f)
	if err := l.Append([]byte("{a}")); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := l.Append([]byte("{b}")); !errors.Is(err, syscall.EIO) {
		t.Errorf("the next append: %v", err)
	}
}

func TestOnDisk(t *testing.T) {
	f, name := fsys.OS(), filepath.Join(t.TempDir(), "log")
	if err := afero.WriteFile(f, name, []byte("{a}\n{b"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := applog.Open(f, name, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := applog.Open(f, name, options); !errors.Is(err, fsys.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if err := errors.Join(l.Append([]byte("{c}")), l.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := afero.ReadFile(f, name); string(got) != "{a}\n{c}\n" {
		t.Errorf("the file holds %q", got)
	}
}

func BenchmarkAppend(b *testing.B) {
	line := []byte("{" + strings.Repeat("x", 500) + "}")
	for name, f := range map[string]afero.Fs{"memory": mem(), "disk": fsys.OS()} {
		b.Run(name, func(b *testing.B) {
			dir := "/"
			if name == "disk" {
				dir = b.TempDir()
			}
			l, err := applog.Open(f, filepath.Join(dir, fmt.Sprintf("log%d", b.N)), options)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if err := l.Append(line); err != nil {
					b.Fatal(err)
				}
			}
			l.Close()
		})
	}
}
