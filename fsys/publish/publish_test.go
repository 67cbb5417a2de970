package publish_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/fsys/publish"
)

// printf 'the new bytes' | sha256sum; printf 'the old bytes' | sha256sum
const (
	newBytes, newSum = "the new bytes", "af9ecd498abb17816f2eaa6be201eaaf28467bf747f235799e2350ec0e5caf4c"
	oldBytes, oldSum = "the old bytes", "ac2bc7d85130ca143c4b65035e64dfc20fb87c5541d254175670dd395ffc56fc"
	target, stage    = "/out/deep/s.jsonl", "/out/deep/.s.jsonl.stage-tok"
)

func mem() *memfs.FS { return memfs.New(func() time.Time { return time.Unix(0, 0) }) }

func request() publish.Request {
	return publish.Request{Path: target, Token: "tok", Write: func(w io.Writer) error {
		_, err := io.WriteString(w, newBytes)
		return err
	}}
}

// standing puts old bytes at the target, durably.
func standing(t *testing.T, f *memfs.FS, data string) {
	t.Helper()
	if err := errors.Join(fsys.MkdirAll(f, filepath.Dir(target)), fsys.WriteFile(f, target, "t", []byte(data))); err != nil {
		t.Fatal(err)
	}
}

func content(f afero.Fs, name string) string {
	data, err := afero.ReadFile(f, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "(absent)"
	}
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func TestCandidate(t *testing.T) {
	for name, test := range map[string]struct {
		there    string
		replaces string
		force    bool
		op       publish.Op
		class    string
		stands   string
	}{
		"absent":            {op: publish.Create, stands: newBytes},
		"same bytes":        {there: newBytes, op: publish.Keep, stands: newBytes},
		"ours":              {there: oldBytes, replaces: oldSum, op: publish.Replace, stands: newBytes},
		"forced":            {there: oldBytes, force: true, op: publish.Replace, stands: newBytes},
		"foreign":           {there: oldBytes, class: publish.OutputExists, stands: oldBytes},
		"changed since":     {there: "edited", replaces: oldSum, class: publish.OutputExists, stands: "edited"},
		"ours, but removed": {replaces: oldSum, op: publish.Create, stands: newBytes},
	} {
		t.Run(name, func(t *testing.T) {
			f := mem()
			if test.there != "" {
				standing(t, f, test.there)
			}
			r := request()
			r.Replaces, r.Force = test.replaces, test.force
			got, err := publish.Candidate(context.Background(), f, r)
			var refusal *publish.Refusal
			if errors.As(err, &refusal); test.class != "" && (refusal == nil || refusal.Class != test.class || refusal.Path != target || refusal.Next == "") {
				t.Fatalf("error %v, want class %s", err, test.class)
			}
			want := publish.Published{}
			if test.class == "" {
				want = publish.Published{Op: test.op, Path: target, Bytes: int64(len(newBytes)), SHA256: newSum}
				if err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			for name, want := range map[string]string{target: test.stands, stage: "(absent)"} {
				if got := content(f, name); got != want {
					t.Errorf("%s holds %q, want %q", name, got, want)
				}
				if got := content(f.CrashClone(0), name); got != want {
					t.Errorf("%s holds %q after a power cut, want %q", name, got, want)
				}
			}
		})
	}
}

func TestKeepWritesNothing(t *testing.T) {
	f := mem()
	standing(t, f, newBytes)
	before, _ := f.Stat(target)
	counting := faultfs.New(f, faultfs.Plan{})
	if _, err := publish.Candidate(context.Background(), counting, request()); err != nil {
		t.Fatal(err)
	}
	after, _ := f.Stat(target)
	if !after.ModTime().Equal(before.ModTime()) {
		t.Error("the kept file was touched")
	}
	for _, op := range counting.Ops() {
		if (op.Path == target || op.To == target) && op.Kind != faultfs.SyncDir {
			t.Errorf("the kept file saw %s", op)
		}
	}
}

func TestPermissionsAreTheOwnersOnly(t *testing.T) {
	f := mem()
	r := request()
	r.Verify = func(io.ReaderAt, int64) error {
		if info, err := f.Stat(stage); err != nil || info.Mode() != fsys.FilePerm {
			t.Errorf("stage: %v, %v", info, err)
		}
		return nil
	}
	if _, err := publish.Candidate(context.Background(), f, r); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"/out": 0o700, "/out/deep": 0o700, target: 0o600} {
		if info, err := f.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestVerifySeesTheStagedBytesAndDecides(t *testing.T) {
	f := mem()
	bad := errors.New("not valid")
	r := request()
	r.Verify = func(at io.ReaderAt, size int64) error {
		got, err := io.ReadAll(io.NewSectionReader(at, 0, size))
		if string(got) != newBytes || err != nil {
			t.Errorf("verified %q, %v", got, err)
		}
		return bad
	}
	if _, err := publish.Candidate(context.Background(), f, r); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
	if content(f, target) != "(absent)" || content(f, stage) != "(absent)" {
		t.Error("an invalid candidate left something")
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	for _, during := range []string{"write", "verify"} {
		f := mem()
		standing(t, f, oldBytes)
		ctx, cancel := context.WithCancel(context.Background())
		r := request()
		r.Force = true
		write := r.Write
		r.Write = func(w io.Writer) error {
			if during == "write" {
				cancel()
			}
			return write(w)
		}
		r.Verify = func(io.ReaderAt, int64) error { cancel(); return nil }
		if _, err := publish.Candidate(ctx, f, r); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", during, err)
		}
		if content(f, target) != oldBytes || content(f, stage) != "(absent)" {
			t.Errorf("%s: the target holds %q, the stage %q", during, content(f, target), content(f, stage))
		}
	}
}

// TestAForeignFileThatAppearsIsNeverOverwritten writes at the last moment a
// caller can see, in Verify, and then again at the claim itself.
func TestAForeignFileThatAppearsIsNeverOverwritten(t *testing.T) {
	for name, layer := range map[string]func(*memfs.FS) afero.Fs{
		"with links":    func(f *memfs.FS) afero.Fs { return intruder{FS: f, links: true} },
		"without links": func(f *memfs.FS) afero.Fs { return noLinks{intruder{FS: f}} },
	} {
		f := mem()
		_, err := publish.Candidate(context.Background(), layer(f), request())
		var refusal *publish.Refusal
		if !errors.As(err, &refusal) || refusal.Class != publish.OutputExists {
			t.Errorf("%s: error %v", name, err)
		}
		if content(f, target) != "foreign" || content(f, stage) != "(absent)" {
			t.Errorf("%s: the target holds %q, the stage %q", name, content(f, target), content(f, stage))
		}
	}
}

// intruder puts a foreign file at the target just before it is claimed.
type intruder struct {
	*memfs.FS
	links bool
}

func (i intruder) intrude(name string) {
	if name == target {
		_ = afero.WriteFile(i.FS, target, []byte("foreign"), 0o600)
	}
}

func (i intruder) Link(oldname, newname string) error {
	i.intrude(newname)
	return i.FS.Link(oldname, newname)
}

func (i intruder) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&os.O_EXCL != 0 {
		i.intrude(name)
	}
	return i.FS.OpenFile(name, flag, perm)
}

// meddler changes a file just before it is opened for the nth time.
type meddler struct {
	*memfs.FS
	name string
	nth  int
}

func (m *meddler) Open(name string) (afero.File, error) {
	if name == m.name {
		if m.nth--; m.nth == 0 {
			_ = afero.WriteFile(m.FS, name, []byte("meddled"), 0o600)
		}
	}
	return m.FS.Open(name)
}

func TestFilesThatChangeOnTheWay(t *testing.T) {
	for title, test := range map[string]struct {
		there  string
		file   string
		nth    int
		stands string
	}{
		"target before it is replaced": {oldBytes, target, 2, "meddled"},
		"target after it is replaced":  {oldBytes, target, 3, "meddled"},
		"target after it is created":   {"", target, 1, "meddled"},
		"stage before it is claimed":   {"", stage, 1, "(absent)"},
	} {
		f := mem()
		if test.there != "" {
			standing(t, f, test.there)
		}
		r := request()
		r.Replaces = oldSum
		if got, err := publish.Candidate(context.Background(), &meddler{f, test.file, test.nth}, r); err == nil {
			t.Errorf("%s: published %+v", title, got)
		}
		if content(f, target) != test.stands || content(f, stage) != "(absent)" {
			t.Errorf("%s: the target holds %q, the stage %q", title, content(f, target), content(f, stage))
		}
	}
}

// noLinks hides every capability but the folder sync.
type noLinks struct{ afero.Fs }

func (n noLinks) SyncDir(name string) error { return fsys.SyncDir(n.Fs, name) }

func TestWithoutLinks(t *testing.T) {
	f := mem()
	got, err := publish.Candidate(context.Background(), noLinks{f}, request())
	if err != nil || got.Op != publish.Create || content(f.CrashClone(0), target) != newBytes {
		t.Errorf("%+v, %v", got, err)
	}
	f = mem()
	standing(t, f, oldBytes)
	if _, err := publish.Candidate(context.Background(), noLinks{f}, request()); err == nil || content(f, target) != oldBytes {
		t.Errorf("clobbered: %v", err)
	}
}

func TestRefusesWhatIsNotAFile(t *testing.T) {
	f := mem()
	if err := fsys.MkdirAll(f, target); err != nil {
		t.Fatal(err)
	}
	r := request()
	r.Force = true
	_, err := publish.Candidate(context.Background(), f, r)
	var refusal *publish.Refusal
	if !errors.As(err, &refusal) || refusal.Class != publish.OutputNotAFile {
		t.Error(err)
	}
}

// TestFaultSweep fails or stops the world at every operation, then cuts the
// power, for a target that is absent, ours, or already right.
func TestFaultSweep(t *testing.T) {
	t.Parallel()
	faults, cuts := 0, 0
	for _, there := range []string{"", oldBytes, newBytes} {
		for _, plan := range []faultfs.Plan{
			{Err: syscall.ENOSPC}, {Err: syscall.EIO, Reads: true}, {Short: true}, {Stop: true}, {Stop: true, Short: true},
		} {
			for plan.At = 1; ; plan.At++ {
				base := mem()
				old := "(absent)"
				if there != "" {
					standing(t, base, there)
					old = there
				}
				f := faultfs.New(base, plan)
				r := request()
				r.Replaces = oldSum
				got, err := publish.Candidate(context.Background(), f, r)
				if !f.Hit() {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
				c := sweep{t, fmt.Sprintf("target %q, %+v (%s)", there, plan, f.Ops()[plan.At-1]), old}
				c.check(base, plan.Stop, got, err)
				faults, cuts = faults+1, cuts+int(seeds(t))
			}
		}
	}
	t.Logf("%d faults, %d power cuts", faults, cuts)
}

type sweep struct {
	*testing.T
	name, old string
}

func (s sweep) check(base *memfs.FS, stopped bool, got publish.Published, err error) {
	s.Helper()
	now := content(base, target)
	if now != s.old && now != newBytes {
		s.Errorf("%s: the target holds %q", s.name, now)
	}
	if err != nil && (got.Op != "") != (now == newBytes && s.old != newBytes) && !stopped {
		s.Errorf("%s: result %+v, but the target holds %q", s.name, got, now)
	}
	if !stopped && content(base, stage) != "(absent)" {
		s.Errorf("%s: a stage is left", s.name)
	}
	for seed := range seeds(s) {
		after := base.CrashClone(seed)
		stands := content(after, target)
		if stands != newBytes && (err == nil || stands != s.old) {
			s.Errorf("%s: error %v, and after power cut %d the target holds %q", s.name, err, seed, stands)
		}
		r := request()
		r.Replaces = oldSum
		if _, err := publish.Candidate(context.Background(), after, r); err != nil || content(after, target) != newBytes {
			s.Errorf("%s: the next attempt after power cut %d: %v", s.name, seed, err)
		}
		if content(after, stage) != "(absent)" {
			s.Errorf("%s: the next attempt left the stage", s.name)
		}
	}
}

func TestOnDisk(t *testing.T) {
	dir := t.TempDir()
	r := request()
	r.Path = filepath.Join(dir, "new", "s.jsonl")
	for _, want := range []publish.Op{publish.Create, publish.Keep} {
		got, err := publish.Candidate(context.Background(), fsys.OS(), r)
		if err != nil || got.Op != want || content(fsys.OS(), r.Path) != newBytes {
			t.Fatalf("%+v, %v; want %s", got, err, want)
		}
	}
	if err := os.WriteFile(r.Path, []byte(oldBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Candidate(context.Background(), fsys.OS(), r); err == nil || !strings.Contains(err.Error(), r.Path) {
		t.Errorf("error %v", err)
	}
	r.Replaces = oldSum
	if got, err := publish.Candidate(context.Background(), fsys.OS(), r); err != nil || got.Op != publish.Replace {
		t.Errorf("%+v, %v", got, err)
	}
	left, err := os.ReadDir(filepath.Dir(r.Path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err == nil {
		r.Path, r.Force = filepath.Join(dir, "link"), true
		if _, err := publish.Candidate(context.Background(), fsys.OS(), r); err == nil {
			t.Error("published through a symbolic link")
		}
	}
}

// A target may have the longest name that a filesystem takes, and two of them may
// differ at their ends only.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, end := range []string{"a.jsonl", "b.jsonl", "é.jsonl"} {
		r := request()
		r.Path = filepath.Join(dir, strings.Repeat("é", (255-len(end))/2)+end)
		r.Write = func(w io.Writer) error {
			entries, err := os.ReadDir(dir)
			for _, e := range entries {
				if len(e.Name()) > 255-64+len("tok") && strings.Contains(e.Name(), ".stage-") {
					t.Errorf("the stage's name has %d bytes", len(e.Name()))
				}
			}
			_, werr := io.WriteString(w, newBytes)
			return errors.Join(err, werr)
		}
		p, err := publish.Candidate(context.Background(), fsys.OS(), r)
		if err != nil || content(fsys.OS(), p.Path) != newBytes {
			t.Errorf("%s: %v", end, err)
		}
	}
}
