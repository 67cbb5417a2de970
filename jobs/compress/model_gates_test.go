package compress_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// Hard limits, and authors that write as much as they may.

// within demands of a run with a gate that it is done and meets it, or was refused
// before anybody was asked: a summary that is paid for is not thrown away.
func (m *modelWorld) within(t testing.TB, what string, set ...string) bool {
	t.Helper()
	r := m.run(set...)
	i := r.Items[0]
	if i.Status != step.Done {
		if i.Status != step.Refused || m.scribe.asked() > 0 {
			t.Errorf("%s: %s %s after %d calls: %s", what, i.Status, i.Class, m.scribe.asked(), i.Message)
		}
		return false
	}
	report := m.report()
	for _, g := range report.Gates {
		if !g.OK || g.Value > g.Limit {
			t.Errorf("%s: %s is %d, the limit %d", what, g.Name, g.Value, g.Limit)
		}
	}
	file := string(m.out("x"))
	b := m.job(set...).Budgets
	if size := int64(len(file)); b.Bytes > 0 && size > b.Bytes {
		t.Errorf("%s: the file has %d bytes", what, size)
	}
	live := liveText(t, file)
	if n := runesOf(live); n > b.SummaryChars {
		t.Errorf("%s: the text has %d characters", what, n)
	}
	if taken := m.scribe.calls[m.scribe.asked()-1]; !strings.Contains(live, proseOf(m.scribe.write(taken))) {
		t.Errorf("%s: the summary was changed", what)
	}
	return true
}

// TestAuthorsThatWriteAsMuchAsTheyMay try each density against each limit.
func TestAuthorsThatWriteAsMuchAsTheyMay(t *testing.T) {
	sessions := map[string][]byte{
		"english": talk(40, 300),
		"chinese": []byte(strings.NewReplacer("of the person, in words", "请不要删除旧的记录", "of the agent, in words", "已经备份并且写入").Replace(string(talk(40, 300)))),
		"tools":   testdata(t, "sessions/2.1.332-edits.jsonl"),
	}
	for name, session := range sessions {
		for filler, text := range fillers {
			t.Run(name+"/"+filler, func(t *testing.T) {
				done, refused := 0, 0
				for _, gate := range []string{
					"budgets.tokens=2000", "budgets.tokens=3000", "budgets.tokens=4500", "budgets.tokens=8000", "budgets.tokens=20000",
					"budgets.bytes=9000", "budgets.bytes=15000", "budgets.bytes=25000", "budgets.bytes=50000",
				} {
					for _, chars := range []string{"4000", "60000"} {
						m := newModelWorld(t)
						m.put("/s/x.jsonl", session)
						m.scribe.write = upTo(text)
						set := []string{gate, "budgets.summaryChars=" + chars, "budgets.keepRecords=4", "budgets.ratio=0.95"}
						if m.within(t, strings.Join(set, " "), set...) {
							done++
						} else {
							refused++
						}
					}
				}
				if done == 0 || refused == 0 {
					t.Errorf("%d were done, %d refused", done, refused)
				}
			})
		}
	}
}

// What the prompt allows, a text of plain letters may have.
func TestWhatThePromptAllows(t *testing.T) {
	for _, gate := range []string{"budgets.tokens=4000", "budgets.tokens=12000", "budgets.bytes=25000", "budgets.bytes=60000"} {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", talk(40, 300))
		m.scribe.write = func(c call) string {
			return strings.NewReplacer("“", "'", "”", "'").Replace(padded(c, fillers["words"], c.maxChars()))
		}
		if !m.within(t, gate, gate, "budgets.summaryChars=9000", "budgets.keepRecords=4", "budgets.ratio=0.95") || m.scribe.asked() != 1 {
			t.Errorf("%s: asked %d times", gate, m.scribe.asked())
		}
	}
}

// A summary that is too long goes back with the numbers, and a shorter one passes.
func TestASummaryThatIsTooLong(t *testing.T) {
	for filler, text := range fillers {
		t.Run(filler, func(t *testing.T) {
			m := newModelWorld(t)
			m.put("/s/x.jsonl", talk(40, 300))
			m.scribe.write = func(c call) string {
				if len(c.reports) == 0 {
					return padded(c, text, c.maxChars()+1)
				}
				return padded(c, text, c.maxChars()/4)
			}
			m.done(m.run("budgets.summaryChars=9000"))
			c := m.scribe.calls[m.scribe.asked()-1]
			want := fmt.Sprintf("has %d characters; the limit is %d", c.maxChars()+1, c.maxChars())
			if m.scribe.asked() != 2 || !strings.Contains(c.reports[0], "too-long") || !strings.Contains(c.reports[0], want) || !strings.Contains(c.reports[0], "shorten it by 1 character ") {
				t.Errorf("asked %d times, told %q", m.scribe.asked(), c.reports)
			}
		})
	}
}

// One character less is not too long.
func TestASummaryOfTheGreatestLength(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", talk(40, 300))
	m.scribe.write = func(c call) string { return padded(c, fillers["words"], c.maxChars()) }
	live := liveText(t, m.done(m.run("budgets.summaryChars=9000", "budgets.tokens=0")))
	if n := runesOf(live); n > 9000 || n < 8990 || m.scribe.asked() != 1 {
		t.Errorf("the text has %d characters, asked %d times", n, m.scribe.asked())
	}
}

// The appendix is whole as long as there is room for the last of its characters.
func TestTheAppendixFillsTheRoom(t *testing.T) {
	const limit = 9000
	text := func(chars int) string {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", talk(20, 100))
		m.scribe.write = func(c call) string { return padded(c, fillers["words"], chars) }
		return liveText(t, m.done(m.run(fmt.Sprint("budgets.summaryChars=", limit))))
	}
	const short = 3000
	exact := short + limit - runesOf(text(short))
	for more := -2; more <= 3; more++ {
		live := text(exact + more)
		if n := runesOf(live); n > limit || more <= 0 && n != limit+more || strings.HasSuffix(live, "[…]\n") != (more > 0) {
			t.Errorf("with %d more than fit the text has %d characters of %d", more, n, limit)
		}
	}
}

// The limit in tokens is what the gate leaves: a summary of wide characters goes back
// with the numbers though it is not too long in characters.
func TestASummaryThatIsTooHeavy(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", talk(40, 300))
	m.scribe.write = upTo(fillers["han"])
	m.done(m.run("budgets.tokens=6000", "budgets.ratio=0.95", "budgets.summaryChars=9000"))
	if m.scribe.asked() < 2 || !strings.Contains(m.scribe.calls[1].reports[0], "estimated tokens; the limit is ") {
		t.Fatalf("asked %d times", m.scribe.asked())
	}
	var size, limit int
	_, rest, _ := strings.Cut(m.scribe.calls[1].reports[0], "coverage lines has ")
	_, _ = fmt.Sscanf(rest, "%d estimated tokens; the limit is %d", &size, &limit)
	if got := tokens.Text(proseOf(m.scribe.calls[1].answers[0]) + "\n"); got != size || size <= limit {
		t.Errorf("it says %d of %d estimated tokens, and they are %d", size, limit, got)
	}
}

// With embed: full all of the answer counts, and goes into the session.
func TestAllOfTheAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModelWorld(t)
		turns := rapid.IntRange(3, 60).Draw(rt, "turns")
		m.put("/s/x.jsonl", talk(turns, rapid.IntRange(20, 500).Draw(rt, "size")))
		filler := rapid.SampledFrom([]string{"words", "han", "quotes"}).Draw(rt, "filler")
		m.scribe.write = func(c call) string {
			chars := c.maxChars()
			for _, r := range c.reports {
				chars = shortened(chars, r)
			}
			text := good(c)
			return filledUp(text, fillers[filler], chars, runesOf(strings.TrimSpace(text)))
		}
		const line = 120 // with its excerpt, for each of the two records of a turn
		chars := 6000 + 2*turns*line + rapid.IntRange(0, 20000).Draw(rt, "more")
		i := m.run("mode.embed=full", fmt.Sprint("budgets.summaryChars=", chars), "budgets.ratio=0.05").Items[0]
		if i.Status != step.Done {
			if i.Status != step.Refused || m.scribe.asked() > 0 {
				rt.Fatalf("%s %s after %d calls: %s", i.Status, i.Class, m.scribe.asked(), i.Message)
			}
			return
		}
		answer := strings.TrimSpace(m.scribe.write(m.scribe.calls[m.scribe.asked()-1]))
		if live := liveText(t, string(m.out("x"))); !strings.Contains(live, answer) || runesOf(live) > chars {
			rt.Fatalf("the text has %d of %d characters, or not all of the answer", runesOf(live), chars)
		}
	})
}

// Another embed is another summary: its limit is another one.
func TestAnotherEmbed(t *testing.T) {
	for _, order := range [][]string{{"prose", "full"}, {"full", "prose"}} {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", talk(40, 300))
		m.scribe.write = func(c call) string {
			if !strings.Contains(c.prompt, "coverage lines too") {
				return padded(c, fillers["words"], c.maxChars())
			}
			return filledUp(good(c), fillers["words"], c.maxChars(), runesOf(strings.TrimSpace(good(c))))
		}
		for _, embed := range order {
			set := []string{"budgets.summaryChars=20000", "mode.embed=" + embed}
			live := liveText(t, m.done(m.run(set...)))
			if n := runesOf(live); n > 20000 || n < 19900 {
				t.Errorf("%v: with %s the text has %d characters", order, embed, n)
			}
			if strings.Contains(live, "support_text_json=") != (embed == "full") {
				t.Errorf("%v: with %s the text has coverage lines, or none", order, embed)
			}
		}
		if m.scribe.asked() != 2 {
			t.Errorf("%v: asked %d times", order, m.scribe.asked())
		}
	}
}
