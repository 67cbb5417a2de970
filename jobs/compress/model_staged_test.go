package compress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/jobs/internal/tokens"
	"github.com/precis-dev/precis/spec/canon"
)

// A fold that is too long for one pack.

// inParts are the settings of a job that folds talk(60, 600) in parts.
var inParts = []string{"author.fold=staged", "budgets.packChars=40000", "budgets.ratio=0.05", "budgets.summaryChars=20000"}

// parts counts the parts of the last run.
func (m *modelWorld) parts() int {
	m.t.Helper()
	for n := 0; ; n++ {
		if _, ok := m.artifact("x", fmt.Sprintf("pack/pack-%d", n+1)); !ok {
			return n
		}
	}
}

// expected is what the run holds a summary to.
func (m *modelWorld) expected(name string) (e struct {
	Summary  []int
	MaxChars int
}) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(m.mustArtifact(name)), &e); err != nil {
		m.t.Fatal(err)
	}
	return e
}

func TestAFoldInParts(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", talk(60, 600))
	file := m.done(m.run(append(slices.Clone(inParts), "budgets.summaryChars=5000")...))
	n := m.parts()
	if n < 3 || m.scribe.asked() != n+1 {
		t.Fatalf("%d parts, asked %d times", n, m.scribe.asked())
	}
	// Each record is in one part, and all that are folded are.
	var all []int
	for i := range n {
		pack, e := m.mustArtifact(fmt.Sprintf("pack/pack-%d", i+1)), m.expected(fmt.Sprintf("pack/expect-%d", i+1))
		if runesOf(pack) > 40000 || e.MaxChars != 5000 {
			t.Errorf("pack %d has %d characters, its summary may have %d", i+1, runesOf(pack), e.MaxChars)
		}
		all = append(all, e.Summary...)
	}
	report := m.report()
	if report.Partition.Summary.Count != len(all) || canon.LineSet(all) != report.Partition.Summary.Digest {
		t.Errorf("the parts have %d records, the fold %d", len(all), report.Partition.Summary.Count)
	}
	if last := m.expected("merge/expect").Summary; !slices.Equal(last, all) {
		t.Errorf("the last pack is of %v", last)
	}
	m.theLastPack(n, file)
	want := map[string]*compress.Account{"author": {By: "command", Asked: 1}}
	for i := range n {
		want[fmt.Sprintf("author-%d", i+1)] = &compress.Account{By: "command", Asked: 1}
	}
	if got, expect := fmt.Sprint(quotedJSON(report.Summary.Authors)), quotedJSON(want); got != expect {
		t.Errorf("the report says %s, want %s", got, expect)
	}
	if len(report.Summary.Evidence) != n+1 || report.Summary.Evidence["merge"] == nil {
		t.Errorf("the report has the packs %v", quotedJSON(report.Summary.Evidence))
	}
	validate(t, "report", m.reports()["x"])
}

func quotedJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// theLastPack demands that the last pack shows the summaries of the parts and no
// record, and that the file has the summary of that pack.
func (m *modelWorld) theLastPack(n int, file string) {
	m.t.Helper()
	last := m.mustArtifact("merge/pack")
	lines := 0
	for line := range strings.Lines(last) {
		_, text, ok := strings.Cut(line, "full_text_json=")
		if !ok || !strings.HasPrefix(line, "- L") {
			continue
		}
		var shown string
		if err := json.Unmarshal([]byte(text), &shown); err != nil {
			m.t.Fatal(err)
		}
		lines++
		if want := proseOf(m.mustArtifact(fmt.Sprintf("author-%d/answer", lines))); strings.TrimSpace(shown) != want {
			m.t.Errorf("line %d of the last pack is %q, want %q", lines, shown, want)
		}
	}
	if lines != n {
		m.t.Errorf("the last pack shows %d texts of %d parts", lines, n)
	}
	if answer := m.mustArtifact("author/answer"); !strings.Contains(liveText(m.t, file), proseOf(answer)) {
		m.t.Error("the file has not the summary of the last pack")
	}
}

// The parts are asked for side by side: none is answered before some are asked for.
func TestPartsSideBySide(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", talk(60, 600))
	var together sync.WaitGroup
	together.Add(3)
	m.scribe.write = func(c call) string {
		if c.n <= 3 {
			together.Done()
		}
		met := make(chan struct{})
		go func() { together.Wait(); close(met) }()
		select {
		case <-met:
		case <-time.After(20 * time.Second):
			t.Errorf("call %d was alone", c.n)
		}
		return good(c)
	}
	m.done(m.run(inParts...))
}

// A part that fails leaves the answers of the others, and only it is asked for again.
func TestAPartThatFails(t *testing.T) {
	want := straight(t, talk(60, 600), good, inParts...)
	for failing := 1; failing <= 3; failing++ {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", talk(60, 600))
		probe := newModelWorld(t)
		probe.put("/s/x.jsonl", talk(60, 600))
		probe.done(probe.run(inParts...))
		n, pack := probe.parts(), probe.mustArtifact(fmt.Sprintf("pack/pack-%d", failing))
		m.scribe.write = func(c call) string {
			if c.pack == pack {
				return ""
			}
			return good(c)
		}
		m.left(m.run(inParts...), step.Failed, "author-no-answer", 1)
		for i := range n {
			if _, ok := m.artifact("x", fmt.Sprintf("author-%d/answer", i+1)); ok == (i+1 == failing) {
				t.Errorf("part %d fails, and of part %d there is an answer: %t", failing, i+1, ok)
			}
		}
		if m.scribe.asked() != n {
			t.Errorf("asked %d times for %d parts", m.scribe.asked(), n)
		}
		m.scribe.write = nil
		r, _ := m.resume()
		if m.done(r) != want || m.scribe.asked() != n+2 || m.scribe.calls[n].pack != pack {
			t.Errorf("part %d: asked %d times", failing, m.scribe.asked())
		}
	}
}

// A person writes all parts, in any order, and then the last one.
func TestAPersonWritesParts(t *testing.T) {
	m := newModelWorld(t)
	m.text = byFile
	m.put("/s/x.jsonl", talk(60, 600))
	m.left(m.run(inParts...), step.Waiting, "waiting", 4)
	var files []string
	for i := range m.parts() {
		files = append([]string{good(call{pack: m.mustArtifact(fmt.Sprintf("pack/pack-%d", i+1))})}, files...)
	}
	r, err := m.resume(files[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	m.left(r, step.Waiting, "waiting", 4)
	if r, err = m.resume(files[0]); err != nil {
		t.Fatal(err)
	}
	m.left(r, step.Waiting, "waiting", 4)
	r, err = m.resume(good(call{pack: m.mustArtifact("merge/pack")}))
	text := strings.Replace(liveText(t, m.done(r)), "somebody with the evidence", "a model", 1)
	if want := liveText(t, straight(t, talk(60, 600), good, inParts...)); err != nil || text != want {
		t.Errorf("%v, or another text", err)
	}
}

// sizes are what a refusal says that a pack needs, and the ceilings.
var packSizes = regexp.MustCompile(`needs a pack of (\d+) characters and (\d+) tokens; the ceilings are (\d+) \(budgets.packChars\) and (\d+) \(budgets.packTokens\)`)

// Without staged a fold that is too long is refused with what it takes, which is
// exact.
func TestAFoldThatIsTooLong(t *testing.T) {
	try := func(set ...string) (*modelWorld, step.Status, string, string) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", talk(60, 600))
		i := m.run(append([]string{"budgets.ratio=0.05"}, set...)...).Items[0]
		return m, i.Status, i.Message, i.Next
	}
	m, status, message, next := try("budgets.packChars=40000", "budgets.packTokens=20000")
	need := packSizes.FindStringSubmatch(message)
	if status != step.Refused || m.last.Items[0].Class != "pack-too-large" || need == nil || need[3] != "40000" || need[4] != "20000" || !strings.Contains(next, "author.fold: staged") || m.scribe.asked() > 0 {
		t.Fatalf("%s: %s (next: %s), asked %d times", status, message, next, m.scribe.asked())
	}
	if _, status, message, _ = try("budgets.packChars="+need[1], "budgets.packTokens="+need[2]); status != step.Done {
		t.Errorf("with what it asked for: %s: %s", status, message)
	}
	var chars, tokens int
	_, _ = fmt.Sscan(need[1]+" "+need[2], &chars, &tokens)
	for _, set := range [][]string{{fmt.Sprint("budgets.packChars=", chars-1), "budgets.packTokens=" + need[2]}, {"budgets.packChars=" + need[1], fmt.Sprint("budgets.packTokens=", tokens-1)}} {
		if _, status, message, _ = try(set...); status != step.Refused {
			t.Errorf("with one less than it asked for: %s: %s", status, message)
		}
	}
}

// One turn is never divided: it is refused also where the fold may be.
func TestATurnThatIsTooLong(t *testing.T) {
	for name, session := range map[string][]byte{"the first": talk(2, 60000), "all": talk(5, 60000)} {
		for _, fold := range []string{"single", "staged"} {
			m := newModelWorld(t)
			m.put("/s/x.jsonl", session)
			i := m.refusedWith(m.run("author.fold="+fold, "budgets.packChars=50000", "budgets.ratio=0.05"), "pack-too-large")
			if packSizes.FindString(i.Message) == "" || strings.Contains(i.Message, "one turn (L1 to L2)") != (fold == "staged") || m.scribe.asked() > 0 {
				t.Errorf("%s, %s: asked %d times: %s", name, fold, m.scribe.asked(), i.Message)
			}
		}
	}
}

// Where the summaries of the parts would not fit into the last pack, nobody is asked
// for them: neither with ceilings that are too small for so many, nor with a handoff
// that takes the room.
func TestPartsThatWouldNotFitTogether(t *testing.T) {
	for name, c := range map[string]struct {
		handoff string
		set     []string
	}{
		"few characters": {"", []string{"budgets.packChars=16000"}},
		"few tokens":     {"", []string{"budgets.packChars=500000", "budgets.packTokens=10000"}},
		"a long handoff": {strings.Repeat("Mind the gap between the pier and the boat.\n", 500), nil},
	} {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", talk(300, 600))
		set := append(slices.Clone(inParts), c.set...)
		if c.handoff != "" {
			m.put("/handoff.txt", []byte(c.handoff))
			set = append(set, "input.handoff=handoff.txt")
		}
		r := m.run(set...)
		if i := r.Items[0]; i.Class != "pack-too-large" || i.Status != step.Refused || m.scribe.asked() > 0 {
			t.Errorf("%s: %s %s after %d calls: %s", name, i.Status, i.Class, m.scribe.asked(), i.Message)
		}
	}
}

// Nor where the whole of the last summary would not fit into the session.
func TestALastSummaryThatWouldNotFit(t *testing.T) {
	for _, chars := range []int{4000, 4200, 4400, 4600, 4800, 5000, 9000} {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", talk(60, 600))
		i := m.run(append(slices.Clone(inParts), "mode.embed=full", fmt.Sprint("budgets.summaryChars=", chars))...).Items[0]
		if i.Status == step.Done {
			continue
		}
		if i.Status != step.Refused || m.scribe.asked() > 0 || chars == 9000 {
			t.Errorf("%d characters: %s %s after %d calls: %s", chars, i.Status, i.Class, m.scribe.asked(), i.Message)
		}
	}
}

// Parts whose summaries are as long as they may be fit into the last pack, whatever
// they consist of.
func TestPartsThatAreAsLongAsTheyMayBe(t *testing.T) {
	for name, filler := range fillers {
		t.Run(name, func(t *testing.T) {
			m := newModelWorld(t)
			m.put("/s/x.jsonl", talk(60, 600))
			m.scribe.write = upTo(filler)
			m.done(m.run(inParts...))
		})
	}
}

// The room of the last pack is shared out to the last character and token: parts that
// take all of it, with all that the pack may say about them, fit; one more is refused.
func TestTheRoomOfTheLastPack(t *testing.T) {
	for name, set := range map[string][]string{"characters": nil, "tokens": {"budgets.packChars=60000", "budgets.packTokens=10000"}} {
		for over, status := range map[int]string{0: "waiting", 1: "summary-refused"} {
			m := newModelWorld(t)
			m.text = byFile
			m.put("/s/x.jsonl", talk(60, 600))
			m.run(append(slices.Clone(inParts), set...)...)
			var files []string
			for i := range m.parts() {
				files = append(files, m.fills(i+1, name, over))
			}
			r, err := m.resume(files...)
			if i := m.left(r, step.Waiting, status, 4); err != nil || (over > 0) != strings.Contains(i.Message, "too-long") {
				t.Errorf("%s, %d more: %v: %s", name, over, err, i.Message)
			}
		}
	}
}

// fills writes a summary of a part that takes all of its room, or some more.
func (m *modelWorld) fills(part int, unit string, over int) string {
	m.t.Helper()
	var e struct{ Room struct{ Chars, Tokens int } }
	if err := json.Unmarshal([]byte(m.mustArtifact(fmt.Sprintf("pack/expect-%d", part))), &e); err != nil {
		m.t.Fatal(err)
	}
	c := call{pack: m.mustArtifact(fmt.Sprintf("pack/pack-%d", part))}
	most, size := e.Room.Chars, func(text string) int { return runesOf(quoted(proseOf(text) + "\n")) }
	if unit == "tokens" {
		most, size = e.Room.Tokens, func(text string) int { return tokens.Text(quoted(proseOf(text) + "\n")) }
	}
	// Quotation marks, a path, and a sign that a text was damaged.
	const filler = "\"\"\"\"\"\"/srv/a.go\ufffd"
	n := sort.Search(4*most, func(chars int) bool { return size(padded(c, filler, chars)) > most })
	if over == 0 {
		n--
	}
	return padded(c, filler, n)
}

// Whatever a session looks like, it is folded, in parts if it must be, or refused
// before anybody is asked.
func TestAnySessionInParts(t *testing.T) {
	done, staged, large := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		words := firstRunes("of the person ", rapid.SampledFrom([]int{0, 1500, 4000}).Draw(rt, "length"))
		session := strings.NewReplacer("words n", "words "+words+"n", "answer n", "answer "+words+"n").Replace(string(drawAny(rt)))
		if rapid.Bool().Draw(rt, "a plain talk") {
			session = string(talk(rapid.IntRange(4, 30).Draw(rt, "turns"), rapid.SampledFrom([]int{200, 1000, 3000}).Draw(rt, "size")))
		}
		set := []string{"mode.chain=client", "budgets.ratio=0.05", "budgets.keepRecords=2"}
		probe := newModelWorld(t)
		probe.put("/s/x.jsonl", []byte(session))
		need, ceiling := packSizes.FindStringSubmatch(probe.run(append(set, "budgets.packChars=10000")...).Items[0].Message), 10000
		if need != nil {
			_, _ = fmt.Sscan(need[1], &ceiling)
			ceiling = max(10000, ceiling*rapid.IntRange(30, 99).Draw(rt, "percent")/100)
		}
		m := newModelWorld(t)
		m.put("/s/x.jsonl", []byte(session))
		r := m.run(append(set, "author.fold=staged", fmt.Sprint("budgets.packChars=", ceiling))...)
		switch i := r.Items[0]; {
		case i.Status == step.Done:
			done++
			oneLine(rt, m.out("x"))
			parts := m.parts()
			if parts > 0 {
				staged++
			}
			if asked := m.scribe.asked(); asked != parts+1 {
				rt.Fatalf("asked %d times for %d parts", asked, parts)
			}
		case i.Status != step.Refused || i.Class == "candidate-invalid" || m.scribe.asked() > 0:
			rt.Fatalf("%s: %s, asked %d times", i.Class, i.Message, m.scribe.asked())
		case i.Class == "pack-too-large":
			large++
		}
	})
	t.Logf("%d done, %d in parts, %d too large", done, staged, large)
	if !testing.Short() && (done == 0 || staged == 0 || large == 0) {
		t.Errorf("%d sessions were folded, %d in parts, %d were too large", done, staged, large)
	}
}

// TestPartsAfterEveryCrash cuts the power at every operation while parts are asked for
// side by side.
func TestPartsAfterEveryCrash(t *testing.T) {
	session := talk(60, 600)
	want := straight(t, session, good, inParts...)
	parts, some := 0, 0
	for at := 1; ; at++ {
		base := durable(t, session)
		dying := faultfs.New(base.fs, faultfs.Plan{At: at, Stop: true})
		base.on(dying, "run-1").runWith(context.Background(), engine.Options{}, inParts...)
		if !dying.Hit() {
			break
		}
		m := base.on(base.fs.CrashClone(uint64(at)), "run-2")
		kept, finished := m.keptAnswers("run-1")
		before, have := m.scribe.asked(), 0
		for _, s := range []string{"author", "author-1", "author-2", "author-3", "author-4", "author-5"} {
			if finished[s] || kept[s] > 0 {
				have++
			}
		}
		r, _ := m.goOn("run-1", inParts...)
		if r.Exit != 0 || string(m.out("x")) != want {
			t.Errorf("%s: %+v", dying.Ops()[at-1], r)
			continue
		}
		if parts = m.parts(); m.scribe.asked()-before != parts+1-have {
			t.Errorf("%s: asked %d times with %d answers on record", dying.Ops()[at-1], m.scribe.asked()-before, have)
		}
		if have > 0 && have < parts {
			some++
		}
	}
	if some == 0 {
		t.Error("it never died between two parts")
	}
}
