//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const replaceJob = `version: 1
kind: compress
name: replace
input: {sessions: [".claude/projects/p/*.jsonl"]}
mode: {summary: deterministic}
budgets: {keepRecords: 2}
publish: {to: replace, workDir: work, quiet: 0s}
`

const (
	project = ".claude/projects/p"
	name    = "11111111-2222-4333-8444-555555555555.jsonl"
	live    = project + "/" + name
)

// liveGround has a job that replaces a session.
func liveGround(t *testing.T, old []byte) ground {
	t.Helper()
	g := newGround(t)
	g.write("replace.yaml", []byte(replaceJob))
	g.write(live, old)
	return g
}

// replaced is the session after a replacement that nobody disturbs, and how long
// that takes.
func replaced(t *testing.T, old []byte) ([]byte, time.Duration) {
	t.Helper()
	g := liveGround(t, old)
	e := g.must("run", "replace.yaml", "--session-closed")
	return g.read(live), e.took
}

// large is a session of some MB: each record has a field that no client knows.
func large(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	pad := `{"padding":"` + strings.Repeat("none of this matters ", 300) + `",`
	for line := range bytes.Lines(session(t, "2.1.332-long-parallel", 1)) {
		b.WriteString(pad)
		b.Write(line[1:])
	}
	return b.Bytes()
}

// watcher looks at a session without a pause, until it is told to end.
type watcher struct {
	name       string
	want       [][]byte // one of them must stand there, whole
	open       bool     // reads it; else only its size is looked at
	quit, done chan struct{}
	looks      int
	err        error
}

func watch(name string, open bool, want ...[]byte) *watcher {
	w := &watcher{name: name, want: want, open: open, quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for {
			select {
			case <-w.quit:
				return
			default:
			}
			if w.err = w.look(); w.err != nil {
				return
			}
			w.looks++
		}
	}()
	return w
}

// end stops the watcher and gives what it saw that must not be.
func (w *watcher) end() error {
	close(w.quit)
	<-w.done
	return w.err
}

func (w *watcher) look() error {
	if !w.open {
		info, err := os.Lstat(w.name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(w.want, func(b []byte) bool { return int64(len(b)) == info.Size() }) {
			return fmt.Errorf("the session has %d bytes", info.Size())
		}
		return nil
	}
	f, err := os.Open(w.name)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err == nil && w.which(got) < 0 {
		err = fmt.Errorf("the session holds %d bytes of neither file", len(got))
	}
	return err
}

// which of the files it is.
func (w *watcher) which(got []byte) int {
	return slices.IndexFunc(w.want, func(b []byte) bool { return bytes.Equal(b, got) })
}

// state says how far a replacement came, by what is there.
func (g ground) state(old []byte) string {
	g.t.Helper()
	var hidden []string
	for _, n := range g.names(project) {
		if n != name {
			mark, _, _ := strings.Cut(strings.TrimPrefix(n, "."+name+"."), "-")
			hidden = append(hidden, mark)
		}
	}
	isOld := bytes.Equal(g.read(live), old)
	run := g.begun(1)
	switch {
	case run == nil:
		return "0 no run begun"
	case run.Status == "finished":
		return "8 finished"
	case !isOld && len(hidden) == 0:
		return "7 replaced, not recorded"
	case !isOld:
		return "6 replaced, the old file under " + strings.Join(hidden, ", ")
	case len(g.files("work/backups")) > 0:
		return "5 backed up, the new file under " + strings.Join(hidden, ", ")
	case len(hidden) > 0:
		return "4 old, and a " + strings.Join(hidden, ", ")
	}
	return "3 old, nothing beside it"
}

// await waits until a hidden file is beside the session: a stage while the new file
// is written, a swap when it is complete. It does not wait longer than the program
// lives.
func (g ground) await(mark string, p *program) {
	for range 2000 {
		if found, _ := filepath.Glob(g.path(project) + "/." + name + "." + mark + "-*"); len(found) > 0 || ended(p) {
			return
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// ended tells of a process that nobody has waited for.
func ended(p *program) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}

var signals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}

func TestSignalledReplacement(t *testing.T) {
	old := large(t)
	want, took := replaced(t, old)
	found, looks, slowest, n := counts{}, 0, time.Duration(0), full(*rounds, 3)
	for round := range n {
		s := signalled{liveGround(t, old), old, want, signals[round%3], round/3%2 == 0}
		e, w := s.strike([]string{"", "stage", "swap", "swap"}[round%4], took)
		found[fmt.Sprintf("%v: %s", s.signal, s.state(old))]++
		looks += w.looks
		if s.signal != syscall.SIGKILL {
			slowest = max(slowest, e.took)
			s.told(e)
		}
		s.mended()
		s.restored()
		if t.Failed() {
			t.Fatalf("in round %d, %v, forced %t: %s", round, s.signal, s.force, e)
		}
	}
	t.Logf("%d rounds, a straight run takes %v, %d looks at the session, %v at most from signal to end; found:%s", n, took, looks, slowest, found)
}

// signalled is one round. A forced replacement is one whose session may be open,
// so it can be read meanwhile.
type signalled struct {
	ground
	old, new []byte
	signal   syscall.Signal
	force    bool
}

func (s signalled) args() []string {
	args := []string{"run", "replace.yaml", "--session-closed"}
	if s.force {
		args = append(args, "--force")
	}
	return args
}

func (s signalled) watch() *watcher { return watch(s.path(live), s.force, s.old, s.new) }

// strike sends the signal: at any moment, or soon after a hidden file appeared.
func (s signalled) strike(mark string, took time.Duration) (ending, *watcher) {
	w := s.watch()
	p := s.start(s.args()...)
	if mark == "" {
		time.Sleep(upTo(took))
	} else {
		s.await(mark, p)
		time.Sleep(spread(took / 4))
	}
	_ = p.Process.Signal(s.signal)
	e := p.end()
	must(s.t, w.end())
	return e, w
}

// spread is a time below a limit, of any magnitude: what is fast is hit as often
// as what is slow.
func spread(limit time.Duration) time.Duration {
	return time.Duration(math.Pow(float64(limit), 0.5+rand.Float64()/2))
}

// told checks how the program ended when it was asked to.
func (s signalled) told(e ending) {
	if e.took > time.Second { // no failure: the machine may be busy
		s.t.Logf("%v from %v to the end", e.took, s.signal)
	}
	begun := s.begun(1)
	switch {
	case e.code == 0 && begun != nil && begun.Status == "finished":
	case e.code == -1 && begun == nil && e.out+e.errOut == "": // it had not even started
	case e.code != 130:
		s.t.Errorf("exit %d", e.code)
	case begun == nil && !strings.Contains(e.errOut, "nothing was changed"):
		s.t.Error("it does not say that nothing was changed")
	case begun != nil && !strings.Contains(e.errOut, "precis resume "+begun.Run[:len("01234567-89ab-7def")]):
		s.t.Error("it does not say how to go on")
	}
	if n := len(s.names(project)); n != 1 {
		s.t.Errorf("%d files were left beside the session", n-1)
	}
}

// mended brings the session to the new file by one command.
func (s signalled) mended() {
	args := s.goOn(1, s.args()...)
	w := s.watch()
	s.must(args...)
	must(s.t, w.end())
	s.stands(s.new, map[string]string{name + ".backup": string(s.old)})
	if r := s.begun(1); r == nil || r.Status != "finished" || r.done() != 1 {
		s.t.Errorf("the run is listed as %+v", r)
	}
}

// restored brings the old one back.
func (s signalled) restored() {
	w := watch(s.path(live), false, s.old, s.new)
	s.must("restore", "last", "--session-closed")
	must(s.t, w.end())
	s.stands(s.old, map[string]string{name + ".backup": string(s.old), name + ".backup1": string(s.new)})
}

// stands checks the session, that nothing is beside it, and the backups.
func (s signalled) stands(want []byte, backups map[string]string) {
	if got := s.names(project); len(got) != 1 || !bytes.Equal(s.read(live), want) {
		s.t.Errorf("%q stand there", got)
	}
	got := s.files("work/backups")
	for name, text := range backups {
		if got[name] != text {
			s.t.Errorf("%s has %d bytes, want %d", filepath.Join("work/backups", name), len(got[name]), len(text))
		}
	}
	if len(got) != len(backups) {
		s.t.Errorf("%d backups, want %d", len(got), len(backups))
	}
}
