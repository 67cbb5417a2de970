package compress_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/faultfs"
)

// Runs that begin anew, and what earlier ones were answered.

// A run that came to no end, and was not resumed, leaves its answers to the next.
func TestAnswersOfARunThatCameToNoEnd(t *testing.T) {
	want := straight(t, talk(60, 600), good, inParts...)
	m := newModelWorld(t)
	m.put("/s/x.jsonl", talk(60, 600))
	probe := newModelWorld(t)
	probe.put("/s/x.jsonl", talk(60, 600))
	probe.done(probe.run(inParts...))
	failing := probe.mustArtifact("pack/pack-2")
	m.scribe.write = func(c call) string {
		if c.pack == failing {
			return ""
		}
		return good(c)
	}
	m.left(m.run(inParts...), step.Failed, "author-no-answer", 1)
	n := m.scribe.asked()
	m.scribe.write = good
	if m.done(m.run(inParts...)) != want || m.scribe.asked() != n+2 || m.scribe.calls[n].pack != failing {
		t.Errorf("asked %d times more", m.scribe.asked()-n)
	}
	if r := m.run(inParts...); r.Items[0].Status != step.UpToDate || m.scribe.asked() != n+2 {
		t.Errorf("again: %+v", r.Items)
	}
}

// A publication that fails does not cost another answer.
func TestAPublicationThatFails(t *testing.T) {
	want := straight(t, harbour(), good)
	failed := 0
	for at := 1; ; at++ {
		m := durable(t, harbour())
		full := faultfs.New(m.fs, faultfs.Plan{At: at})
		r := m.on(full, "run-1").run()
		if !full.Hit() {
			break
		}
		if r.Exit == 0 || m.scribe.asked() == 0 || !strings.HasPrefix(full.Ops()[at-1].Path, "/out/") {
			continue
		}
		failed++
		again := m.on(m.fs, "run-2")
		if r := again.run(); r.Exit != 0 || string(again.out("x")) != want || m.scribe.asked() != 1 {
			t.Errorf("%s: asked %d times, then %+v", full.Ops()[at-1], m.scribe.asked(), r.Items)
		}
	}
	if failed == 0 {
		t.Error("no publication failed")
	}
}

// What a job changes decides who is asked again.
func TestWhatAsksAnew(t *testing.T) {
	for _, c := range []struct {
		set  string
		anew bool // the author is asked
	}{
		{"author.model=another", true},
		{"author.command=[another]", true},
		{"author.terms=terms.txt", true},
		{"input.handoff=handoff.txt", true},
		{"mode.embed=full", true},
		{"budgets.summaryChars=9000", true},
		{"budgets.packChars=90000", true},
		{"budgets.keepRecords=4", true},
		{"author.keyEnv=KEY", false},
		{"author.timeout=3m", false},
		{"author.attempts=7", false},
		{`publish.path="/out/new-{session}.jsonl"`, false},
		{"run.workers=3", false},
	} {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		m.put("/terms.txt", []byte("water = basin\n"))
		m.put("/handoff.txt", []byte("Mind the gap.\n"))
		m.done(m.run())
		first := m.mustArtifact("author/answer")
		r := m.run(c.set)
		if r.Exit != 0 {
			t.Errorf("%s: %+v", c.set, r.Items)
			continue
		}
		if anew := m.scribe.asked() == 2; anew != c.anew {
			t.Errorf("%s: asked %d times", c.set, m.scribe.asked())
		}
		if !c.anew {
			continue
		}
		// What was asked anew is what a first run of the changed job gives.
		fresh := newModelWorld(t)
		fresh.put("/s/x.jsonl", harbour())
		fresh.put("/terms.txt", []byte("water = basin\n"))
		fresh.put("/handoff.txt", []byte("Mind the gap.\n"))
		if want := fresh.done(fresh.run(c.set)); string(m.out("x")) != want {
			t.Errorf("%s: another file than that of a first run (%d characters of an answer)", c.set, len(first))
		}
	}
}

// A session that goes on is asked about anew; one of several that did not is not.
func TestASessionThatGoesOn(t *testing.T) {
	m := newModelWorld(t)
	for i := range 3 {
		m.put(fmt.Sprintf("/s/x%d.jsonl", i), talk(6+i, 200))
	}
	if r := m.run("budgets.ratio=0.05"); r.Exit != 0 || m.scribe.asked() != 3 {
		t.Fatalf("asked %d times: %+v", m.scribe.asked(), r.Items)
	}
	m.put("/s/x1.jsonl", talk(9, 200))
	p, err := m.engine().Plan(context.Background(), m.job("budgets.ratio=0.05"), engine.Options{})
	var would []string
	for _, i := range p.Items {
		would = append(would, string(i.Status))
	}
	if want := []string{"up-to-date", "would-run", "up-to-date"}; err != nil || !slices.Equal(would, want) {
		t.Errorf("plan: %v, %v", would, err)
	}
	if r := m.run("budgets.ratio=0.05"); r.Exit != 0 || m.scribe.asked() != 4 {
		t.Errorf("asked %d times: %+v", m.scribe.asked(), r.Items)
	}
}

// The source changes while somebody writes: the summary is of another session, and
// nothing is published.
func TestASourceThatChangesMeanwhile(t *testing.T) {
	for what, now := range map[string][]byte{"goes on": append(harbour(), "{}\n"...), "another": talk(9, 200), "gone": nil} {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		m.scribe.write = func(c call) string {
			if _ = m.fs.Remove("/s/x.jsonl"); what != "gone" {
				m.put("/s/x.jsonl", now)
			}
			return good(c)
		}
		i := m.run().Items[0]
		if i.Status != step.Refused || i.Class != "source-changed" || len(m.files("/out")) > 0 {
			t.Errorf("%s: %+v", what, i)
		}
		m = newModelWorld(t)
		m.put("/s/x.jsonl", talk(60, 600))
		m.scribe.write = func(c call) string {
			m.put("/s/x.jsonl", now) // in its place
			return good(c)
		}
		if i := m.run(inParts...).Items[0]; i.Status != step.Refused || i.Class != "source-changed" || len(m.files("/out")) > 0 {
			t.Errorf("%s, in parts: %+v", what, i)
		}
	}
	w := waiting(t)
	answer := w.written("x")
	w.put("/s/x.jsonl", talk(9, 200))
	r, err := w.resume(answer)
	if len(r.Items) != 1 || r.Items[0].Status != step.Refused || r.Items[0].Class != "source-changed" || len(w.files("/out")) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
