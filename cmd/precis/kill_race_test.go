//go:build unix

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTwoProcesses has two processes do one thing at the same time.
func TestTwoProcesses(t *testing.T) {
	n := full(*rounds/4, 2)
	for _, c := range []struct {
		name string
		race func(*testing.T, int)
	}{
		{"one session", raceForSession},
		{"one state folder", raceForState},
		{"one run", raceForRun},
		{"a client writes", raceWithClient},
	} {
		t.Run(c.name, func(t *testing.T) { c.race(t, n) })
	}
}

// result is the last event of a run.
type result struct {
	Run, Class, Message string
	Items               []struct{ Status, Class, Message string }
}

func (e ending) result(t *testing.T) (r result) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(e.out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("%v: %s", err, e)
	}
	return r
}

// verdict is how the program ended, in a few words, and all that it said.
func (e ending) verdict(t *testing.T) (short, said string) {
	t.Helper()
	r := e.result(t)
	seen := counts{}
	said = r.Message
	for _, i := range r.Items {
		seen[strings.TrimSpace(i.Status+" "+i.Class)]++
		said += "\n" + i.Message
	}
	short = fmt.Sprint(e.code, " ", strings.Join(slices.Sorted(maps.Keys(seen)), " and "), " ", r.Class)
	if strings.Contains(short, "locked") && !strings.Contains(said, "process") {
		short += unnamed
	}
	return short, said
}

// race starts the program twice, the second time a little later.
func (g ground) race(lag time.Duration, a, b []string) (first, second ending) {
	p := g.start(a...)
	time.Sleep(lag)
	q := g.start(b...)
	first = p.end()
	return first, q.end()
}

// unnamed marks the verdict of a process that lost and cannot say to whom.
const unnamed = "by nobody named"

// pair enters how two processes ended.
func (c counts) pair(t *testing.T, a, b ending) {
	one, _ := a.verdict(t)
	two, _ := b.verdict(t)
	if two < one {
		one, two = two, one
	}
	c[one+" | "+two]++
}

// small is a session that is folded in an instant.
func small(t *testing.T, i int) []byte { return session(t, "2.1.197-images", i) }

// times are what a session holds after 0, 1 and 2 replacements.
func times(t *testing.T, old []byte) (chain [][]byte) {
	g := liveGround(t, old)
	for i := range 3 {
		chain = append(chain, g.read(live))
		g.run("run", "replace.yaml", "--session-closed", "--state", fmt.Sprint("state", i))
	}
	return chain
}

// raceForSession has two state folders and one session.
func raceForSession(t *testing.T, n int) {
	found := counts{}
	chain := times(t, small(t, 1))
	for range n {
		g := liveGround(t, chain[0])
		args := []string{"run", "replace.yaml", "--json", "--session-closed", "--state"}
		w := watch(g.path(live), false, chain...)
		a, b := g.race(spread(20*time.Millisecond), append(args, "a"), append(args, "b"))
		must(t, w.end())
		found.pair(t, a, b)
		won := 0
		for _, pair := range [][2]ending{{a, b}, {b, a}} {
			if pair[0].code == 0 {
				won++
				continue
			}
			lostSession(t, pair[0], pair[1])
		}
		g.replacedTimes(won, chain)
		if won == 0 {
			g.must("run", "replace.yaml", "--session-closed")
			g.replacedTimes(1, chain)
		}
		if t.Failed() {
			t.Fatal(a, b)
		}
	}
	t.Logf("%d rounds:%s", n, found)
}

// lostSession checks what the process says that did not replace the session.
func lostSession(t *testing.T, lost, won ending) {
	t.Helper()
	short, said := lost.verdict(t)
	if lost.code != 1 {
		t.Errorf("exit %d", lost.code)
	}
	switch {
	case strings.Contains(short, "source-changed"), strings.Contains(short, "nothing-to-fold"):
	case strings.HasSuffix(short, "session-locked "+unnamed) && won.code == 0: // which had just exchanged the file
	case strings.Contains(said, fmt.Sprint(won.pid)):
	default:
		t.Errorf("it does not name process %d", won.pid)
	}
}

// replacedTimes checks a session and its backups after some replacements.
func (g ground) replacedTimes(n int, chain [][]byte) {
	g.t.Helper()
	if n >= len(chain) || !bytes.Equal(g.read(live), chain[n]) || len(g.names(project)) != 1 {
		g.t.Errorf("the session is not what it is after %d replacements; there is %q", n, g.names(project))
	}
	var want, got []string
	for _, b := range chain[:min(n, len(chain))] {
		want = append(want, string(b))
	}
	files := g.files("work/backups")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		got = append(got, files[name])
	}
	if !slices.Equal(want, got) {
		g.t.Errorf("the %d backups are not the old files", len(got))
	}
}

// raceForState has one job and one state folder.
func raceForState(t *testing.T, n int) {
	const items = 3
	found, sessions := counts{}, batch(t, items)
	want, _ := straight(t, sessions)
	for round := range n {
		g := batchGround(t, sessions)
		a, b := g.race(spread(20*time.Millisecond), []string{"run", "job.yaml", "--json"}, []string{"run", "job.yaml", "--json"})
		found.pair(t, a, b)
		if a.code != 0 && b.code != 0 {
			t.Error("neither did it")
		}
		g.settled(round, items, want)
		if t.Failed() {
			t.Fatal(a, b)
		}
	}
	t.Logf("%d rounds:%s", n, found)
}

// settled checks what two processes left; now and then everything of it.
func (g ground) settled(round, items int, want map[string]string) {
	g.t.Helper()
	g.outputs(want)
	for _, r := range g.runs() {
		if r.Status != "finished" || r.Items != items {
			g.t.Errorf("a run is listed as %+v", r)
		}
	}
	if round%10 == 0 {
		g.finished(items, want)
	}
}

// raceForRun resumes one run twice.
func raceForRun(t *testing.T, n int) {
	const items = 3
	found, sessions := counts{}, batch(t, items)
	want, _ := straight(t, sessions)
	g := cutShort(t, sessions, items)
	keep := g.path("keep")
	must(t, os.CopyFS(keep+"/.precis", os.DirFS(g.path(".precis"))), os.CopyFS(keep+"/out", os.DirFS(g.path("out"))))
	for round := range n {
		must(t, os.RemoveAll(g.path(".precis")), os.RemoveAll(g.path("out")), os.CopyFS(g.dir, os.DirFS(keep)))
		resume := []string{"resume", "last", "--json"}
		a, b := g.race(spread(20*time.Millisecond), resume, resume)
		found.pair(t, a, b)
		if a.code != 0 && b.code != 0 {
			t.Error("neither did it")
		}
		for _, pair := range [][2]ending{{a, b}, {b, a}} {
			if pair[0].code != 0 {
				lostRun(t, pair[0], pair[1])
			}
		}
		g.settled(round, items, want)
		if t.Failed() {
			t.Fatal(a, b)
		}
	}
	t.Logf("%d rounds:%s", n, found)
}

// cutShort is a batch that was killed when its run had begun.
func cutShort(t *testing.T, sessions string, items int) ground {
	t.Helper()
	for range 100 {
		g := batchGround(t, sessions)
		p := g.start("run", "job.yaml")
		for len(g.names("out")) == 0 && !ended(p) {
			time.Sleep(time.Millisecond)
		}
		_ = p.Process.Kill()
		p.end()
		if r := g.begun(items); r != nil && r.Status == "interrupted" && r.done() < items {
			return g
		}
	}
	t.Fatal("the batch always ends before it is killed")
	return ground{}
}

// lostRun checks that the process which came too late names the other one.
func lostRun(t *testing.T, lost, won ending) {
	t.Helper()
	short, said := lost.verdict(t)
	host, err := os.Hostname()
	must(t, err)
	if who := fmt.Sprintf("process %d on %s", won.pid, host); lost.code != 1 || !strings.Contains(short, "run-locked") || !strings.Contains(said, who) {
		t.Errorf("it does not say that %s has the run: %s", who, said)
	}
}

// raceWithClient has somebody append to the session while it is replaced.
func raceWithClient(t *testing.T, n int) {
	found := counts{}
	for i := range n {
		g := liveGround(t, small(t, 1))
		args := []string{"run", "replace.yaml", "--session-closed"}
		if i/4%2 == 0 {
			args = append(args, "--force")
		}
		p := g.start(args...)
		most := 1000
		switch i % 4 {
		case 0, 1: // one line, about when the files are exchanged
			g.await("swap", p)
			most = 1
		case 2:
			g.await("stage", p)
		}
		var lines []string
		for !ended(p) && len(lines) < most {
			time.Sleep(spread(20 * time.Millisecond))
			lines = append(lines, g.appendLine(len(lines)))
		}
		e := p.end()
		at := counts{}
		for _, line := range lines {
			at[g.find(line, e)]++
		}
		found[fmt.Sprintf("exit %d, lines in %s", e.code, strings.Join(slices.Sorted(maps.Keys(at)), " and "))]++
		if e.code != 0 && e.code != 1 && e.code != 3 || len(g.names(project)) != 1 {
			t.Errorf("there is %q", g.names(project))
		}
		if t.Failed() {
			t.Fatal(e)
		}
	}
	t.Logf("%d rounds:%s", n, found)
}

// appendLine writes a line as a client does: it opens the session for that.
func (g ground) appendLine(n int) string {
	g.t.Helper()
	f, err := os.OpenFile(g.path(live), os.O_WRONLY|os.O_APPEND, 0)
	must(g.t, err)
	time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
	line := fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","number":%d,"word":"%x"}`, n, rand.Uint64())
	_, err = f.WriteString(line + "\n")
	must(g.t, errors.Join(err, f.Close()))
	return line
}

var backupNamed = regexp.MustCompile(`\S*\.backup\d*`)

// find says where a line is: in the session, or in a file that the program named.
func (g ground) find(line string, e ending) string {
	g.t.Helper()
	if bytes.Contains(g.read(live), []byte(line+"\n")) {
		return "the session"
	}
	said := e.out + e.errOut
	for name, text := range g.files("work/backups") {
		named := slices.ContainsFunc(backupNamed.FindAllString(said, -1), func(s string) bool { return filepath.Base(s) == name })
		if !strings.Contains(text, line+"\n") {
			continue
		}
		if !named {
			g.t.Errorf("a line is in %s, which is not named", name)
		}
		return "a backup"
	}
	g.t.Errorf("the line %s is lost", line)
	return "nothing"
}
