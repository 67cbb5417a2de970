package compress_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/faultfs"
)

// A person writes the summary, and brings it to a run that waits.

// waiting is a world whose run waits for the summary of one session.
func waiting(t *testing.T) *modelWorld {
	t.Helper()
	m := newModelWorld(t)
	m.text = byFile
	m.put("/s/x.jsonl", harbour())
	m.left(m.run(), step.Waiting, "waiting", 4)
	return m
}

// written is the summary that a person makes of the pack of an item.
func (m *modelWorld) written(item string) string {
	m.t.Helper()
	pack, ok := m.artifact(item, "pack/pack")
	if !ok {
		m.t.Fatalf("there is no pack of %s", item)
	}
	return good(call{pack: pack})
}

func TestAPersonWrites(t *testing.T) {
	m := waiting(t)
	i := m.last.Items[0]
	if !strings.Contains(i.Next, "precis resume run-0001 --summary FILE") || len(m.files("/out")) > 0 || m.scribe.asked() > 0 {
		t.Errorf("%+v, asked %d times", i, m.scribe.asked())
	}
	again, err := m.resume()
	if err != nil {
		t.Fatal(err)
	}
	m.left(again, step.Waiting, "waiting", 4)
	answer := m.written("x")
	r, err := m.resume(answer)
	file := m.done(r)
	if err != nil || !strings.Contains(liveText(t, file), "Written by somebody with the evidence") || m.mustArtifact("author/answer") != answer {
		t.Errorf("%v, the text is %s", err, liveText(t, file))
	}
	if a := m.report().Summary.Authors["author"]; a.By != "file" || a.Asked != 1 || a.Model != "" {
		t.Errorf("%+v", a)
	}
	// But for who wrote it, the text is that of a model with the same answer.
	model := liveText(t, straight(t, harbour(), good))
	if got := strings.Replace(liveText(t, file), "somebody with the evidence", "a model", 1); got != model {
		t.Error("the text is not that of a model's summary")
	}
	m.discreet(nil)
}

// A file with a byte order mark and the line ends of another system is the same
// summary.
func TestAPersonsEditor(t *testing.T) {
	m := waiting(t)
	text := "\ufeff\r\n" + strings.ReplaceAll(m.written("x"), "\n", "\r\n")
	r, err := m.resume(text)
	if live := liveText(t, m.done(r)); err != nil || strings.ContainsAny(live, "\r\ufeff") {
		t.Errorf("%v: %q", err, live)
	}
}

// What is no good summary of the pack leaves the run waiting, or says what it is.
func TestWhatAPersonBringsByMistake(t *testing.T) {
	other := newModelWorld(t)
	other.text = byFile
	other.put("/s/x.jsonl", bytes.ReplaceAll(harbour(), []byte("dredge"), []byte("clean")))
	other.run()
	own := waiting(t)
	for _, c := range []struct {
		name, text, class string
		status            step.Status
		exit              int
		says              string
	}{
		{"a bad summary", bad(call{pack: own.mustArtifact("pack/pack")}), "summary-refused", step.Waiting, 4, "heading-missing"},
		{"that of another session", other.written("x"), "summary-refused", step.Waiting, 4, "metadata-value"},
		{"nothing", "", "summary-refused", step.Waiting, 4, "empty"},
		{"another text", "Dear diary,\n", "summary-refused", step.Waiting, 4, "no-summary"},
		{"its own pack", own.mustArtifact("pack/pack"), "pack-not-summary", step.Waiting, 4, "evidence pack"},
		{"a pack of ours", other.mustArtifact("pack/pack"), "pack-not-summary", step.Waiting, 4, "evidence pack"},
		{"a foreign pack", foreignPack, "foreign-pack", step.Waiting, 4, "claude-jsonl-compressor"},
		{"a foreign pack of windows", "\ufeff" + strings.ReplaceAll(foreignPack, "\n", "\r\n"), "foreign-pack", step.Waiting, 4, "claude-jsonl-compressor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := waiting(t)
			r, err := m.resume(c.text)
			i := m.left(r, c.status, c.class, c.exit)
			if err != nil || !strings.Contains(i.Message, c.says) || len(m.files("/out")) > 0 {
				t.Errorf("%v: %s", err, i.Message)
			}
			m.discreet(err)
			r, err = m.resume(m.written("x"))
			if live := liveText(t, m.done(r)); err != nil || !strings.Contains(live, "somebody") {
				t.Errorf("the good one: %v", err)
			}
		})
	}
}

// foreignPack has the headings that the format fixes, and the first line of another
// program.
const foreignPack = `# Semantic Evidence Pack

- summary_source_sha256: 0000000000000000000000000000000000000000000000000000000000000000

## Required Anchor Coverage

- group ` + "`human-user`: L1" + `

## Required Handoff Anchor Coverage

- none

## Required Claim Support

- L1

## Evidence Records

- L1 full_text_json="words"

## External Handoff Summary

none
`

// However often a person brings a bad one, the run waits for a good one.
func TestAPersonTriesOften(t *testing.T) {
	m := waiting(t)
	answer := m.written("x")
	for range 9 {
		r, err := m.resume(strings.Replace(answer, "## Current State\n", "", 1))
		if err != nil {
			t.Fatal(err)
		}
		m.left(r, step.Waiting, "summary-refused", 4)
		if r, err = m.resume(); err != nil {
			t.Fatal(err)
		}
		m.left(r, step.Waiting, "waiting", 4)
	}
	r, _ := m.resume(answer)
	m.done(r)
}

// twoWaiting is a world whose run waits for two summaries.
func twoWaiting(t *testing.T, text string, write func(c call) string) *modelWorld {
	t.Helper()
	m := newModelWorld(t)
	m.text, m.scribe.write = text, write
	m.put("/s/x.jsonl", harbour())
	m.put("/s/y.jsonl", bytes.ReplaceAll(harbour(), []byte("dredge"), []byte("clean")))
	r := m.run()
	if len(r.Items) != 2 || !r.Items[0].Open || !r.Items[1].Open {
		t.Fatalf("%+v", r)
	}
	return m
}

// Two files find their sessions in whatever order they come, together or one by one.
func TestTwoSessionsWait(t *testing.T) {
	want := map[string]string{}
	for name, order := range map[string][]int{"in order": {0, 1}, "swapped": {1, 0}} {
		m := twoWaiting(t, byFile, nil)
		files := []string{m.written("x"), m.written("y")}
		r, err := m.resume(files[order[0]], files[order[1]])
		if err != nil || r.Exit != 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		for path, text := range m.files("/out") {
			if old, ok := want[path]; ok && old != text {
				t.Errorf("%s: %s is another file", name, path)
			}
			want[path] = text
		}
	}
	if !strings.Contains(liveText(t, want["/out/x.jsonl"]), "dredge") || !strings.Contains(liveText(t, want["/out/y.jsonl"]), "clean") {
		t.Error("the summaries are swapped")
	}
	for _, first := range []string{"x", "y"} {
		second := map[string]string{"x": "y", "y": "x"}[first]
		m := twoWaiting(t, byFile, nil)
		b := m.written(second)
		if r, err := m.resume(m.written(first)); err != nil || r.Exit != 4 {
			t.Errorf("the first alone: %+v, %v", r, err)
		}
		if _, there := m.files("/out")["/out/"+first+".jsonl"]; !there {
			t.Errorf("%s was not published", first)
		}
		if r, err := m.resume(b); err != nil || r.Exit != 0 {
			t.Errorf("the second: %+v, %v", r, err)
		}
		for path, text := range m.files("/out") {
			if want[path] != text {
				t.Errorf("one by one, %s first: %s is another file", first, path)
			}
		}
	}
}

// A file that is nobody's is named, and the sessions go on waiting.
func TestAFileThatIsNobodys(t *testing.T) {
	m := twoWaiting(t, byFile, nil)
	r, err := m.resume("Dear diary,\n")
	refused := new(step.Refusal)
	if !errors.As(err, &refused) || refused.Class != "not-asked-for" || !strings.Contains(refused.Message, "file-1") || strings.Contains(refused.Message, "diary") {
		t.Errorf("%v", err)
	}
	for _, i := range r.Items {
		if i.Status != step.Waiting || i.Class != "waiting" {
			t.Errorf("%+v", i)
		}
	}
	if r, err = m.resume(m.written("y"), m.written("x")); err != nil || r.Exit != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A person helps a command out that has given up.
func TestAPersonHelpsACommandOut(t *testing.T) {
	want := straight(t, harbour(), good)
	m := newModelWorld(t)
	m.scribe.write = bad
	m.put("/s/x.jsonl", harbour())
	m.left(m.run(), step.Failed, "summary-refused", 1)
	pack := m.mustArtifact("pack/pack")
	r, err := m.resume(bad(call{pack: pack}))
	if err != nil {
		t.Fatal(err)
	}
	m.left(r, step.Waiting, "summary-refused", 4)
	r, err = m.resume(good(call{pack: pack}))
	// The text says who was to write it; the report and the receipt say who did.
	if err != nil || m.done(r) != want || m.scribe.asked() != 4 {
		t.Errorf("%v, asked %d times", err, m.scribe.asked())
	}
	if a := m.report().Summary.Authors["author"]; a.By != "file" || a.Asked != 6 {
		t.Errorf("%+v", a)
	}
}

// TestBringingAfterEveryCrash cuts the power at every operation of a resume with a
// summary, after each number of answers that the author may have given before. What
// was brought is used if it is on record, and can be brought again if it is not.
func TestBringingAfterEveryCrash(t *testing.T) {
	want := straight(t, harbour(), good)
	for _, answers := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(answers, " answers before"), func(t *testing.T) {
			const set = "author.attempts=2"
			for at := 1; ; at++ {
				base := durable(t, harbour())
				base.scribe.write = func(c call) string {
					if c.n > answers {
						return "" // which is no answer
					}
					return bad(c)
				}
				base.on(base.fs, "run-1").run(set)
				text := []byte(good(base.scribe.calls[0]))
				dying := faultfs.New(base.fs, faultfs.Plan{At: at, Stop: true})
				brought := engine.Options{Brought: []engine.Brought{{Name: "f", Text: text}}}
				_, _ = base.on(dying, "run-2").engine().Resume(context.Background(), "run-1", brought)
				if !dying.Hit() {
					break
				}
				m := base.on(base.fs.CrashClone(0), "run-3")
				name := dying.Ops()[at-1].String()
				kept, finished := m.keptAnswers("run-1")
				asked := m.scribe.asked()
				r, err := m.engine().Resume(context.Background(), "run-1", engine.Options{})
				if there := finished["author"] || kept["author"] > answers; !there {
					r, err = m.engine().Resume(context.Background(), "run-1", brought)
				} else if m.scribe.asked() != asked {
					t.Errorf("%s: the author was asked, though a good summary is on record", name)
				}
				if err != nil || r.Exit != 0 || string(m.out("x")) != want {
					t.Fatalf("%s: %v, %+v", name, err, r)
				}
				m.last = r
				if r.Items[0].Home == "" {
					continue // nothing but its last entry was missing
				}
				if a := m.report().Summary.Authors["author"]; a.By != "file" {
					t.Errorf("%s: the report says %+v", name, a)
				}
			}
		})
	}
}
