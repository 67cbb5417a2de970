package compress_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// The files beside the sessions: word lists, and what a person hands over.

// drawers is a session with results of tools that no list of the program speaks of.
func drawers() []byte {
	return opened(6, func(i int) string {
		return fmt.Sprintf("in it lies a %s", []string{"spoon", "zebrawood box", "napkin", "candle", "spoon of old", "lamp"}[i])
	})
}

// opened is a session in which drawers are opened, with what a tool finds in each.
func opened(n int, found func(i int) string) []byte {
	var b st.Builder
	parent := ""
	for i := range n {
		u, c, r, a := fmt.Sprint("u", i), fmt.Sprint("c", i), fmt.Sprint("r", i), fmt.Sprint("a", i)
		b.User(u, parent, fmt.Sprintf("Please open drawer number %d for me.", i))
		b.Assistant(c, u, "m"+c, st.Use("t"+r, "Bash", map[string]any{"command": "open"}))
		b.Result(r, c, "t"+r, found(i))
		b.Assistant(a, r, "m"+a, st.Text(fmt.Sprintf("Drawer %d is open now.", i)))
		parent = a
	}
	b.LastPrompt(parent)
	return b.Bytes()
}

// packRequest is the request digest that the comment of a pack gives.
var packRequest = regexp.MustCompile(`pack_request_digest: (\w+)`)

func TestTermsRankTheEvidence(t *testing.T) {
	try := func(terms string) (pack, request string, m *modelWorld) {
		m = newModelWorld(t)
		m.put("/s/x.jsonl", drawers())
		set := []string{"budgets.ratio=0.05"}
		if terms != "" {
			m.put("/terms.txt", []byte(terms))
			set = append(set, "author.terms=terms.txt")
		}
		m.done(m.run(set...))
		pack = m.mustArtifact("pack/pack")
		return pack, packRequest.FindStringSubmatch(pack)[1], m
	}
	plain, request, m := try("")
	if strings.Contains(plain, "zebrawood") || strings.Contains(plain, "napkin") {
		t.Fatal("what lies in the drawers is shown without terms")
	}
	report := m.report().Digests["request"]
	pack, other, m := try("furniture = zebrawood | ebony\n")
	if !strings.Contains(pack, "zebrawood box") || strings.Contains(pack, "napkin") || other == request || m.report().Digests["request"] == report {
		t.Errorf("with terms the request is %s, without %s", other, request)
	}
	again, same, _ := try("furniture = zebrawood | ebony\n")
	if again != pack || same != other {
		t.Error("the same terms give another pack")
	}
	if both, third, _ := try("furniture = zebrawood\nlinen = napkin\n"); !strings.Contains(both, "zebrawood box") || !strings.Contains(both, "napkin") || third == other {
		t.Error("the second list does not count")
	}
	// A rule counts more than the last of some topics, whatever stands later.
	order := "constraint = candle\na = a1\nb = b1\nlinen = napkin\n"
	if pack, _, _ := try(order); !strings.Contains(pack, "a candle") || !strings.Contains(pack, "a napkin") {
		t.Error("rules and topics do not count")
	}
}

// The terms decide what is shown where there is no room for all.
func TestTermsDecideWhatThereIsRoomFor(t *testing.T) {
	session := opened(12, func(i int) string {
		return firstRunes(fmt.Sprintf("in it lies a %s, number %d; ", []string{"napkin", "candle"}[i%2], i), 850)
	})
	shown := func(terms string) (napkins, candles int) {
		m := newModelWorld(t)
		m.put("/s/x.jsonl", session)
		m.put("/terms.txt", []byte(terms))
		m.done(m.run("budgets.ratio=0.05", "author.terms=terms.txt", "budgets.packChars=16000"))
		for line := range strings.Lines(m.mustArtifact("pack/pack")) {
			napkins += min(1, strings.Count(line, "a napkin"))
			candles += min(1, strings.Count(line, "a candle"))
		}
		return napkins, candles
	}
	if n, c := shown("a = napkin\nb = candle\n"); n <= c {
		t.Errorf("napkins first: %d of them, %d candles", n, c)
	}
	if n, c := shown("b = candle\na = napkin\n"); c <= n {
		t.Errorf("candles first: %d of them, %d napkins", c, n)
	}
}

func TestTermsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		what, class string
		put         func(m *modelWorld)
	}{
		{"missing", "terms-unreadable", func(*modelWorld) {}},
		{"empty", "terms-empty", func(m *modelWorld) { m.put("/terms.txt", []byte("\ufeff \n\n")) }},
		{"without a list", "terms-empty", func(m *modelWorld) { m.put("/terms.txt", []byte("# topics\nzebrawood\n")) }},
		{"with empty lists", "terms-empty", func(m *modelWorld) { m.put("/terms.txt", []byte("furniture =\nconstraint = | |\n")) }},
		{"bytes", "terms-not-text", func(m *modelWorld) { m.put("/terms.txt", []byte("a = \xff\xfe")) }},
		{"a folder", "terms-not-a-file", func(m *modelWorld) { _ = m.fs.Mkdir("/terms.txt", 0o700) }},
	} {
		t.Run(c.what, func(t *testing.T) {
			m := newModelWorld(t)
			m.put("/s/x.jsonl", drawers())
			c.put(m)
			i := m.refusedWith(m.run("author.terms=terms.txt"), c.class)
			if i.Place.File != "/terms.txt" || m.scribe.asked() > 0 || strings.Contains(i.Message, "zebrawood") {
				t.Errorf("asked %d times: %+v", m.scribe.asked(), i)
			}
		})
	}
}

// Another word list makes another pack, and a plan says so; a run that waits is not
// gone on with.
func TestTermsThatChange(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", drawers())
	m.put("/terms.txt", []byte("furniture = zebrawood\n"))
	const set = "author.terms=terms.txt"
	m.done(m.run(set))
	m.put("/terms.txt", []byte("linen = napkin\n"))
	p, err := m.engine().Plan(context.Background(), m.job(set), engine.Options{})
	i := p.Items[0]
	at := slices.IndexFunc(i.Steps, func(s engine.PlannedStep) bool { return s.Step == "pack" })
	if err != nil || i.Status != step.WouldRun || at < 0 || i.Steps[at].Reason == nil || !strings.Contains(i.Steps[at].Reason.Component, "terms") {
		t.Errorf("%+v, %v", i, err)
	}
	m.done(m.run(set))
	if m.scribe.asked() != 2 {
		t.Errorf("asked %d times", m.scribe.asked())
	}
	w := newModelWorld(t)
	w.text = byFile
	w.put("/s/x.jsonl", drawers())
	w.put("/terms.txt", []byte("furniture = zebrawood\n"))
	w.left(w.run(set), step.Waiting, "waiting", 4)
	answer := w.written("x")
	w.put("/terms.txt", []byte("linen = napkin\n"))
	r, err := w.resume(answer)
	if i := r.Items[0]; i.Status != step.Refused || !strings.Contains(i.Class+i.Message, "changed") && !strings.Contains(i.Message, "terms") {
		t.Errorf("%+v, %v", i, err)
	}
}

const handedOver = "Mind the gap.\nThe lamp is lent.\n\nThe key is under the mat.\nLast: feed the cat.\n"

// The lines of a handoff are evidence: some of them must be cited, and the text says
// what the numbers are.
func TestAHandoffForAModel(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", harbour())
	m.put("/handoff.txt", []byte(handedOver))
	lines := regexp.MustCompile(`(?m)^.*\[H\d+\]$`)
	m.scribe.write = func(c call) string {
		text := good(c)
		if len(c.answers) == 0 {
			text = lines.ReplaceAllString(text, "- Nothing here [L1]")
		}
		return text
	}
	live := liveText(t, m.done(m.run("input.handoff=handoff.txt")))
	pack := m.mustArtifact("pack/pack")
	// Of five lines: the first, the middle one, that of two thirds, and the last.
	for _, group := range []string{"`handoff-early`: H1\n", "`handoff-middle`: H3\n", "`handoff-late`: H4\n", "`handoff-latest`: H5\n"} {
		if !strings.Contains(pack, "- "+group) {
			t.Errorf("the pack has no group %q", group)
		}
	}
	if n := m.scribe.asked(); n != 2 || !strings.Contains(m.scribe.calls[1].reports[0], "handoff-uncited") {
		t.Fatalf("asked %d times", n)
	}
	for _, h := range []string{"H1", "H3", "H4", "H5"} {
		if !strings.Contains(m.scribe.calls[1].reports[0], h) || !strings.Contains(live, "["+h+"]") {
			t.Errorf("%s is not asked for, or not cited", h)
		}
	}
	about, _, _ := strings.Cut(live, "# Model-Assisted")
	if !strings.Contains(about, "[H…] of a line of the handoff") {
		t.Errorf("it begins with %s", about)
	}
	_, appendix, _ := strings.Cut(live, "# Appendix")
	if strings.Contains(appendix, "Mind the gap") {
		t.Error("the appendix repeats the handoff")
	}
	if about, _, _ := strings.Cut(liveText(t, straight(t, harbour(), good)), "# Model-Assisted"); strings.Contains(about, "[H") {
		t.Errorf("without a handoff it begins with %s", about)
	}
}

// Another handoff is other evidence, asked about anew.
func TestAHandoffThatChanges(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", harbour())
	const set = "input.handoff=handoff.txt"
	m.put("/handoff.txt", []byte(handedOver))
	m.done(m.run(set))
	m.put("/handoff.txt", []byte("Mind the step.\n"))
	live := liveText(t, m.done(m.run(set)))
	if m.scribe.asked() != 2 || !strings.Contains(live, "Mind the step") {
		t.Errorf("asked %d times: %s", m.scribe.asked(), live)
	}
	for what, c := range map[string]struct{ class, text string }{"empty": {"handoff-empty", " \n"}, "bytes": {"handoff-not-text", "\xff\xfe"}} {
		m.put("/handoff.txt", []byte(c.text))
		m.refusedWith(m.run(set), c.class)
		if m.scribe.asked() != 2 {
			t.Errorf("%s: asked %d times", what, m.scribe.asked())
		}
	}
	w := newModelWorld(t)
	w.put("/s/x.jsonl", harbour())
	w.scribe.write = bad
	w.put("/handoff.txt", []byte(handedOver))
	w.left(w.run(set), step.Failed, "summary-refused", 1)
	w.put("/handoff.txt", []byte("Mind the step.\n"))
	w.scribe.write = good
	r, err := w.resume()
	refused := new(step.Refusal)
	if len(r.Items) == 1 && r.Items[0].Status != step.Refused || errors.As(err, &refused) || w.scribe.asked() != 4 {
		t.Errorf("%+v, %v, asked %d times", r.Items, err, w.scribe.asked())
	}
}

// In a fold of parts the handoff is for the last pack.
func TestAHandoffAndParts(t *testing.T) {
	m := newModelWorld(t)
	m.put("/s/x.jsonl", talk(60, 600))
	m.put("/handoff.txt", []byte(handedOver))
	live := liveText(t, m.done(m.run(append(slices.Clone(inParts), "input.handoff=handoff.txt")...)))
	for n := range m.parts() {
		if strings.Contains(m.mustArtifact(fmt.Sprintf("pack/pack-%d", n+1)), "Mind the gap") {
			t.Errorf("part %d has the handoff", n+1)
		}
	}
	if !strings.Contains(m.mustArtifact("merge/pack"), "- H1 full_text_json=\"Mind the gap.") || !strings.Contains(live, "[H5]") {
		t.Error("the last pack has no handoff, or the text cites it not")
	}
}
