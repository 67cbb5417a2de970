package publish_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/fsys/publish"
)

const (
	session = "/p/s.jsonl"
	bystand = "/p/s.jsonl.other"
	swap    = "/p/.s.jsonl.swap-tok"
	taken   = "/p/.s.jsonl.old-tok"
)

// The contents are longer than the block in which a crash tears them.
var (
	oldText = strings.Repeat("an old line\n", 20)
	newText = strings.Repeat("a new line\n", 9)
)

func sum(text string) publish.Content {
	h := sha256.Sum256([]byte(text))
	return publish.Content{Bytes: int64(len(text)), SHA256: hex.EncodeToString(h[:])}
}

// volume is a memory filesystem that can less. Two folders are two volumes.
type volume struct {
	*memfs.FS
	way
}

// way is one of the ways a replacement goes.
type way struct {
	name                         string
	noExchange, noLinks, noLocks bool
	backupDir                    string
}

var ways = []way{
	{name: "exchange, linked backup"},
	{name: "exchange, copied backup", backupDir: "/bak"},
	{name: "capture, linked backup", noExchange: true},
	{name: "capture, copied backup", noExchange: true, backupDir: "/bak"},
	{name: "exchange, no links", noLinks: true},
}

// copies tells that the backup is not the old file itself.
func (w way) copies() bool { return w.noLinks || w.backupDir != "" }

func (v volume) Exchange(a, b string) error {
	if v.noExchange {
		return errors.ErrUnsupported
	}
	return v.FS.Exchange(a, b)
}

func (v volume) Link(a, b string) error {
	switch {
	case v.noLinks:
		return errors.ErrUnsupported
	case filepath.Dir(a) != filepath.Dir(b):
		return syscall.EXDEV
	}
	return v.FS.Link(a, b)
}

func (v volume) Lock(name string) (io.Closer, error) {
	if v.noLocks {
		return nil, errors.ErrUnsupported
	}
	return v.FS.Lock(name)
}

// world is a folder with a session and another file, durably.
func (w way) world(t testing.TB) volume {
	t.Helper()
	f := mem()
	must(t, f.Mkdir("/p", 0o700), fsys.SyncDir(f, "/"))
	must(t, fsys.WriteFile(f, bystand, "t", []byte("other")), fsys.WriteFile(f, session, "t", []byte(oldText)))
	must(t, f.Chmod(session, 0o640), f.Chown(session, 7, 8), f.Chtimes(session, time.Unix(5, 0), time.Unix(6, 0)))
	return volume{f, w}
}

func (w way) clone(v volume, seed uint64) volume { return volume{v.CrashClone(seed), w} }

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (w way) job() publish.Replacement {
	return publish.Replacement{
		Path: session, Token: "tok", BackupDir: w.backupDir, Old: sum(oldText), KeepTimes: true,
		Write: func(out io.Writer) error { _, err := io.WriteString(out, newText); return err },
	}
}

func (w way) intent() publish.Intent {
	return publish.Intent{Path: session, Token: "tok", BackupDir: w.backupDir, Old: sum(oldText), New: sum(newText)}
}

func replace(f afero.Fs, r publish.Replacement) (publish.Receipt, error) {
	return publish.InPlace(context.Background(), f, r)
}

// tree is every file with its content.
func tree(t testing.TB, f afero.Fs) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, afero.Walk(f, "/", func(path string, info fs.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files[path] = content(f, path)
		}
		return err
	}))
	return files
}

// before and after are the trees of a straight run.
func (w way) before() map[string]string { return map[string]string{session: oldText, bystand: "other"} }

func (w way) after() map[string]string {
	return map[string]string{session: newText, bystand: "other", w.backup(): oldText}
}

func (w way) backup() string {
	if w.backupDir != "" {
		return "/bak/s.jsonl.backup"
	}
	return session + ".backup"
}

func class(err error) string {
	var r *publish.Refusal
	if errors.As(err, &r) {
		return r.Class
	}
	return ""
}

func TestInPlace(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			f := w.world(t)
			got, err := replace(f, w.job())
			must(t, err)
			want := publish.Receipt{Path: session, Stands: publish.NewStands, Old: sum(oldText), New: sum(newText),
				Method: publish.Exchange, Backup: w.backup(), Durable: true, Mode: 0o640, TimesKept: true}
			if w.noExchange {
				want.Method = publish.Capture
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			for _, f := range []afero.Fs{f, f.CrashClone(0)} {
				if d := cmp.Diff(w.after(), tree(t, f)); d != "" {
					t.Error(d)
				}
			}
			if same, err := f.SameFile(session, w.backup()); same || err != nil {
				t.Error("the session and its backup are one file", err)
			}
			info, err := f.Stat(session)
			uid, gid, _ := f.IDs(session)
			if err != nil || info.Mode() != 0o640 || !info.ModTime().Equal(time.Unix(6, 0)) || uid != 7 || gid != 8 {
				t.Errorf("mode %v, time %v, owner %d:%d, %v", info.Mode(), info.ModTime(), uid, gid, err)
			}
			want.Method, want.Mode, want.TimesKept = "", 0, false
			if again, err := replace(f, w.job()); err != nil || cmp.Diff(want, again) != "" {
				t.Errorf("done again: %v, %s", err, cmp.Diff(want, again))
			}
			if d := cmp.Diff(w.after(), tree(t, f)); d != "" {
				t.Error("done again:", d)
			}
			must(t, f.Close(t, w))
		})
	}
}

// Close checks that no lock is held any more.
func (v volume) Close(t *testing.T, w way) error {
	for name := range tree(t, v) {
		lock, err := v.Lock(name)
		if err != nil {
			return err
		}
		if err := lock.Close(); err != nil {
			return err
		}
	}
	return nil
}

// TestOutcomes changes one thing about a replacement each.
func TestOutcomes(t *testing.T) {
	busy, cancelled := errors.New("in use"), errors.New("Ctrl-C")
	for name, test := range map[string]struct {
		way    way
		change func(t *testing.T, f volume, r *publish.Replacement, cancel func(error))
		class  string
		err    error
		stands publish.Stands
		tree   map[string]string // what is there besides the session, or instead
		check  func(t *testing.T, f volume, got publish.Receipt)
	}{
		"changed source": {class: publish.SourceChanged, stands: publish.Foreign,
			change: func(t *testing.T, f volume, _ *publish.Replacement, _ func(error)) { add(t, f, session, "!") },
			tree:   map[string]string{session: oldText + "!"}},
		"shorter source": {class: publish.SourceChanged, stands: publish.Foreign,
			change: func(t *testing.T, f volume, _ *publish.Replacement, _ func(error)) {
				must(t, afero.WriteFile(f, session, []byte("x"), 0o600))
			},
			tree: map[string]string{session: "x"}},
		"missing source": {class: publish.SourceChanged, stands: publish.Foreign,
			change: func(t *testing.T, f volume, _ *publish.Replacement, _ func(error)) { must(t, f.Remove(session)) },
			tree:   map[string]string{session: "(absent)"}},
		"folder": {class: publish.SourceNotAFile,
			change: func(t *testing.T, f volume, _ *publish.Replacement, _ func(error)) {
				must(t, f.Remove(session), f.Mkdir(session, 0o700))
			},
			tree: map[string]string{session: "(absent)"}},
		"locked": {class: publish.SessionLocked,
			change: func(t *testing.T, f volume, _ *publish.Replacement, _ func(error)) { must(t, second(f.Lock(session))) }},
		"locks unsupported": {way: way{noLocks: true}, stands: publish.NewStands},
		"cancelled": {err: cancelled, stands: publish.OldStands,
			change: func(_ *testing.T, _ volume, _ *publish.Replacement, cancel func(error)) { cancel(cancelled) }},
		"cancelled when verified": {err: cancelled, stands: publish.OldStands,
			change: func(_ *testing.T, _ volume, r *publish.Replacement, cancel func(error)) {
				r.Verify = func(io.ReaderAt, int64) error { cancel(cancelled); return nil }
			}},
		"cancelled at last, copied backup": {way: way{backupDir: "/bak"}, err: cancelled, stands: publish.OldStands,
			change: func(_ *testing.T, _ volume, r *publish.Replacement, cancel func(error)) {
				r.Idle = func() error { cancel(cancelled); return nil }
			}},
		"cannot be written": {err: io.ErrUnexpectedEOF, stands: publish.OldStands,
			change: func(_ *testing.T, _ volume, r *publish.Replacement, _ func(error)) {
				r.Write = func(io.Writer) error { return io.ErrUnexpectedEOF }
			}},
		"not valid": {err: io.ErrUnexpectedEOF, stands: publish.OldStands,
			change: func(_ *testing.T, _ volume, r *publish.Replacement, _ func(error)) {
				r.Verify = func(io.ReaderAt, int64) error { return io.ErrUnexpectedEOF }
			}},
		"in use": {err: busy, stands: publish.OldStands,
			change: func(t *testing.T, f volume, r *publish.Replacement, _ func(error)) {
				r.Idle = func() error {
					if content(f, swap) != newText || content(f, session+".backup") != oldText || content(f, session) != oldText {
						t.Error("asked too early")
					}
					return busy
				}
			}},
		"in use, copied backup": {way: way{backupDir: "/bak"}, err: busy, stands: publish.OldStands,
			change: func(_ *testing.T, _ volume, r *publish.Replacement, _ func(error)) {
				r.Idle = func() error { return busy }
			}},
		"written to at last": {class: publish.SourceChanged, stands: publish.Foreign,
			change: func(t *testing.T, f volume, r *publish.Replacement, _ func(error)) {
				r.Idle = func() error { add(t, f, session, "!"); return nil }
			},
			tree: map[string]string{session: oldText + "!"}},
		"replaced at last": {class: publish.SourceChanged, stands: publish.Foreign,
			change: func(t *testing.T, f volume, r *publish.Replacement, _ func(error)) {
				r.Idle = func() error { return fsys.WriteFile(f, session, "x", []byte("foreign")) }
			},
			tree: map[string]string{session: "foreign", session + ".backup": oldText},
			check: func(t *testing.T, _ volume, got publish.Receipt) {
				if got.Backup != session+".backup" {
					t.Errorf("the backup that stays is not named: %+v", got)
				}
			}},
		"neither exchange nor links": {way: way{noExchange: true, noLinks: true}, class: publish.VolumeUnsupported, stands: publish.OldStands},
		"numbered backups": {stands: publish.NewStands,
			change: func(t *testing.T, f volume, _ *publish.Replacement, _ func(error)) {
				for _, end := range []string{"", "1", "7", "07", "x", "-9", "99999999999999999999"} {
					must(t, afero.WriteFile(f, session+".backup"+end, []byte("older"+end), 0o600))
				}
			},
			tree: map[string]string{
				session + ".backup": "older", session + ".backup1": "older1", session + ".backup7": "older7", session + ".backup07": "older07",
				session + ".backupx": "olderx", session + ".backup-9": "older-9", session + ".backup99999999999999999999": "older99999999999999999999",
				session + ".backup8": oldText,
			}},
		"copied backup is there already": {way: way{backupDir: "/bak"}, stands: publish.NewStands,
			change: func(t *testing.T, f volume, _ *publish.Replacement, _ func(error)) {
				must(t, f.Mkdir("/bak", 0o700), afero.WriteFile(f, "/bak/s.jsonl.backup3", []byte(oldText), 0o600))
			},
			tree: map[string]string{"/bak/s.jsonl.backup3": oldText}},
		"times not kept": {stands: publish.NewStands,
			change: func(_ *testing.T, _ volume, r *publish.Replacement, _ func(error)) { r.KeepTimes = false },
			check: func(t *testing.T, f volume, got publish.Receipt) {
				info, err := f.Stat(session)
				if must(t, err); info.ModTime().Equal(time.Unix(6, 0)) || got.TimesKept {
					t.Error("the times were kept")
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			f := test.way.world(t)
			r := test.way.job()
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			if test.change != nil {
				test.change(t, f, &r, cancel)
			}
			got, err := publish.InPlace(ctx, f, r)
			if class(err) != test.class || !errors.Is(err, test.err) && test.err != nil || (err == nil) != (test.stands == publish.NewStands) {
				t.Errorf("error %v", err)
			}
			if got.Stands != test.stands || len(got.Left) > 0 {
				t.Errorf("%+v", got)
			}
			want := test.way.before()
			if test.stands == publish.NewStands && test.tree == nil {
				want = test.way.after()
			} else if test.stands == publish.NewStands {
				want[session] = newText
			}
			maps.Copy(want, test.tree)
			maps.DeleteFunc(want, func(_, text string) bool { return text == "(absent)" })
			if d := cmp.Diff(want, tree(t, f)); d != "" {
				t.Error(d)
			}
			if test.check != nil {
				test.check(t, f, got)
			}
			if err != nil && (strings.Contains(err.Error(), "old line") || !strings.Contains(err.Error(), session)) {
				t.Errorf("message %q", err)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// add appends to a file.
func add(t testing.TB, f afero.Fs, name, text string) {
	t.Helper()
	w, err := f.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	must(t, second(w.WriteString(text)), w.Close())
}

// Where the owner cannot be kept, the file is left alone; or, where that is wanted,
// nobody may read more than before.
func TestWithoutItsOwnerTheFileIsTheUsersAlone(t *testing.T) {
	f := ways[0].world(t)
	before := tree(t, f)
	job := ways[0].job()
	got, err := replace(noChown{f}, job)
	if class(err) != publish.OwnerNotKept || got.Stands != publish.OldStands || !cmp.Equal(before, tree(t, f)) {
		t.Errorf("%+v, %v", got, err)
	}
	job.AnyOwner = true
	got, err = replace(noChown{f}, job)
	if err != nil || got.OwnerError == "" || got.Mode != 0o600 {
		t.Errorf("%+v, %v", got, err)
	}
	if info, err := f.Stat(session); err != nil || info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

type noChown struct{ volume }

func (noChown) Chown(string, int, int) error { return syscall.EPERM }

// The new file is nobody else's to read while it is made.
func TestStageIsPrivate(t *testing.T) {
	f := ways[0].world(t)
	r := ways[0].job()
	r.Verify = func(io.ReaderAt, int64) error {
		info, err := f.Stat("/p/.s.jsonl.stage-tok")
		if err != nil || info.Mode() != fsys.FilePerm {
			t.Error(info, err)
		}
		return nil
	}
	must(t, second(replace(f, r)))
}

// A program that had the session open goes on writing into the backup.
func TestStragglersWriteIntoTheBackup(t *testing.T) {
	for _, w := range ways {
		if w.copies() {
			continue
		}
		f := w.world(t)
		open, err := f.OpenFile(session, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		got, err := replace(f, w.job())
		must(t, err, second(open.WriteString("late")))
		if content(f, got.Backup) != oldText+"late" || content(f, session) != newText {
			t.Errorf("%s: %v", w.name, tree(t, f))
		}
	}
}

func TestRecoverOfWhatNeverBegan(t *testing.T) {
	for name, test := range map[string]struct {
		stands publish.Stands
		class  string
		grown  bool
	}{
		oldText:        {stands: publish.OldStands},
		newText:        {stands: publish.NewStands},
		newText + "!":  {stands: publish.NewStands, grown: true},
		oldText + "!":  {stands: publish.Foreign, class: publish.SourceChanged},
		newText[:20]:   {stands: publish.Foreign, class: publish.SourceChanged},
		"(absent)":     {stands: publish.Foreign, class: publish.SourceChanged},
		"another text": {stands: publish.Foreign, class: publish.SourceChanged},
	} {
		f := ways[0].world(t)
		must(t, f.Remove(session))
		if name != "(absent)" {
			must(t, afero.WriteFile(f, session, []byte(name), 0o600))
		}
		was := tree(t, f)
		got, err := publish.Recover(f, ways[0].intent())
		if got.Stands != test.stands || got.Grown != test.grown || class(err) != test.class || (err == nil) != (test.class == "") {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
		if d := cmp.Diff(was, tree(t, f)); d != "" {
			t.Errorf("%q: %s", name, d)
		}
	}
}

// A hard link that bears a backup's name but was there before stays.
func TestAForeignLinkIsNotTakenForABackup(t *testing.T) {
	f := ways[0].world(t)
	must(t, f.Link(session, session+".backup4"))
	r := ways[0].job()
	r.Old = sum("something else")
	if _, err := replace(f, r); class(err) != publish.SourceChanged || content(f, session+".backup4") != oldText {
		t.Error(err, tree(t, f))
	}
	got, err := replace(f, ways[0].job())
	if err != nil || got.Backup != session+".backup5" {
		t.Error(got, err)
	}
}

func TestPrune(t *testing.T) {
	for keep, want := range map[int][]int{0: {0, 1, 2, 3, 9}, 1: {1, 3, 9}, 2: {1, 3, 9}, 3: {1, 2, 3, 9}, 5: {0, 1, 2, 3, 9}, 8: {0, 1, 2, 3, 9}} {
		f := ways[0].world(t)
		known := map[string]string{}
		names := map[int]string{}
		for _, n := range []int{0, 1, 2, 3, 9} {
			names[n] = session + ".backup" + strings.TrimPrefix(fmt.Sprint(n), "0")
			must(t, afero.WriteFile(f, names[n], []byte(fmt.Sprint("backup ", n)), 0o600))
			known[names[n]] = sum(fmt.Sprint("backup ", n)).SHA256
		}
		add(t, f, names[1], "and a straggler")
		delete(known, names[3])
		removed, err := publish.Prune(f, session, "", keep, func(name string) (string, bool) { s, ok := known[name]; return s, ok })
		must(t, err)
		var left []int
		for n, name := range names {
			there := content(f, name) != "(absent)"
			if there {
				left = append(left, n)
			}
			if there == slices.ContainsFunc(removed, func(r publish.Removed) bool { return r.Path == name }) {
				t.Errorf("keep %d: removed %v, but of %s there is %q", keep, removed, name, content(f, name))
			}
		}
		if slices.Sort(left); !slices.Equal(left, want) {
			t.Errorf("keep %d: left %v, want %v", keep, left, want)
		}
	}
}
