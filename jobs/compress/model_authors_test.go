package compress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/schemas"
)

// What a service may do, through the whole engine.

// discreet demands that neither a key nor a session's text is where people look.
func (m *modelWorld) discreet(err error) {
	m.t.Helper()
	places := m.files("/state")
	for name := range places {
		if strings.HasSuffix(name, ".pack") {
			delete(places, name) // of artifacts, which are the texts themselves
		}
	}
	places["the events"], places["the result"] = m.events.String(), fmt.Sprintf("%+v %v", m.last.Items, err)
	for item, text := range m.reports() {
		places["the report of "+item] = text
	}
	for name, text := range places {
		for _, secret := range []string{theKey, theFolded, theRaw, theBranch, "basin", "I must not"} {
			if strings.Contains(text, secret) {
				m.t.Errorf("%s holds %q: %s", name, secret, text)
			}
		}
	}
	if len(places["the events"]) == 0 || len(places) < 4 {
		m.t.Error("there was nothing to look at")
	}
}

// keyless demands that no artifact of the last run holds the key.
func (m *modelWorld) keyless() {
	m.t.Helper()
	d, err := m.engine().Show("last")
	if err != nil {
		m.t.Fatal(err)
	}
	store, err := m.engine().Artifacts(d.Run)
	if err != nil {
		m.t.Fatal(err)
	}
	defer store.Close()
	n := 0
	for _, s := range d.Detail[0].Steps {
		for _, list := range []map[string]step.Artifact{s.Artifacts, s.Kept} {
			for name, a := range list {
				n++
				if data, err := store.Get(a); err != nil || strings.Contains(string(data), theKey) {
					m.t.Errorf("%s/%s: %v, or it holds the key", s.Step, name, err)
				}
			}
		}
	}
	if n == 0 {
		m.t.Error("there was no artifact to look at")
	}
}

func TestServices(t *testing.T) {
	const second = time.Second
	want := straight(t, harbour(), good)
	eachAPI(t, func(t *testing.T, a api) {
		for _, c := range []struct {
			name    string
			replies []reply
			class   string // of how it is left; "" when it is done
			calls   int
			waits   []time.Duration // before the later calls
		}{
			{"good", []reply{whole(good)}, "", 1, nil},
			{"stream cut once", []reply{cutStream, whole(good)}, "", 2, []time.Duration{2 * second}},
			{"stream cut", []reply{cutStream}, "author-stream-cut", 5, []time.Duration{2 * second, 4 * second, 8 * second, 16 * second}},
			{"429", []reply{failWith(429)}, "author-overloaded", 5, []time.Duration{2 * second, 4 * second, 8 * second, 16 * second}},
			{"429 that names a time", []reply{failWith(429, "Retry-After", "30")}, "author-overloaded", 5, []time.Duration{30 * second, 30 * second, 30 * second, 30 * second}},
			{"429 that passes", []reply{failWith(429, "Retry-After", "7"), whole(good)}, "", 2, []time.Duration{7 * second}},
			{"429 beyond the time", []reply{failWith(429, "Retry-After", "300")}, "author-overloaded", 2, []time.Duration{300 * second}},
			{"529", []reply{failWith(529)}, "author-overloaded", 5, []time.Duration{2 * second, 4 * second, 8 * second, 16 * second}},
			{"401", []reply{failWith(401)}, "author-key-refused", 1, nil},
			{"declined", []reply{decline}, "author-declined", 1, nil},
			{"endless", []reply{endless}, "author-answer-too-long", 1, nil},
			{"over-long", []reply{whole(func(c call) string { return strings.Repeat(good(c), 1+9*c.maxChars()/len(good(c))) })}, "author-answer-too-long", 1, nil},
			{"bad at first", []reply{whole(badUntil(3))}, "", 4, nil},
			{"bad", []reply{whole(bad)}, "summary-refused", 4, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				m := newModelWorld(t)
				m.put("/s/x.jsonl", harbour())
				m.serve(a, c.replies...)
				r := m.run()
				if m.scribe.asked() != c.calls || fmt.Sprint(m.slept) != fmt.Sprint(c.waits) {
					t.Errorf("%d calls with waits of %v, want %d with %v", m.scribe.asked(), m.slept, c.calls, c.waits)
				}
				if c.class != "" {
					m.left(r, step.Failed, c.class, 1)
					m.discreet(nil)
					if len(m.files("/out")) > 0 {
						t.Error("something was published")
					}
					m.serve(a, whole(good))
					r, _ = m.resume()
					if extra := m.scribe.asked() - c.calls; extra != 1 || len(m.scribe.calls[c.calls].answers) > 0 {
						t.Errorf("the mended service was asked %d times, of %d answers", extra, len(m.scribe.calls[c.calls].answers))
					}
				}
				if m.done(r) != want {
					t.Error("the file is not that of a straight run")
				}
				m.discreet(nil)
				m.keyless()
			})
		}
	})
}

// What the model wrote wrongly goes back to it with what the checker says, all of it
// each time.
func TestWhatGoesBackToTheModel(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		m.serve(a, whole(badUntil(3)))
		m.done(m.run())
		for i, c := range m.scribe.calls {
			if len(c.answers) != i || len(c.reports) != i || c.pack != m.mustArtifact("pack/pack") {
				t.Errorf("call %d has %d answers and %d reports", i+1, len(c.answers), len(c.reports))
			}
			for n, report := range c.reports {
				if !strings.Contains(report, "heading-missing") || c.answers[n] != bad(c) || m.mustArtifact(fmt.Sprintf("author/check-%d", n+1)) != report {
					t.Errorf("call %d was told %q", i+1, report)
				}
			}
			if got := m.mustArtifact(fmt.Sprintf("author/attempt-%d", i+1)); got != map[bool]string{true: bad(c), false: good(c)}[i < 3] {
				t.Errorf("attempt %d is %q", i+1, got)
			}
		}
		if _, ok := m.artifact("x", "author/check-4"); ok || m.mustArtifact("author/answer") != good(m.scribe.calls[0]) {
			t.Error("the good answer was refused, or is not the one that was taken")
		}
	})
}

// A conversation that was given up is on record, and is begun anew by a resume.
func TestAConversationThatWasGivenUp(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		m.serve(a, whole(bad))
		i := m.left(m.run(), step.Failed, "summary-refused", 1)
		if !strings.Contains(i.Message, "4 answers, and none passed") || !strings.Contains(i.Message, "heading-missing") {
			t.Errorf("it says %s", i.Message)
		}
		for n := range 4 {
			if got := m.mustArtifact(fmt.Sprintf("author/attempt-%d", n+1)); got != bad(m.scribe.calls[0]) {
				t.Errorf("attempt %d is %q", n+1, got)
			}
			m.mustArtifact(fmt.Sprintf("author/check-%d", n+1))
		}
		m.serve(a, whole(badUntil(2)))
		r, _ := m.resume()
		m.done(r)
		if m.scribe.asked() != 7 || len(m.scribe.calls[4].answers) != 0 || len(m.scribe.calls[6].answers) != 2 {
			t.Errorf("asked %d times", m.scribe.asked())
		}
		if got := m.report().Summary.Authors["author"]; got.Asked != 7 || got.InputTokens != 7*tokensIn || got.OutputTokens != 7*tokensOut {
			t.Errorf("the report says %+v", got)
		}
	})
}

// attempts: 0 gives an answer no second chance.
func TestNoSecondChance(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", harbour())
	m.scribe.write = func(c call) string { return map[bool]string{true: good(c), false: bad(c)}[c.n == 3] }
	m.left(m.run("author.attempts=0"), step.Failed, "summary-refused", 1)
	r, _ := m.resume()
	m.left(r, step.Failed, "summary-refused", 1)
	r, _ = m.resume()
	m.done(r)
	for _, c := range m.scribe.calls {
		if len(c.answers) > 0 {
			t.Error("an answer went back")
		}
	}
}

// A conversation goes on where a failure cut it: what was answered is not asked again.
func TestAFailureInTheMiddleOfAConversation(t *testing.T) {
	want := straight(t, harbour(), good)
	eachAPI(t, func(t *testing.T, a api) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		m.serve(a, whole(bad), whole(bad), failWith(401))
		m.left(m.run(), step.Failed, "author-key-refused", 1)
		m.serve(a, whole(badUntil(3)))
		r, _ := m.resume()
		if got := m.done(r); got != want {
			t.Error("the file is not that of a straight run")
		}
		if n := m.scribe.asked(); n != 5 || len(m.scribe.calls[3].answers) != 2 || len(m.scribe.calls[4].answers) != 3 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestAMissingKey(t *testing.T) {
	want := straight(t, harbour(), good)
	eachAPI(t, func(t *testing.T, a api) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		m.serve(a, whole(good))
		delete(m.keys, "KEY")
		if i := m.left(m.run(), step.Failed, "author-no-key", 1); !strings.Contains(i.Message, "KEY") || m.scribe.asked() != 0 {
			t.Errorf("%d calls, and it says %s", m.scribe.asked(), i.Message)
		}
		m.keys["KEY"] = theKey
		r, _ := m.resume()
		if m.done(r) != want || m.scribe.asked() != 1 {
			t.Errorf("asked %d times, or another file", m.scribe.asked())
		}
	})
}

// interrupted ends a run while the service writes.
func TestAnInterruptionWhileTheModelWrites(t *testing.T) {
	want := straight(t, harbour(), good)
	eachAPI(t, func(t *testing.T, a api) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan struct{})
		m.serve(a, func(w http.ResponseWriter, a api, c call) {
			stream(w, a.begun("one"))
			cancel()
			<-gone
		})
		r := m.runWith(ctx, engine.Options{})
		close(gone)
		if r.Exit != 130 || r.Items[0].Status != step.Interrupted || !strings.Contains(r.Items[0].Next, "precis resume") {
			t.Errorf("%+v", r)
		}
		m.serve(a, whole(good))
		r, _ = m.resume()
		if m.done(r) != want || m.scribe.asked() != 2 {
			t.Errorf("asked %d times, or another file", m.scribe.asked())
		}
	})
}

// The report says who wrote it and what it took, and keeps its schema.
func TestTheReportOfAModelsSummary(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", harbour())
		m.serve(a, whole(badUntil(1)))
		if file := m.done(m.run()); !strings.Contains(file, `"summary":"model"`) {
			t.Errorf("the boundary does not say who wrote it: %s", file)
		}
		got := m.report().Summary
		want := compress.Account{By: a.by, Model: a.model, Asked: 2, InputTokens: 2 * tokensIn, OutputTokens: 2 * tokensOut}
		if *got.Authors["author"] != want || len(got.Authors) != 1 || got.Mode != "model" || got.Embed != "prose" {
			t.Errorf("%+v %+v", got, got.Authors["author"])
		}
		if got.Chars != len([]rune(liveText(t, string(m.out("x"))))) {
			t.Errorf("the report has a text of %d characters", got.Chars)
		}
		// All nine folded records are wording, so each is shown, mandatory and cited.
		if e := got.Evidence["pack"]; len(got.Evidence) != 1 || e.Shown != 9 || e.Mandatory != 9 || got.Covered != 9 || got.Cited != 9 {
			t.Errorf("%+v %+v", got, e)
		}
		validate(t, "report", m.reports()["x"])
		for line := range strings.Lines(m.files("/state")["/state/runs/run-0001/journal.jsonl"]) {
			validate(t, "journal", line)
		}
	})
}

// validate holds a document to a schema.
func validate(t *testing.T, name, text string) {
	t.Helper()
	schema, err := schemas.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// The receipt of a replaced session says who wrote its summary.
func TestTheReceiptOfAModelsSummary(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		f := liveWorld(t)
		m := newModelWorld(t).on(f, "run-1")
		if err := afero.WriteFile(f, live, harbour(), 0o600); err != nil {
			t.Fatal(err)
		}
		m.serve(a, whole(badUntil(1)))
		set := []string{"input.sessions=[" + live + "]", "publish.to=replace", `publish.path=""`, "publish.workDir=/kept", "publish.quiet=0s"}
		r := m.runWith(context.Background(), engine.Options{SessionClosed: true}, set...)
		if r.Exit != 0 || r.Items[0].Status != step.Done {
			t.Fatalf("%+v", r)
		}
		text := content(f, r.Items[0].Receipt)
		validate(t, "receipt", text)
		var receipt engine.Receipt
		if err := json.Unmarshal([]byte(text), &receipt); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"by": a.by, "model": a.model, "asked": 2.0, "inputTokens": 2.0 * tokensIn, "outputTokens": 2.0 * tokensOut}
		if got := receipt.Asked["author"]; len(receipt.Asked) != 1 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("asked: %v, want %v", receipt.Asked, want)
		}
		m.discreet(nil)
	})
}
