package compress_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// What is true of every job with a model's summary.

// drawMarked writes a conversation of any shape whose every record says a word of its
// own, and gives the words: those of the conversation, and those that no output may
// hold, of rewound turns and of rows that belong to nobody.
func drawMarked(t *rapid.T) (session []byte, said, never []string) {
	var b st.Builder
	word := func(list *[]string, kind string) string {
		w := fmt.Sprintf("%s%04d", kind, len(said)+len(never))
		*list = append(*list, w)
		return w
	}
	parent, filler := "", rapid.SampledFrom([]string{"the tide ", "潮水很高", `C:\tide "high" `}).Draw(t, "filler")
	text := func(list *[]string, kind string) string {
		return firstRunes(filler, rapid.IntRange(0, 400).Draw(t, "length")) + " " + word(list, kind) + "."
	}
	for i := range rapid.IntRange(3, 14).Draw(t, "turns") {
		u, a := fmt.Sprint("u", i), fmt.Sprint("a", i)
		b.User(u, parent, text(&said, "SAID"))
		last := u
		for n := range rapid.IntRange(0, 2).Draw(t, "calls") {
			use, result, tool := fmt.Sprintf("c%d.%d", i, n), fmt.Sprintf("r%d.%d", i, n), fmt.Sprintf("t%d.%d", i, n)
			b.Assistant(use, last, "m"+use, st.Use(tool, "Bash", map[string]any{"command": "cat /srv/" + word(&said, "SAID")}))
			b.Result(result, use, tool, "/srv/error failed: "+text(&said, "SAID"))
			last = result
		}
		b.Assistant(a, last, "m"+a, st.Text(text(&said, "SAID")))
		if rapid.IntRange(0, 3).Draw(t, "rewound") == 0 {
			x := fmt.Sprint("x", i)
			b.User(x, a, text(&never, "NEVER"))
			b.Assistant("y"+x, x, "m"+x, st.Text(text(&never, "NEVER")))
		}
		if rapid.IntRange(0, 5).Draw(t, "nobody's row") == 0 {
			b.Raw(`{"type":"unknown-row","note":"` + word(&never, "NEVER") + `"}`)
		}
		parent = a
	}
	b.LastPrompt(parent)
	return b.Bytes(), said, never
}

// rawPart is what stands behind the summary in a candidate.
func rawPart(candidate string) string {
	_, rest, _ := strings.Cut(candidate, `"isCompactSummary":true`)
	_, rest, _ = strings.Cut(rest, "\n")
	return rest
}

// TestWhatIsTrueOfEverySummary draws sessions and jobs.
func TestWhatIsTrueOfEverySummary(t *testing.T) {
	tried, done := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		tried++
		session, said, never := drawMarked(rt)
		embed := rapid.SampledFrom([]string{"prose", "full"}).Draw(rt, "embed")
		bads := rapid.IntRange(0, 2).Draw(rt, "bad answers")
		filler := rapid.SampledFrom([]string{"words", "han", "quotes"}).Draw(rt, "filler")
		chars := rapid.SampledFrom([]int{4000, 12000, 60000}).Draw(rt, "summaryChars")
		if embed == "full" {
			chars += 8000 // for the coverage lines
		}
		set := []string{
			"mode.embed=" + embed, fmt.Sprint("budgets.summaryChars=", chars), "budgets.ratio=0.05",
			fmt.Sprint("budgets.keepRecords=", rapid.IntRange(1, 8).Draw(rt, "keepRecords")),
		}
		m := newModelWorld(t)
		m.put("/s/x.jsonl", session)
		m.put("/other.jsonl", []byte(strings.ReplaceAll(string(session), "SAID", "OTHER"))) // beside, not of the job
		m.scribe.write = func(c call) string {
			if len(c.answers) < bads {
				return bad(c)
			}
			return padded(c, fillers[filler], c.maxChars()/3)
		}
		r := m.run(set...)
		if r.Items[0].Status != step.Done {
			if i := r.Items[0]; i.Status != step.Refused || m.scribe.asked() > 0 {
				rt.Fatalf("%s: %s", i.Class, i.Message)
			}
			return
		}
		done++
		file := string(m.out("x"))
		oneLine(rt, []byte(file))
		if m.scribe.asked() != bads+1 {
			rt.Fatalf("asked %d times", m.scribe.asked())
		}
		m.theText(rt, file, embed, chars)
		m.nothingElse(rt, file, said, never)
		m.askedOnce(rt, set)
	})
	if done < tried/3 {
		t.Errorf("only %d of %d sessions were folded", done, tried)
	}
}

// theText holds the text in the session to the accepted answer.
func (m *modelWorld) theText(t rapid.TB, file, embed string, chars int) {
	live, answer := liveText(m.t, file), m.mustArtifact("author/answer")
	want := proseOf(answer)
	if embed == "full" {
		want = strings.TrimSpace(answer)
	}
	if !strings.Contains(live, want) {
		t.Fatalf("the text is\n%s\nthe summary\n%s", live, want)
	}
	if n := runesOf(live); n > chars {
		t.Fatalf("the text has %d characters of %d", n, chars)
	}
	comment, coverage := strings.Contains(live, "<!--"), strings.Contains(live, "support_text_json=")
	if comment != (embed == "full") || coverage != (embed == "full") {
		t.Fatalf("with %s: a comment %t, coverage lines %t", embed, comment, coverage)
	}
	if got := m.report().Summary.Chars; got != runesOf(live) {
		t.Fatalf("the report has %d characters", got)
	}
}

// nothingElse demands that the author was shown the folded records and no other.
func (m *modelWorld) nothingElse(t *rapid.T, file string, said, never []string) {
	raw, shown := rawPart(file), m.mustArtifact("pack/pack")
	places := map[string]string{"the pack": shown, "the text": liveText(m.t, file)}
	for _, c := range m.scribe.calls {
		places[fmt.Sprint("prompt ", c.n)] = c.prompt
	}
	folded := 0
	for _, w := range said {
		kept := strings.Contains(raw, w)
		if !kept {
			folded++
		}
		for place, text := range places {
			if kept && strings.Contains(text, w) {
				t.Fatalf("%s holds %s, which stays raw", place, w)
			}
		}
	}
	if folded == 0 || folded == len(said) {
		t.Fatalf("%d of %d words are folded", folded, len(said))
	}
	places["the file"] = file
	for place, text := range places {
		for _, w := range append(never, "OTHER") {
			if strings.Contains(text, w) {
				t.Fatalf("%s holds %s", place, w)
			}
		}
	}
}

// askedOnce demands that whatever is done with the run asks nobody again.
func (m *modelWorld) askedOnce(t *rapid.T, set []string) {
	asked, run := m.scribe.asked(), m.last.Run
	replay, err := m.engine().Replay(context.Background(), run, nil)
	if err != nil || replay.Exit != 0 || replay.Items[0].Status != engine.ReplaySame || replay.Items[0].Steps != 8 {
		t.Fatalf("replay: %+v, %v", replay, err)
	}
	p, err := m.engine().Plan(context.Background(), m.job(set...), engine.Options{})
	if err != nil || p.Items[0].Status != step.UpToDate {
		t.Fatalf("plan: %+v, %v", p, err)
	}
	if r := m.run(set...); r.Items[0].Status != step.UpToDate {
		t.Fatalf("again: %+v", r)
	}
	if m.scribe.asked() != asked {
		t.Fatal("somebody was asked again")
	}
}

// A session of real shape, with each kind of record that there is.
func TestWhatIsTrueOfSessionsOfRealShape(t *testing.T) {
	for _, name := range []string{"2.1.197-images", "2.1.332-edits", "2.1.332-rewound", "2.1.332-subagents", "2.1.197-long-parallel"} {
		for _, embed := range []string{"prose", "full"} {
			m := newModelWorld(t)
			m.put("/s/x.jsonl", testdata(t, "sessions/"+name+".jsonl"))
			file := m.done(m.run("mode.embed="+embed, "budgets.keepRecords=4"))
			oneLine(t, []byte(file))
			m.theText(t, file, embed, 60000)
		}
	}
}

// Sessions side by side: each author is shown the words of one.
func TestSessionsAreKeptApart(t *testing.T) {
	m := newModelWorld(t)
	words := []string{"ALPHA", "BRAVO", "CHARLIE", "DELTA"}
	for _, w := range words {
		m.put("/s/"+w+".jsonl", []byte(strings.ReplaceAll(string(talk(60, 600)), "in words", w)))
	}
	r := m.run(append(slices.Clone(inParts), "run.workers=8")...)
	if r.Exit != 0 || m.scribe.asked() < 3*len(words) {
		t.Fatalf("asked %d times: %+v", m.scribe.asked(), r.Items)
	}
	texts := map[string]string{}
	for _, c := range m.scribe.calls {
		texts[fmt.Sprint("prompt ", c.n)] = c.prompt
	}
	for name, file := range m.files("/out") {
		texts[name] = file
	}
	for place, text := range texts {
		n := 0
		for _, w := range words {
			n += min(1, strings.Count(text, w))
		}
		if n != 1 {
			t.Errorf("%s holds the words of %d sessions", place, n)
		}
	}
}

// What looks like a credential, and was sent to somebody, is told by its number.
func TestCredentialsThatAreSent(t *testing.T) {
	const secret = "ghp_0123456789abcdefABCDEF0123456789abcd"
	session := []byte(strings.ReplaceAll(string(harbour()), "before the spring tide", "with "+secret))
	for text, told := range map[string]bool{modelText: true, byFile: false} {
		m := newModelWorld(t)
		m.text = text
		m.put("/s/x.jsonl", session)
		r := m.run()
		if !told {
			r, _ = m.resume(m.written("x"))
		}
		m.done(r)
		i := slices.IndexFunc(m.report().Warnings, func(w compress.Warning) bool { return w.Rule == "credentials-sent" })
		if (i >= 0) != told || m.report().Summary.Evidence["pack"].Credentials == 0 {
			t.Errorf("by %s: %+v", m.job().Author.By, m.report())
		}
		if strings.Contains(m.reports()["x"], secret) || strings.Contains(m.events.String(), secret) {
			t.Error("the report or the events hold it")
		}
	}
}

// Whatever a session looks like, and whatever rule finds its chain: it is folded, or
// refused before anybody is asked. One with a model's summary is refused for what it
// is refused for without.
func TestNobodyIsAskedForNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		session := drawAny(rt)
		set := []string{"mode.chain=" + rapid.SampledFrom([]string{"client", "pointer", "agreed", "physical-tail"}).Draw(rt, "chain"), "budgets.ratio=0.05", "budgets.keepRecords=2"}
		m := newModelWorld(t)
		m.put("/s/x.jsonl", session)
		i := m.run(set...).Items[0]
		if asked := m.scribe.asked(); asked > 0 != (i.Status == step.Done) {
			rt.Fatalf("%s after %d calls: %s", i.Class, asked, i.Message)
		}
		w := newWorld(t)
		w.put("/s/x.jsonl", session)
		if without := w.run(set...).Items[0]; without.Class != i.Class && i.Class != "no-evidence" {
			rt.Fatalf("%q, and without a model %q", i.Class, without.Class)
		}
	})
	tail := newModelWorld(t)
	tail.put("/s/x.jsonl", circle())
	tail.refusedWith(tail.run("mode.chain=physical-tail", "budgets.ratio=0.05", "budgets.keepRecords=3"), "candidate-invalid")
	if tail.scribe.asked() > 0 {
		t.Errorf("asked %d times", tail.scribe.asked())
	}
}

// circle is a session whose last records hang on each other.
func circle() []byte {
	var b st.Builder
	b.User("u1", "", "First.")
	b.Assistant("a1", "u1", "m1", st.Text("First answer."))
	b.User("u2", "a2", "Second.")
	b.Assistant("a2", "u2", "m2", st.Text("Second answer."))
	b.User("u3", "a2", "Third.")
	return b.Bytes()
}

// The workers change nothing.
func TestModelsSummariesWhateverTheWorkers(t *testing.T) {
	runs := map[string]map[string]string{}
	for _, workers := range []string{"1", "8"} {
		m := newModelWorld(t)
		m.scribe.write = badUntil(1)
		for i := range 6 {
			m.put(fmt.Sprintf("/s/x%d.jsonl", i), talk(20+i*20, 600))
		}
		r := m.run(append(slices.Clone(inParts), "run.workers="+workers)...)
		if r.Exit != 0 {
			t.Fatalf("%+v", r.Items)
		}
		got := m.files("/out")
		for name, text := range m.reports() {
			got["the report of "+name] = text
		}
		if runs[workers] = got; len(got) != 12 {
			t.Fatalf("%d files", len(got))
		}
	}
	for name, text := range runs["1"] {
		if runs["8"][name] != text {
			t.Errorf("%s is another one with 8 workers", name)
		}
	}
}

// What stands at the output is seen before anybody is asked: what could not be
// published is not paid for.
func TestAnOutputThatIsNotOurs(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", harbour())
	m.put("/out/x.jsonl", []byte("somebody's"))
	m.refusedWith(m.run(), "output-exists")
	if m.scribe.asked() > 0 || string(m.out("x")) != "somebody's" {
		t.Errorf("asked %d times", m.scribe.asked())
	}
	if file := m.done(m.runWith(context.Background(), engine.Options{Force: true})); file != straight(t, harbour(), good) || m.scribe.asked() != 1 {
		t.Errorf("asked %d times", m.scribe.asked())
	}
	if r := m.run(); r.Items[0].Status != step.UpToDate {
		t.Errorf("again: %+v", r)
	}
	m.put("/out/x.jsonl", []byte("edited"))
	m.refusedWith(m.run("author.model=another"), "output-exists")
	if m.scribe.asked() != 1 {
		t.Errorf("asked %d times", m.scribe.asked())
	}
}

// A dry run, a plan and a run up to the pack ask nobody.
func TestWhoIsNotAsked(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", harbour())
	r, err := m.engine().DryRun(context.Background(), m.job(), engine.Options{})
	if i := r.Items[0]; err != nil || r.Exit != 4 || i.Status != step.Waiting || i.Class != "not-asked" || len(r.Effects) > 0 {
		t.Errorf("dry run: %+v, %v", r, err)
	}
	if p, err := m.engine().Plan(context.Background(), m.job(), engine.Options{}); err != nil || p.Items[0].Status != step.WouldRun {
		t.Errorf("plan: %+v, %v", p, err)
	}
	if r := m.runWith(context.Background(), engine.Options{Until: "pack"}); r.Exit != 0 || m.mustArtifact("pack/pack") == "" {
		t.Errorf("until pack: %+v", r)
	}
	if m.scribe.asked() > 0 || len(m.files("/out")) > 0 {
		t.Errorf("asked %d times, or something was published", m.scribe.asked())
	}
}
