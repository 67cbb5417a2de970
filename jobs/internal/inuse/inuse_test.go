package inuse_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/memfs"
	"github.com/precis-dev/precis/jobs/internal/inuse"
)

const (
	id       = "11111111-2222-4333-8444-555555555555"
	projects = "/home/u/.claude/projects/-work/"
	session  = projects + id + ".jsonl"
	registry = "/home/u/.claude/sessions/"
)

var written = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// home has a session, and files of the client's registry by name.
func home(t *testing.T, files map[string]string) *memfs.FS {
	t.Helper()
	f := memfs.New(func() time.Time { return written })
	write(t, f, session, "{}\n")
	for name, content := range files {
		write(t, f, registry+name, content)
	}
	return f
}

func write(t *testing.T, f afero.Fs, name, content string) {
	t.Helper()
	must(t, fsys.MkdirAll(f, filepath.Dir(name)))
	must(t, fsys.WriteNew(f, name, []byte(content)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that an error is a refusal that says what to do; class "" is for
// no error.
func refused(t *testing.T, err error, class string, says ...string) {
	t.Helper()
	r, ok := errors.AsType[*step.Refusal](err)
	if class == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if !ok || r.Class != class || r.Next == "" || r.Place.File == "" {
		t.Fatalf("%v, want %s", err, class)
	}
	for _, s := range says {
		if !strings.Contains(r.Error(), s) {
			t.Errorf("%q does not say %q", r.Error(), s)
		}
	}
}

func TestLocate(t *testing.T) {
	f := home(t, nil)
	must(t, f.MkdirAll(projects+"folder.jsonl", 0o700))
	for name, class := range map[string]string{
		session: "",
		projects + id + "/subagents/agent-1.jsonl":         "",
		"/home/u/.claude/projects/top.jsonl":               "",
		projects + "../-work/" + id + ".jsonl":             "",
		"/home/u/.claude/projects/../elsewhere/x.jsonl":    notLive,
		"/home/u/.claude/x/projects/x.jsonl":               notLive,
		"/home/u/.claude.d/projects/p/x.jsonl":             notLive,
		"/home/u/claude/projects/p/x.jsonl":                notLive,
		projects + "notes.txt":                             notLive,
		projects + "x.JSONL":                               notLive,
		projects + ".jsonl":                                notLive,
		projects + "folder.jsonl":                          notLive,
		projects + "missing.jsonl":                         notLive,
		"/home/u/.claude/projects.jsonl":                   notLive,
		"/projects/.claude/x.jsonl":                        notLive,
		"/home/u/.claude/projects/.claude/x.jsonl":         "",
		"/.claude/projects/-a/x.jsonl":                     "",
		"/home/u/.claude/projects/a/.claude/x/y/x.jsonl":   "",
		"/home/u/.claude/projects.old/-work/session.jsonl": notLive,
	} {
		if _, err := f.Stat(name); err != nil && !strings.Contains(name, "missing") {
			write(t, f, name, "{}\n")
		}
		t.Run(name, func(t *testing.T) { refused(t, inuse.Locate(f, name), class) })
		if class != "" {
			t.Run("check "+name, func(t *testing.T) { refused(t, inuse.Check(f, name, 0, written), class) })
		}
	}
}

const notLive = "not-a-live-session"

func TestLocateAndLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	must(t, os.MkdirAll(at("home/.claude/projects/-work"), 0o700))
	must(t, os.MkdirAll(at("else/.claude/projects"), 0o700))
	must(t, os.WriteFile(at("home/.claude/projects/-work/a.jsonl"), nil, 0o600))
	must(t, os.WriteFile(at("else/b.jsonl"), nil, 0o600))
	for link, to := range map[string]string{
		"home/.claude/projects/-work/link.jsonl": "a.jsonl",
		"home/.claude/projects/-work/gone.jsonl": "none.jsonl",
		"work":                                   "home/.claude/projects/-work",
		"else/.claude/projects/out":              "../..",
	} {
		if err := os.Symlink(filepath.FromSlash(to), at(link)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	for name, class := range map[string]string{
		"home/.claude/projects/-work/a.jsonl":    "",
		"work/a.jsonl":                           "", // a folder's other name leads to the same file
		"home/.claude/projects/-work/link.jsonl": notLive,
		"home/.claude/projects/-work/gone.jsonl": notLive,
		"else/.claude/projects/out/b.jsonl":      notLive,
	} {
		t.Run(name, func(t *testing.T) { refused(t, inuse.Locate(fsys.OS(), at(name)), class) })
	}
}

// system tells of processes what a system does that is no memfs.
type system struct {
	*memfs.FS
	alive, started, open error
	start                string
}

func (s system) Alive(pid int) (bool, error) {
	if s.alive != nil {
		return false, s.alive
	}
	return s.FS.Alive(pid)
}

func (s system) Started(int) (string, error) { return s.start, s.started }

func (s system) OpenBy(name string) ([]int, error) {
	if s.open != nil {
		return nil, s.open
	}
	return s.FS.OpenBy(name)
}

// blind is a filesystem that tells nothing of processes.
type blind struct{ afero.Fs }

const isOpen = "session-open"

func TestRegistered(t *testing.T) {
	const (
		mine  = `{"pid":12,"sessionId":"` + id + `","startedAt":1796062907659,"procStart":"2309442","status":"idle"}`
		other = `{"pid":12,"sessionId":"other","procStart":"2309442"}`
	)
	upper := strings.Replace(mine, id, strings.ToUpper(id), 1)
	for name, c := range map[string]struct {
		files map[string]string
		class string
		says  string
	}{
		"no registry":              {nil, "", ""},
		"open":                     {map[string]string{"12.json": mine}, isOpen, "process 12, running since 2026-11-30T18:21:47Z"},
		"in other letters":         {map[string]string{"12.json": upper}, isOpen, "process 12"},
		"of another session":       {map[string]string{"12.json": other}, "", ""},
		"of a dead process":        {map[string]string{"13.json": mine}, "", ""},
		"twice":                    {map[string]string{"12.json": mine, "14.json": `{"sessionId":"` + id + `"}`}, isOpen, "47Z, process 14"},
		"without a time":           {map[string]string{"12.json": `{"sessionId":"` + id + `","startedAt":-1}`}, isOpen, "open: process 12"},
		"half-written":             {map[string]string{"12.json": mine[:40]}, isOpen, "12.json: session-open: process 12 may be"},
		"empty":                    {map[string]string{"12.json": ""}, isOpen, "process 12 may be"},
		"another type":             {map[string]string{"12.json": `{"pid":12,"sessionId":[]}`}, isOpen, "process 12 may be"},
		"another process":          {map[string]string{"12.json": strings.Replace(other, "12", "13", 1)}, isOpen, "process 12 may be"},
		"half-written, dead":       {map[string]string{"13.json": mine[:40]}, "", ""},
		"odd and open":             {map[string]string{"12.json": "", "14.json": `{"sessionId":"` + id + `"}`}, isOpen, "open: process 14"},
		"other files":              {map[string]string{"12.abc.key": mine, "012.json": mine, "x.json": mine, "-12.json": mine, "12.jsonx": mine}, "", ""},
		"a folder for the entry":   {map[string]string{"12.json/x": mine}, isOpen, "process 12 may be"},
		"larger than any entry is": {map[string]string{"12.json": strings.Repeat(" ", 2<<20) + mine}, isOpen, "process 12 may be"},
	} {
		t.Run(name, func(t *testing.T) {
			f := home(t, c.files)
			f.SetAlive(12, 14)
			refused(t, inuse.Check(f, session, 0, written), c.class, c.says)
		})
	}
}

func TestRegisteredBySystem(t *testing.T) {
	unsupported := errors.ErrUnsupported
	entry := map[string]string{"12.json": `{"pid":12,"sessionId":"` + id + `","procStart":"200"}`}
	f := home(t, entry)
	f.SetAlive(12)
	for name, c := range map[string]struct {
		f     afero.Fs
		class string
	}{
		"no processes":           {blind{f}, isOpen},
		"same start":             {system{FS: f, start: "linux:boot:200"}, isOpen},
		"number used again":      {system{FS: f, start: "linux:boot:201"}, ""},
		"start of another form":  {system{FS: f, start: "darwin:201"}, isOpen},
		"no start known":         {system{FS: f, started: unsupported}, isOpen},
		"ended meanwhile":        {system{FS: f, started: os.ErrNotExist}, ""},
		"nothing known":          {system{FS: f, alive: unsupported, started: unsupported, open: unsupported}, isOpen},
		"not told":               {system{FS: f, alive: os.ErrPermission, started: os.ErrPermission}, isOpen},
		"nothing known, no list": {system{FS: home(t, nil), alive: unsupported, started: unsupported, open: unsupported}, ""},
	} {
		t.Run(name, func(t *testing.T) { refused(t, inuse.Check(c.f, session, 0, written), c.class) })
	}
}

// An entry whose session cannot be told is still of a process that has ended when
// its number is used again.
func TestOddEntryOfAnotherProcess(t *testing.T) {
	f := home(t, map[string]string{"12.json": `{"procStart":"200"}`})
	f.SetAlive(12)
	refused(t, inuse.Check(system{FS: f, start: "linux:boot:201"}, session, 0, written), "")
	refused(t, inuse.Check(system{FS: f, start: "linux:boot:200"}, session, 0, written), isOpen)
}

func TestSubagentIsOfItsSession(t *testing.T) {
	f := home(t, map[string]string{"12.json": `{"sessionId":"` + id + `"}`})
	agent := projects + id + "/subagents/agent-1.jsonl"
	write(t, f, agent, "")
	refused(t, inuse.Check(f, agent, 0, written), "")
	f.SetAlive(12)
	refused(t, inuse.Check(f, agent, 0, written), isOpen, "process 12")
}

func TestUnreadableRegistry(t *testing.T) {
	f := home(t, map[string]string{"12.json": `{"sessionId":"other"}`})
	f.SetAlive(12)
	must(t, f.Chmod(registry+"12.json", 0))
	refused(t, inuse.Check(f, session, 0, written), isOpen, "12.json", "process 12")
	must(t, f.Chmod(registry, 0))
	refused(t, inuse.Check(f, session, 0, written), isOpen, "cannot be read")
}

func TestHeld(t *testing.T) {
	f := home(t, nil)
	must(t, f.SetOpen(session, 9, 3))
	refused(t, inuse.Check(f, session, 0, written), isOpen, "3, 9")
	refused(t, inuse.Check(blind{f}, session, 0, written), "")
	refused(t, inuse.Check(system{FS: f, open: errors.ErrUnsupported}, session, 0, written), "")
	refused(t, inuse.Check(system{FS: f, open: os.ErrPermission}, session, 0, written), isOpen, "cannot be told")
}

func TestRecent(t *testing.T) {
	f := home(t, nil)
	const quiet = 15 * time.Minute
	for _, c := range []struct {
		quiet, age time.Duration
		says       string // "" for no refusal
	}{
		{quiet, 0, "0s ago, and publish.quiet asks for 15m"},
		{quiet, quiet - 1, "15m ago"},
		{quiet, quiet, ""},
		{quiet, 24 * time.Hour, ""},
		{quiet, -time.Hour, "1h after now"},
		{0, 0, ""},
		{0, -time.Hour, ""},
	} {
		class := ""
		if c.says != "" {
			class = "session-recent"
		}
		refused(t, inuse.Check(f, session, c.quiet, written.Add(c.age)), class, c.says)
	}
}
