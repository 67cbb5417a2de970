package fsys_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/precis-dev/precis/fsys"
)

func processes(t *testing.T) fsys.Processes {
	t.Helper()
	p, ok := fsys.As[fsys.Processes](fsys.OS())
	if !ok {
		t.Fatal("the system tells nothing of its processes")
	}
	return p
}

// child starts a process that has files open and waits to be killed.
func child(t *testing.T, program string, files ...*os.File) *exec.Cmd {
	t.Helper()
	c := exec.Command(program, "600")
	c.Args[0], c.ExtraFiles = "sleep", files
	must(t, c.Start())
	t.Cleanup(func() { end(c) })
	return c
}

func end(c *exec.Cmd) {
	_ = c.Process.Kill()
	_ = c.Wait() // fails for being killed, or having been waited for
}

func TestOpenBy(t *testing.T) {
	p := processes(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	file, link := at("file"), at("link")
	w, err := os.Create(file)
	must(t, err)
	must(t, os.Link(file, link))
	r, err := os.Open(file)
	must(t, err)
	var want []int
	for _, open := range []*os.File{w, r} {
		want = append(want, child(t, "/bin/sleep", open).Process.Pid)
	}
	slices.Sort(want)
	check := func(name string, want []int) {
		t.Helper()
		if got, err := p.OpenBy(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is open by %v, %v; want %v", name, got, err, want)
		}
	}
	check(file, want)
	must(t, os.Remove(file))
	check(link, want)
	must(t, os.Rename(link, file))
	check(file, want)
	must(t, os.WriteFile(link, nil, 0o600))
	check(link, nil)
	if _, err := p.OpenBy(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	must(t, errors.Join(r.Close(), w.Close()))
}

func TestAliveAndStarted(t *testing.T) {
	p := processes(t)
	sleep, err := os.ReadFile("/bin/sleep")
	must(t, err)
	// The name of a program stands in the file in which its start does.
	odd := filepath.Join(t.TempDir(), "a) S 1 (b")
	must(t, os.WriteFile(odd, sleep, 0o700))
	c := child(t, odd)
	pid := c.Process.Pid
	for _, pid := range []int{pid, os.Getpid(), 1} {
		if alive, err := p.Alive(pid); !alive || err != nil {
			t.Errorf("process %d is not alive: %v", pid, err)
		}
	}
	first, err := p.Started(pid)
	must(t, err)
	if !regexp.MustCompile(`^linux:[0-9a-f-]{36}:[0-9]{3,}$`).MatchString(first) {
		t.Errorf("started %q", first)
	}
	if again, err := p.Started(pid); again != first || err != nil {
		t.Errorf("started %q, then %q, %v", first, again, err)
	}
	if own, err := p.Started(os.Getpid()); own == first || err != nil {
		t.Errorf("both started %q, %v", own, err)
	}
	end(c)
	for _, pid := range []int{pid, 0, -1} {
		if alive, err := p.Alive(pid); alive || err != nil {
			t.Errorf("process %d is alive: %v", pid, err)
		}
		if s, err := p.Started(pid); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("process %d started %q, %v", pid, s, err)
		}
	}
}
