package compress_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
)

// keptAnswers are how many answers the record of a run has, by step, and which steps
// are finished.
func (m *modelWorld) keptAnswers(run string) (kept map[string]int, finished map[string]bool) {
	m.t.Helper()
	kept, finished = map[string]int{}, map[string]bool{}
	d, err := m.engine().Show(run)
	if refused := new(step.Refusal); errors.As(err, &refused) {
		return kept, finished // there is no run, or none that has begun
	}
	if err != nil {
		m.t.Fatal(err)
	}
	for _, i := range d.Detail {
		for _, s := range i.Steps {
			for name := range s.Kept {
				if strings.HasPrefix(name, "attempt-") {
					kept[s.Step]++
				}
			}
			finished[s.Step] = s.Phase == journal.Finished
		}
	}
	return kept, finished
}

// durable is a world whose session outlives a crash.
func durable(t *testing.T, session []byte) *modelWorld {
	t.Helper()
	m := newModelWorld(t)
	if err := errors.Join(m.fs.SyncDir("/"), fsys.WriteFile(m.fs, "/s/x.jsonl", "t", session)); err != nil {
		t.Fatal(err)
	}
	return m
}

// goOn resumes a run, or begins one where there is none to resume.
func (m *modelWorld) goOn(run string, set ...string) (r engine.Result, begun bool) {
	m.t.Helper()
	r, err := m.engine().Resume(context.Background(), run, engine.Options{})
	if refused := new(step.Refusal); errors.As(err, &refused) && (refused.Class == "no-such-run" || refused.Class == "run-not-begun") {
		return m.run(set...), false
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.last = r
	return r, true
}

// TestAModelJobAfterEveryCrash cuts the power at every operation of a job whose author
// needs four turns, and goes on: the end is that of a straight run, and no answer on
// record is asked for again.
func TestAModelJobAfterEveryCrash(t *testing.T) {
	const turns = 4
	want := straight(t, harbour(), good)
	counts := map[int]int{} // of crashes, by answers on record
	for at := 1; ; at++ {
		base := durable(t, harbour())
		base.scribe.write = badUntil(turns - 1)
		dying := faultfs.New(base.fs, faultfs.Plan{At: at, Stop: true, Short: true})
		base.on(dying, "run-1").run()
		if !dying.Hit() {
			break
		}
		for seed := range uint64(4) {
			m := base.on(base.fs.CrashClone(seed), "run-2")
			kept, finished := m.keptAnswers("run-1")
			before := m.scribe.asked()
			r, begun := m.goOn("run-1")
			name := fmt.Sprintf("%s, seed %d: %d answers on record", dying.Ops()[at-1], seed, kept["author"])
			if r.Exit != 0 || string(m.out("x")) != want {
				t.Errorf("%s: %+v", name, r)
			}
			left := turns - kept["author"]
			if finished["author"] {
				left = 0
			}
			if asked := m.scribe.asked() - before; asked != left {
				t.Errorf("%s: asked %d times, want %d (begun: %t)", name, asked, left, begun)
			}
			counts[kept["author"]]++
		}
	}
	for n := range turns + 1 {
		if counts[n] == 0 {
			t.Errorf("it never died with %d answers on record", n)
		}
	}
}

// TestAGivenUpConversationAfterEveryCrash does the same with an author that never
// writes a good summary while the first run lasts.
func TestAGivenUpConversationAfterEveryCrash(t *testing.T) {
	want := straight(t, harbour(), good)
	for at := 1; ; at++ {
		base := durable(t, harbour())
		base.scribe.write = bad
		dying := faultfs.New(base.fs, faultfs.Plan{At: at, Stop: true})
		base.on(dying, "run-1").run("author.attempts=1")
		if !dying.Hit() {
			break
		}
		m := base.on(base.fs.CrashClone(0), "run-2")
		kept, _ := m.keptAnswers("run-1")
		before := m.scribe.asked()
		m.scribe.write = good
		r, _ := m.goOn("run-1", "author.attempts=1")
		// One good answer ends it, whether it goes on with the conversation or begins
		// another one.
		if r.Exit != 0 || string(m.out("x")) != want || m.scribe.asked() != before+1 {
			t.Errorf("%s: asked %d times, %+v", dying.Ops()[at-1], m.scribe.asked()-before, r)
		}
		// The answers that did not go back yet do, unless they were given up.
		if back := len(m.scribe.calls[before].answers); back != kept["author"]%2 {
			t.Errorf("%s: %d of %d answers went back", dying.Ops()[at-1], back, kept["author"])
		}
	}
}

// TestAModelJobAfterManyCrashes has the power cut again and again.
func TestAModelJobAfterManyCrashes(t *testing.T) {
	want := straight(t, harbour(), good)
	rapid.Check(t, func(rt *rapid.T) {
		m := durable(t, harbour())
		m.scribe.write = badUntil(3)
		asked := 0
		for n := range rapid.IntRange(1, 5).Draw(rt, "crashes") {
			dying := faultfs.New(m.fs, faultfs.Plan{At: rapid.IntRange(1, 120).Draw(rt, "operation"), Stop: true})
			run := fmt.Sprintf("run-%d", n)
			d := m.on(dying, run)
			if _, err := d.engine().Resume(context.Background(), "last", engine.Options{}); err != nil {
				d.run()
			}
			m = m.on(m.fs.CrashClone(rapid.Uint64().Draw(rt, "seed")), "run-last")
			asked = m.scribe.asked()
		}
		kept, finished := m.keptAnswers("last")
		r, begun := m.goOn("last")
		if r.Exit != 0 || string(m.out("x")) != want {
			rt.Fatalf("%+v", r)
		}
		most := 4 - kept["author"]
		if finished["author"] {
			most = 0
		}
		if n := m.scribe.asked() - asked; begun && n != most {
			rt.Fatalf("asked %d times with %d answers on record", n, kept["author"])
		}
	})
}

// A disk that is full at any operation, and has room again for the resume.
func TestAModelJobOutlivesAFullDisk(t *testing.T) {
	want := straight(t, harbour(), good)
	for at := 1; ; at++ {
		base := durable(t, harbour())
		base.scribe.write = badUntil(1)
		full := faultfs.New(base.fs, faultfs.Plan{At: at, Short: true})
		r := base.on(full, "run-1").run()
		if !full.Hit() {
			break
		}
		for _, i := range r.Items {
			if strings.Contains(i.Message, theFolded) {
				t.Errorf("%s: the message holds text of the session: %s", full.Ops()[at-1], i.Message)
			}
		}
		m := base.on(base.fs, "run-2")
		if r, _ = m.goOn("run-1"); r.Exit != 0 {
			r = m.run() // it had ended
		}
		if r.Exit != 0 || string(m.out("x")) != want {
			t.Errorf("%s: %+v", full.Ops()[at-1], r)
		}
	}
}
