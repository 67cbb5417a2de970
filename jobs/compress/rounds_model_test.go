package compress_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/jobs/internal/author"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	validity "github.com/precis-dev/precis/jobs/validate"
)

// What the live text of the rounds is made of at most, in characters.
const (
	tenRounds    = 10
	mostAbout    = 500   // what precis says about a summary, and the heading of the appendix
	mostAppendix = 18000 // of the format
	// The mechanical author's prose: ten headings of up to 50 characters; in each of
	// the nine sections two lines that say nothing, of up to 70; eight groups that
	// do not depend on the number of records, one line each; and a line of eight anchors.
	mostProse   = 10*(50+3) + 9*70 + 8*(70+mostQuoted) + 100
	mostQuoted  = 80   // characters of a record that one of its lines quotes
	mostComment = 1000 // before the text, with embed: full
	mostCovered = 130  // a coverage line
)

// TestTenRoundsWithAModel compresses a session ten times, with as many new turns
// before each. Each time one pair is there, the summary before is evidence, and the
// text does not grow with the number of rounds.
func TestTenRoundsWithAModel(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns int // new ones before each round
		set   []string
		check func(r *modelRounds, report *compress.ReportSummary)
	}{
		{"prose", 5, nil, (*modelRounds).checkProse},
		{"full", 5, []string{"mode.embed=full"}, (*modelRounds).checkFull},
		{"verbatim", 5, []string{"mode.priorSummaries=verbatim", "budgets.summaryChars=12000"}, (*modelRounds).checkVerbatim},
		{"staged", 10, []string{"author.fold=staged", "budgets.packChars=40000", "budgets.summaryChars=6000"}, (*modelRounds).checkStaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, rounds := newModelRounds(t, c.turns, c.set), tenRounds
			if testing.Short() {
				rounds = 4
			}
			for range rounds {
				r.round()
				r.checkFile()
				r.checkEvidence()
				report := r.report().Summary
				c.check(r, &report)
				if t.Failed() {
					t.Fatalf("round %d", len(r.texts))
				}
			}
			r.tell()
		})
	}
}

// TestNobodyIsAskedForTheImpossible has a summary that goes into the session with all
// its coverage lines, and a budget that they alone would fill: of a session, and of
// what is left for it beside an earlier summary. What the refusal advises helps.
func TestNobodyIsAskedForTheImpossible(t *testing.T) {
	for _, c := range []struct {
		rounds    int // that succeed
		set, next string
	}{
		{0, "budgets.summaryChars=5000", "raise budgets.summaryChars to"},
		{1, "budgets.summaryChars=12000", "mode.priorSummaries: fold"},
	} {
		r := newModelRounds(t, 5, []string{"mode.embed=full", "mode.priorSummaries=verbatim", c.set})
		for range c.rounds {
			r.round()
		}
		asked := len(r.answers)
		r.attempt()
		i := r.last.Items[0]
		if i.Class != "coverage-too-long" || !strings.Contains(i.Next, c.next) || len(r.answers) > asked {
			t.Errorf("%s: %s, next: %s; asked %d times", c.set, i.Class, i.Next, len(r.answers)-asked)
		}
		if _, enough, ok := strings.Cut(i.Next, "raise budgets.summaryChars to "); ok {
			r.set = append(r.set, "budgets.summaryChars="+enough)
			r.round()
		}
	}
}

// modelRounds is a session on its way through rounds of new turns and a compression
// with a summary that the mechanical author writes.
type modelRounds struct {
	*world
	set     []string
	pieces  [][]byte // what comes before each round
	session []byte   // as it was before the last round
	now     []byte   // what that made of it
	before  summaryRecord
	after   summaryRecord
	answers []roundAnswer // in the last round
	mu      sync.Mutex    // of answers: parts are asked for side by side
	texts   []string      // of each round
}

// roundAnswer is what an author read and wrote.
type roundAnswer struct{ pack, answer string }

// summaryRecord is the summary in a file: the number of its record and its text.
type summaryRecord struct {
	n    int
	text string
}

func newModelRounds(t *testing.T, turns int, set []string) *modelRounds {
	r := &modelRounds{world: newWorld(t), pieces: turnsInPieces(t, turns)}
	r.set = append([]string{
		"mode.summary=model", "author.by=command", "author.command=[mechanical]", "author.attempts=0",
		"budgets.keepRecords=20", "budgets.tokens=0",
	}, set...)
	return r
}

// turnsInPieces is a generated session in pieces of some turns, a multiple of five,
// each of which goes on from the one before. A pointer stands after five turns.
func turnsInPieces(t *testing.T, turns int) [][]byte {
	t.Helper()
	const pointer, perTurn = `{"type":"last-prompt"`, 80_000
	var b bytes.Buffer
	if _, err := st.Generate(&b, int64(tenRounds*turns*perTurn), 1); err != nil {
		t.Fatal(err)
	}
	pieces, pointers := make([][]byte, tenRounds), 0
	for l := range bytes.Lines(b.Bytes()) {
		if i := pointers * 5 / turns; i < tenRounds {
			pieces[i] = append(pieces[i], l...)
		}
		if bytes.HasPrefix(l, []byte(pointer)) {
			pointers++
		}
	}
	if pointers*5 < tenRounds*turns {
		t.Fatalf("the session has only %d turns", pointers*5)
	}
	return pieces
}

// round adds turns and compresses.
func (r *modelRounds) round() {
	r.t.Helper()
	r.answers = nil
	r.attempt()
	if r.last.Exit != 0 {
		r.t.Fatalf("round %d: %+v", len(r.texts)+1, r.last.Items)
	}
	r.now = r.out("x")
	r.before, r.after = r.after, summaryRecordIn(r.t, r.now)
	r.texts = append(r.texts, r.after.text)
}

// attempt adds turns and runs the job.
func (r *modelRounds) attempt() {
	r.session = slices.Concat(r.now, r.pieces[len(r.texts)])
	r.put("/s/x.jsonl", r.session)
	e := engine.New(r.env, compress.Kind{Authors: author.World{
		Getenv: func(string) (string, bool) { return "", false },
		Run:    r.write,
	}})
	r.last, _ = e.Run(context.Background(), r.job(r.set...), engine.Options{})
}

// write is the mechanical author as a command.
func (r *modelRounds) write(_ context.Context, p author.Process) (author.Exit, error) {
	text, err := mechanical.Write([]byte(p.Stdin))
	if err != nil {
		return author.Exit{}, err
	}
	r.mu.Lock()
	r.answers = append(r.answers, roundAnswer{p.Stdin, string(text)})
	r.mu.Unlock()
	return author.Exit{}, p.Stdout(text)
}

// summaryRecordIn is the summary in a file that has one.
func summaryRecordIn(t *testing.T, session []byte) (s summaryRecord) {
	t.Helper()
	all := lines(session)
	i := slices.IndexFunc(all, func(l string) bool { return strings.Contains(l, `"isCompactSummary":true`) })
	if i < 0 {
		t.Fatal("no summary")
	}
	var rec struct{ Message struct{ Content string } }
	if err := json.Unmarshal([]byte(all[i]), &rec); err != nil {
		t.Fatal(err)
	}
	return summaryRecord{i + 1, rec.Message.Content}
}

// checkFile looks at the new file: one pair, valid, and behind the pair bytes of the
// session, no more of them than the ratio allows.
func (r *modelRounds) checkFile() {
	x := index(r.t, r.now)
	boundaries, summaries := 0, 0
	for i := range x.Records {
		if x.Boundary(i) {
			boundaries++
		}
		if x.Records[i].Has(transcript.CompactMark) {
			summaries++
		}
	}
	if boundaries != 1 || summaries != 1 {
		r.t.Errorf("%d boundaries and %d summaries", boundaries, summaries)
	}
	file, err := validity.Check(context.Background(), r.fs, "/out/x.jsonl", func(int64, int64) {})
	if err != nil || !file.OK {
		r.t.Errorf("the new file is not valid: %v %+v", err, file)
	}
	all := lines(r.now)
	r.checkKept(all[r.after.n : len(all)-1])
}

// checkKept compares what stands between pair and pointer with the session.
func (r *modelRounds) checkKept(kept []string) {
	bytes, at := 0, -1
	source := lines(r.session)
	for i, l := range kept {
		want := slices.IndexFunc(source, func(s string) bool { return s == l || i == 0 && sameButParent(s, l) })
		if want <= at {
			r.t.Errorf("kept record %d is not the session's, or not in its order", i+1)
			return
		}
		at = want
		bytes += len(l) + 1
	}
	if len(kept) < 20 || bytes*10 > len(r.session)*3 {
		r.t.Errorf("%d records of %d bytes are kept of %d", len(kept), bytes, len(r.session))
	}
}

// sameButParent reports that two lines are the same but for the uuid of the parent.
func sameButParent(a, b string) bool {
	return len(a) == len(b) && parentMember.ReplaceAllString(a, "") == parentMember.ReplaceAllString(b, "")
}

var parentMember = regexp.MustCompile(`"parentUuid":"[^"]*"`)

// checkEvidence demands that the summary before is in one pack, whole, that the
// summary of that cites it, and that the new text leads to it.
func (r *modelRounds) checkEvidence() {
	var found []roundAnswer
	group := fmt.Sprintf("`prior-summary-L%d`: L%[1]d\n", r.before.n)
	for _, a := range r.answers {
		if strings.Contains(a.pack, group) {
			found = append(found, a)
		}
	}
	if r.before.n == 0 {
		return
	}
	if len(found) != 1 {
		r.t.Errorf("%d packs have the group of L%d", len(found), r.before.n)
		return
	}
	if got := shownInFull(r.t, found[0].pack, r.before.n); got != r.before.text {
		r.t.Errorf("the pack shows L%d as %.80q…, %d characters of %d", r.before.n, got, utf8.RuneCountInString(got), utf8.RuneCountInString(r.before.text))
	}
	if !citesRecord(found[0].answer, r.before.n) {
		r.t.Errorf("the answer does not cite L%d", r.before.n)
	}
	if last := r.answers[len(r.answers)-1]; !strings.Contains(last.pack, fmt.Sprintf("L%d]", r.before.n)) && last != found[0] {
		r.t.Errorf("the pack of the parts does not name L%d", r.before.n)
	}
}

// shownInFull is the text that a pack shows of a record.
func shownInFull(t *testing.T, pack string, n int) (text string) {
	t.Helper()
	for l := range strings.Lines(pack) {
		head, quoted, full := strings.Cut(l, " full_text_json=")
		if !full || !strings.HasPrefix(head, fmt.Sprintf("- L%d ", n)) {
			continue
		}
		if err := json.Unmarshal([]byte(quoted), &text); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// citesRecord reports that a text names a record in square brackets.
func citesRecord(text string, n int) bool {
	return regexp.MustCompile(fmt.Sprintf(`\[(L\d+, )*L%d[\],]`, n)).MatchString(text)
}

// most bounds the live text.
func (r *modelRounds) most(chars int) {
	r.t.Helper()
	if n := utf8.RuneCountInString(r.after.text); n > chars {
		r.t.Errorf("the text has %d characters, more than %d", n, chars)
	}
}

// folded demands that the earlier summary was folded, and the text names it.
func (r *modelRounds) folded() {
	r.t.Helper()
	if r.before.n > 0 && !citesRecord(r.after.text, r.before.n) {
		r.t.Errorf("the text does not cite L%d", r.before.n)
	}
}

// checkProse also bounds the growth from the third round on: what the appendix
// had left then, and what the eight lines of the prose quote.
func (r *modelRounds) checkProse(*compress.ReportSummary) {
	r.most(mostAbout + mostProse + mostAppendix)
	r.folded()
	if len(r.texts) <= 3 {
		return
	}
	_, third, _ := strings.Cut(r.texts[2], "\n# Appendix, made without a model\n\n")
	growth := utf8.RuneCountInString(r.after.text) - utf8.RuneCountInString(r.texts[2])
	if most := mostAppendix - utf8.RuneCountInString(third) + 8*(mostQuoted+5); growth > most {
		r.t.Errorf("the text grew by %d characters since the third round, more than %d", growth, most)
	}
}

// checkFull counts a coverage line for each mandatory record of the round.
func (r *modelRounds) checkFull(s *compress.ReportSummary) {
	r.most(mostAbout + mostComment + mostProse + mostCovered*s.Covered + mostAppendix)
	r.folded()
	if strings.Count(r.after.text, "\n### Mandatory Evidence Coverage\n") == 0 {
		r.t.Error("there are no coverage lines")
	}
}

// checkVerbatim demands that the summary before stands in front, word for word, if
// that leaves 4000 characters of one and a half times the budget, and else is folded.
func (r *modelRounds) checkVerbatim(s *compress.ReportSummary) {
	const budget, expanded, least = 12000, 18000, 4000
	if r.before.n == 0 {
		r.most(budget)
		return
	}
	block := fmt.Sprintf("# Earlier summaries, word for word\n\nTheir numbers are those of the files that they were made from.\n\n## Record L%d\n\n%s\n\n# What followed\n\n",
		r.before.n, strings.TrimSpace(r.before.text))
	warned := slices.ContainsFunc(r.report().Warnings, func(w compress.Warning) bool { return w.Rule == "priors-folded" })
	if expanded-utf8.RuneCountInString(block) >= least {
		r.most(expanded)
		if !strings.HasPrefix(r.after.text, block) || s.Priors.Policy != "verbatim-preserved" || warned {
			r.t.Errorf("the summary before does not stand in front: %+v", s.Priors)
		}
		return
	}
	r.most(min(budget, utf8.RuneCountInString(r.before.text)-1))
	r.folded()
	if strings.Contains(r.after.text, block) || s.Priors.Policy != "fallback-folded" || s.Priors.Reason == "" || !warned {
		r.t.Errorf("the summary before was not folded: %+v", s.Priors)
	}
}

// checkStaged demands several parts, and one pack of them.
func (r *modelRounds) checkStaged(s *compress.ReportSummary) {
	r.most(6000)
	r.folded()
	if len(r.answers) < 3 || len(s.Authors) != len(r.answers) {
		r.t.Errorf("%d packs, %d authors", len(r.answers), len(s.Authors))
	}
}

// tell logs how long the texts were.
func (r *modelRounds) tell() {
	var n []int
	for _, text := range r.texts {
		n = append(n, utf8.RuneCountInString(text))
	}
	r.t.Logf("characters of the text: %v", n)
}
