package compress_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/compress"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// Earlier summaries: word for word, or folded with the rest.

const priorSentence = "The quay was built before the war."

// afterPrior is a session that was compacted before, and went on for some turns.
func afterPrior(prior string, turns int) []byte {
	var b st.Builder
	b.User("u", "", "Long ago.")
	b.Assistant("a", "u", "m", st.Text("It was."))
	b.Boundary("b", "a")
	b.Summary("s", "b", prior)
	addTurns(&b, "s", 1, turns, "2026-03-02")
	return b.Bytes()
}

// addTurns writes turns of a day below a record, and the pointer.
func addTurns(b *st.Builder, parent string, from, to int, day string) {
	for i := from; i <= to; i++ {
		u, a := fmt.Sprint("u", i), fmt.Sprint("a", i)
		b.User(u, parent, fmt.Sprintf("Request %d: please mend the crane of the %s today.", i, theFolded), st.At(fmt.Sprintf("%sT10:%02d:00.000Z", day, i)))
		b.Assistant(a, u, "m"+a, st.Text(fmt.Sprintf("Crane %d is mended, because its chain was worn.", i)), st.At(fmt.Sprintf("%sT10:%02d:30.000Z", day, i)))
		parent = a
	}
	b.LastPrompt(parent)
}

// priorOf is a prior summary of some characters, which begins and ends with words of
// its own.
func priorOf(chars int) string {
	const end = " PRIOR-ENDS"
	return "PRIOR-BEGINS. " + priorSentence + firstRunes(" Of old.", chars-runesOf("PRIOR-BEGINS. "+priorSentence+end)) + end
}

// modes are the settings of the two ways to write a summary.
var modes = map[string]string{"model": modelText, "deterministic": jobText}

// withPriors runs a job on a session, and gives the text and what the report says.
func withPriors(t *testing.T, text string, session []byte, set ...string) (string, compress.ReportSummary, *modelWorld) {
	t.Helper()
	m := newModelWorld(t)
	m.text = text
	m.put("/s/x.jsonl", session)
	live := liveText(t, m.done(m.run(append(set, "budgets.ratio=0.05")...)))
	return live, m.report().Summary, m
}

const whatFollowed = "# What followed\n\n"

func TestPriorsWordForWord(t *testing.T) {
	for mode, text := range modes {
		t.Run(mode, func(t *testing.T) {
			prior := "  \n" + priorOf(900) + "\n\n- a list\n- of \"things\" \\ and 灯\n\n"
			live, summary, m := withPriors(t, text, afterPrior(prior, 4), "mode.priorSummaries=verbatim")
			if strings.Count(live, strings.TrimSpace(prior)) != 1 || strings.Count(live, priorSentence) != 1 {
				t.Errorf("the prior is there %d times:\n%s", strings.Count(live, priorSentence), live)
			}
			want := compress.ReportPriors{Policy: "verbatim-preserved", Count: 1, Chars: runesOf(strings.TrimSpace(prior))}
			if summary.Priors != want {
				t.Errorf("%+v, want %+v", summary.Priors, want)
			}
			if block, rest, ok := strings.Cut(live, whatFollowed); !ok || !strings.HasPrefix(block, "# Earlier summaries, word for word\n") || !strings.Contains(block, "## Record L4\n") || !strings.Contains(rest, "crane") {
				t.Errorf("the text is\n%s", live)
			}
			if mode == "model" && !strings.Contains(m.mustArtifact("pack/pack"), "puts the earlier summaries in front of yours") {
				t.Error("the author is not told")
			}
		})
	}
}

// Folded with the rest, a prior is evidence like any other; so it is if a job does not
// say anything.
func TestPriorsThatAreFolded(t *testing.T) {
	for mode, text := range modes {
		for _, set := range [][]string{nil, {"mode.priorSummaries=fold"}} {
			live, summary, m := withPriors(t, text, afterPrior(priorOf(900), 4), set...)
			if strings.Contains(live, priorOf(900)) || strings.Contains(live, whatFollowed) || !strings.Contains(live, priorSentence) && mode == "deterministic" {
				t.Errorf("%s: the text is\n%s", mode, live)
			}
			if want := (compress.ReportPriors{Policy: "not-requested", Count: 1, Chars: 900}); summary.Priors != want {
				t.Errorf("%s: %+v", mode, summary.Priors)
			}
			if mode == "model" && !strings.Contains(m.mustArtifact("pack/pack"), "The earlier summaries vanish") {
				t.Error("the author is not told")
			}
		}
		_, summary, _ := withPriors(t, text, harbour(), "mode.priorSummaries=verbatim")
		if want := (compress.ReportPriors{Policy: "requested-no-prior-summaries"}); summary.Priors != want {
			t.Errorf("%s without any: %+v", mode, summary.Priors)
		}
	}
}

// TestTheLongestPriorThatIsKept finds where the budget ends: one and a half times the
// summary's characters hold the priors, and 4,000 for what followed.
func TestTheLongestPriorThatIsKept(t *testing.T) {
	for mode, text := range modes {
		for _, chars := range []int{4000, 4001, 7000} {
			t.Run(fmt.Sprint(mode, " ", chars), func(t *testing.T) {
				try := func(n int) (string, compress.ReportSummary, *modelWorld) {
					return withPriors(t, text, afterPrior(priorOf(n), 4), "mode.priorSummaries=verbatim", fmt.Sprint("budgets.summaryChars=", chars))
				}
				low, high := 500, chars*3/2 // kept, and not
				for high-low > 1 {
					n := (low + high) / 2
					if _, s, _ := try(n); s.Priors.Policy == "verbatim-preserved" {
						low = n
					} else {
						high = n
					}
				}
				live, _, _ := try(low)
				block, _, _ := strings.Cut(live, whatFollowed)
				left := chars*3/2 - runesOf(block+whatFollowed)
				if left != 4000 || !strings.Contains(live, priorOf(low)) || runesOf(live) > chars*3/2 {
					t.Errorf("with a prior of %d characters %d are left, and the text has %d", low, left, runesOf(live))
				}
				live, summary, m := try(low + 1)
				if p := summary.Priors; p.Policy != "fallback-folded" || p.Count != 1 || p.Chars != low+1 || !strings.Contains(p.Reason, fmt.Sprint(chars*3/2)) || !strings.Contains(p.Reason, fmt.Sprint(low+1)) {
					t.Errorf("%+v", p)
				}
				if strings.Contains(live, whatFollowed) || runesOf(live) > chars {
					t.Errorf("the prior is kept, or the text has %d characters", runesOf(live))
				}
				if !slices.ContainsFunc(m.report().Warnings, func(w compress.Warning) bool { return w.Rule == "priors-folded" }) {
					t.Error("nobody is warned")
				}
				validate(t, "report", m.reports()["x"])
			})
		}
	}
}

// Whatever the sizes, the text keeps within its budget, and a prior is kept whole or
// not at all.
func TestAnyPrior(t *testing.T) {
	kept := map[bool]int{}
	rapid.Check(t, func(rt *rapid.T) {
		mode := rapid.SampledFrom([]string{"model", "deterministic"}).Draw(rt, "mode")
		chars := rapid.IntRange(4000, 12000).Draw(rt, "summaryChars")
		prior := priorOf(rapid.IntRange(100, 9000).Draw(rt, "prior"))
		if rapid.Bool().Draw(rt, "chinese") {
			prior = strings.ReplaceAll(prior, "Of old.", "很久以前。")
		}
		m := newModelWorld(t)
		m.text = modes[mode]
		m.put("/s/x.jsonl", afterPrior(prior, rapid.IntRange(3, 30).Draw(rt, "turns")))
		filler := fillers[rapid.SampledFrom([]string{"words", "han", "quotes"}).Draw(rt, "filler")]
		m.scribe.write = upTo(filler)
		set := []string{"mode.priorSummaries=verbatim", fmt.Sprint("budgets.summaryChars=", chars), "budgets.ratio=0.05", fmt.Sprint("budgets.tokens=", rapid.SampledFrom([]int{0, 9000, 20000}).Draw(rt, "tokens"))}
		r := m.run(set...)
		if r.Exit != 0 {
			if m.scribe.asked() > 0 {
				rt.Fatalf("%+v", r.Items)
			}
			return
		}
		file := m.out("x")
		oneLine(rt, file)
		live, limit := liveText(t, string(file)), chars
		whole := strings.Contains(live, whatFollowed) && strings.Contains(live, prior)
		if kept[whole]++; whole {
			limit = chars * 3 / 2
		}
		if p := m.report().Summary.Priors; runesOf(live) > limit || whole != (p.Policy == "verbatim-preserved") || whole == (p.Reason != "") {
			rt.Fatalf("the text has %d characters of %d; kept %t; %+v", runesOf(live), limit, whole, p)
		}
		if mode == "model" && !strings.Contains(live, proseOf(m.mustArtifact("author/answer"))) {
			rt.Fatal("the summary was changed")
		}
	})
	if kept[true] == 0 || kept[false] == 0 {
		t.Errorf("kept: %v", kept)
	}
}

// A session that is compressed again and again keeps every summary once.
func TestASessionThatIsCompressedOften(t *testing.T) {
	for mode, text := range modes {
		t.Run(mode, func(t *testing.T) {
			session, texts := afterPrior(priorOf(900), 4), []string{priorOf(900)}
			for round := 1; round <= 4; round++ {
				m := newModelWorld(t)
				m.text = text
				m.put("/s/x.jsonl", session)
				file := m.done(m.run("mode.priorSummaries=verbatim", "budgets.ratio=0.05"))
				live := liveText(t, file)
				for i, old := range texts {
					if strings.Count(live, strings.TrimSpace(old)) != 1 {
						t.Errorf("round %d: the text of round %d is there %d times", round, i, strings.Count(live, strings.TrimSpace(old)))
					}
				}
				if p := m.report().Summary.Priors; p.Count != 1 || p.Chars != runesOf(strings.TrimSpace(texts[len(texts)-1])) || p.Policy != "verbatim-preserved" {
					t.Errorf("round %d: %+v", round, p)
				}
				texts = append(texts, live)
				session = goOnWorking(file, round)
			}
		})
	}
}

// goOnWorking adds three turns to a session that ends with the last round's.
func goOnWorking(file string, round int) []byte {
	var b st.Builder
	last := fmt.Sprint("a", 1+3*round)
	addTurns(&b, last, 2+3*round, 4+3*round, fmt.Sprintf("2026-03-%02d", 2+round))
	return append([]byte(file), b.Bytes()...)
}
