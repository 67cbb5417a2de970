package memfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/fstest"
	"github.com/precis-dev/precis/fsys/memfs"
)

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestMemfs(t *testing.T) {
	fstest.Test(t, func(t *testing.T) (afero.Fs, string) {
		f := memfs.New(start)
		if err := f.Mkdir("/dir", 0o700); err != nil {
			t.Fatal(err)
		}
		return f, "/dir"
	})
}

func TestPermissionBitsAreEnforced(t *testing.T) {
	f := memfs.New(start)
	must(t, f.Mkdir("/ro", 0o500))
	must(t, afero.WriteFile(f, "/r", nil, 0o400))
	must(t, afero.WriteFile(f, "/w", nil, 0o200))
	_, inRO := f.Create("/ro/x")
	_, writeR := f.OpenFile("/r", os.O_WRONLY, 0)
	_, readW := f.Open("/w")
	for name, err := range map[string]error{"create in /ro": inRO, "write /r": writeR, "read /w": readW} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestModificationTimeIsTheClocks(t *testing.T) {
	now := start()
	f := memfs.New(func() time.Time { return now })
	must(t, afero.WriteFile(f, "/a", []byte("x"), 0o600))
	now = now.Add(time.Hour)
	w, err := f.OpenFile("/a", os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = w.WriteString("y")
	must(t, err)
	info, err := f.Stat("/a")
	must(t, err)
	if !info.ModTime().Equal(now) {
		t.Errorf("modified %v, want %v", info.ModTime(), now)
	}
}

// script runs one operation a line on a filesystem; "!" syncs.
func script(t *testing.T, f *memfs.FS, lines string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		w := strings.Fields(line)
		switch w[0] {
		case "write":
			must(t, afero.WriteFile(f, w[1], []byte(w[2]), 0o600))
		case "sync":
			h, err := f.OpenFile(w[1], os.O_RDWR, 0)
			must(t, err)
			must(t, h.Sync())
		case "syncdir":
			must(t, f.SyncDir(w[1]))
		case "mkdir":
			must(t, f.Mkdir(w[1], 0o700))
		case "rename":
			must(t, f.Rename(w[1], w[2]))
		case "link":
			must(t, f.Link(w[1], w[2]))
		case "remove":
			must(t, f.Remove(w[1]))
		default:
			t.Fatalf("unknown operation %q", w[0])
		}
	}
}

// dump lists the files and their content.
func dump(f afero.Fs) string {
	var b strings.Builder
	_ = afero.Walk(f, "/", func(name string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			data, _ := afero.ReadFile(f, name)
			fmt.Fprintf(&b, "%s=%s ", name, data)
		}
		return err
	})
	return strings.TrimSpace(b.String())
}

func TestWhatWasNotSyncedIsGone(t *testing.T) {
	for name, test := range map[string]struct{ ops, want string }{
		"nothing synced":        {"write /a 1", ""},
		"content without name":  {"write /a 1\nsync /a", ""},
		"name without content":  {"write /a 1\nsyncdir /", "/a="},
		"both":                  {"write /a 1\nsync /a\nsyncdir /", "/a=1"},
		"overwritten":           {"write /a 1\nsync /a\nsyncdir /\nwrite /a 22", "/a=1"},
		"removed":               {"write /a 1\nsync /a\nsyncdir /\nremove /a", "/a=1"},
		"removed and synced":    {"write /a 1\nsync /a\nsyncdir /\nremove /a\nsyncdir /", ""},
		"renamed":               {"write /a 1\nsync /a\nsyncdir /\nrename /a /b", "/a=1"},
		"renamed and synced":    {"write /a 1\nsync /a\nrename /a /b\nsyncdir /", "/b=1"},
		"linked":                {"write /a 1\nsync /a\nsyncdir /\nlink /a /b", "/a=1"},
		"linked and synced":     {"write /a 1\nlink /a /b\nsyncdir /\nsync /b", "/a=1 /b=1"},
		"folder not synced":     {"mkdir /d\nwrite /d/a 1\nsync /d/a\nsyncdir /d", ""},
		"folder's parent alone": {"mkdir /d\nwrite /d/a 1\nsync /d/a\nsyncdir /", ""},
		"folder and parent":     {"mkdir /d\nwrite /d/a 1\nsync /d/a\nsyncdir /d\nsyncdir /", "/d/a=1"},
		"moved, target synced":  {"mkdir /d\nsyncdir /\nwrite /a 1\nsync /a\nsyncdir /\nrename /a /d/a\nsyncdir /d", "/a=1 /d/a=1"},
	} {
		f := memfs.New(start)
		script(t, f, test.ops)
		before := dump(f)
		if got := dump(f.CrashClone(0)); got != test.want {
			t.Errorf("%s: left %q, want %q", name, got, test.want)
		}
		if got := dump(f); got != before {
			t.Errorf("%s: the crash changed the filesystem itself to %q", name, got)
		}
	}
}

func TestSeedsReachEveryOutcomeAndNoOther(t *testing.T) {
	f := memfs.New(start)
	script(t, f, "write /a old\nsync /a\nsyncdir /\nwrite /s new\nsync /s\nrename /s /a\nwrite /b x\nsync /b")
	seen := map[string]bool{}
	for seed := range uint64(64) {
		a, b := f.CrashClone(seed), f.CrashClone(seed)
		if dump(a) != dump(b) {
			t.Fatalf("seed %d gave two outcomes", seed)
		}
		seen[dump(a)] = true
	}
	// The rename is atomic, so there is never no /a; the stage may reappear
	// only when its creation survived and the rename did not.
	want := map[string]bool{}
	for _, a := range []string{"/a=old", "/a=new", "/a=old /s=new"} {
		stage, rest := "", a
		if i := strings.Index(a, " "); i >= 0 {
			rest, stage = a[:i], a[i:]
		}
		want[a] = true
		want[rest+" /b=x"+stage] = true
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("saw  %v\nwant %v", seen, want)
	}
}

func TestCrashOfAnAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := memfs.New(start)
		old := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "old")
		add := rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 300).Draw(t, "add")
		w, _ := fsys.CreateNew(f, "/log")
		w.Write(old)
		w.Sync()
		f.SyncDir("/")
		w.Write(add)
		got, err := afero.ReadFile(f.CrashClone(rapid.Uint64().Draw(t, "seed")), "/log")
		if err != nil || len(got) < len(old) || string(got[:len(old)]) != string(old) {
			t.Fatalf("synced bytes are damaged: %q, %v", got, err)
		}
		for i, b := range got[len(old):] {
			if b != 0 && b != add[i] {
				t.Fatalf("byte %d is neither written nor a hole", i)
			}
		}
	})
}

func TestCrashFreesLocksAndKeepsHardLinks(t *testing.T) {
	f := memfs.New(start)
	script(t, f, "write /a 1\nsync /a\nlink /a /b\nsyncdir /")
	_, err := f.Lock("/a")
	must(t, err)
	after := f.CrashClone(0)
	if same, err := after.SameFile("/a", "/b"); !same || err != nil {
		t.Errorf("the link was broken: %v", err)
	}
	if _, err := after.Lock("/b"); err != nil {
		t.Errorf("the lock outlived its process: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDoesWhatADiskDoes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have other words for the same errors")
	}
	rapid.Check(t, func(t *rapid.T) {
		disk, err := os.MkdirTemp("", "memfs")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(disk)
		f := memfs.New(start)
		if err := f.Mkdir("/dir", 0o700); err != nil {
			t.Fatal(err)
		}
		fstest.Same(t, fstest.Place{FS: f, Dir: "/dir"}, fstest.Place{FS: fsys.OS(), Dir: disk}, false)
	})
}
