package pack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// The digests, computed again from what they are of.
func TestHeaderOfAPack(t *testing.T) {
	lines := []string{user(`"Hi."`), answer(`{"type":"text","text":"Yes, because \u2028 é."}`), result("", "error /a/b.c")}
	src := open(t, []byte(strings.Join(lines, "\r\n")))
	r := request(3)
	r.Binding.Handoff = []byte("one\ntwo")
	p := mustBuild(t, src, r)
	want := modelsummary.Header{
		Source:        fmt.Sprintf("%x", src.SHA256),
		SummarySource: sha(strings.Join(lines, "\n")),
		Anchors:       sha("1,2,3")[:16],
		Groups:        sha(`{"assistant-research":[2],"human-user":[1],"latest-evidence":[3],"semantic-assistant-semantic-L000000002":[2],"semantic-human-user-L000000001":[1],"source-tool":[3],"temporal-early":[1],"temporal-late":[3],"temporal-middle":[2]}`)[:16],
		Handoff:       sha("one\ntwo"),
		Request:       p.Header.Request,
		Claims:        sha("{\"1\":\"Hi.\",\"2\":\"Yes, because \u2028 é.\"}"),
	}
	if d := cmp.Diff(want, p.Header); d != "" {
		t.Error(d)
	}
	if !bytes.Contains(p.Text, []byte("\n\n"+want.Comment()+"\n\n")) {
		t.Error("the comment is not in the text")
	}
}

func TestRequestDigestBindsTerms(t *testing.T) {
	digest := func(r Request) string { return mustBuild(t, open(t, nil), r).Header.Request }
	base := digest(request(0))
	if base != digest(request(0)) {
		t.Error("not a function of the request")
	}
	other := request(0)
	other.Terms.Words = append(other.Terms.Words, "flux")
	twice := request(0)
	twice.Terms.Words = append(twice.Terms.Words, " ", twice.Terms.Words[0])
	if digest(other) == base || digest(twice) != base {
		t.Error("the digest does not follow the words")
	}
	given := request(0)
	given.Binding.SummaryTemplate, given.Binding.ImportanceWords, given.Binding.TopicPatterns = "x", "y", "z"
	if digest(given) != base {
		t.Error("digests can be given")
	}
	renamed := request(0)
	renamed.Terms.Topics[0].Name = "flux"
	if digest(renamed) == base {
		t.Error("the digest does not follow the topics")
	}
}

func TestEmptyPack(t *testing.T) {
	p := mustBuild(t, open(t, []byte(user(`"Hi."`))), request(0))
	want := modelsummary.Header{
		Source: p.Header.Source, Request: p.Header.Request, Handoff: "none",
		SummarySource: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		Anchors:       "e3b0c44298fc1c14", Groups: "44136fa355b3678a",
		Claims: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
	}
	if d := cmp.Diff(want, p.Header); d != "" || len(p.Groups) > 0 || len(p.Claims) > 0 || p.Truncated() {
		t.Error(d, p)
	}
	for _, s := range []string{"Folded records: none\n", "No group needs an anchor", "No handoff anchor", "No claim", "No handoff was supplied", "left out: e3b0c44298fc1c14\n- Reasons: {}"} {
		if !strings.Contains(string(p.Text), s) {
			t.Errorf("%q is missing", s)
		}
	}
}

// Records count from 1 in what is expected, and not only those of the pack.
func TestExpect(t *testing.T) {
	src := open(t, []byte(strings.Join([]string{user(`"Hi."`), answer(`{"type":"text","text":"Yes."}`), user(`"More."`), result("", "routine"), user(`"Bye."`)}, "\n")))
	r := request(0)
	r.Fold = []int{3, 1, 0}
	r.Binding.Handoff = []byte("one\ntwo\n")
	p := mustBuild(t, src, r)
	want := modelsummary.Expect{
		Header: p.Header, Records: 5, Summary: []int{4, 2, 1}, Shown: []int{1, 2},
		Groups: map[string]int{
			"human-user": 1, "latest-evidence": 1, "temporal-middle": 2, "temporal-late": 1,
			"semantic-human-user-L000000001": 1, "semantic-assistant-semantic-L000000002": 2,
		},
		HandoffLines: 2, HandoffGroups: map[string]int{"handoff-early": 1, "handoff-late": 2},
		Claims: map[int]string{1: "Hi.", 2: "Yes."},
	}
	if d := cmp.Diff(want, p.Expect()); d != "" {
		t.Error(d)
	}
}

// The parts of a pack in order, and what stands in each.
func TestTextOrder(t *testing.T) {
	r := request(2)
	r.Binding.Handoff = []byte("one\n\nthree\u2028")
	text := string(mustBuild(t, open(t, []byte(user(`"Hi."`)+"\n"+answer(`{"type":"text","text":"Yes."}`))), r).Text)
	at := 0
	for _, s := range []string{
		"# Evidence Pack v11", "\n## Required Output Metadata\n", "\n" + modelsummary.Marker + "\n", "\n## Compression Context\n", "- Source: SOURCE_JSONL\n",
		"\n## Required Model Behavior\n", "\n## Required Final Summary Shape\n", modelsummary.Title + "\n## Current State\n", "\n" + modelsummary.EvidenceSection + "\n" + modelsummary.CoverageHeading + "\n## User Wording",
		"\n## Required Anchor Coverage\n\n- `human-user`: L1\n- `latest-evidence`: L2\n- `semantic-assistant-semantic-L000000002`: L2\n- `semantic-human-user-L000000001`: L1\n- `temporal-early`: L1\n- `temporal-middle`: L2\n",
		"\n## Required Handoff Anchor Coverage\n\n- `handoff-early`: H1\n- `handoff-middle`: H2\n- `handoff-latest`: H3\n",
		"\n## Required Claim Support\n\n- L1\n- L2\n", "\n## Evidence Records\n\n- L1 type=", "\n- L2 type=",
		"\n\n## External Handoff Summary\n\n- H1 full_text_json=\"one\\n\"\n- H2 full_text_json=\"\\n\"\n- H3 full_text_json=\"three\\u2028\"\n",
	} {
		i := strings.Index(text[at:], s)
		if i < 0 {
			t.Fatalf("%q is missing or out of order in\n%s", s, text)
		}
		at += i + len(s) - 1
	}
	if at != len(text)-1 {
		t.Errorf("there is more: %q", text[at:])
	}
}

func TestHandoffGroups(t *testing.T) {
	for n, want := range map[int]map[string]int{
		0: {},
		1: {"handoff-early": 1},
		2: {"handoff-early": 1, "handoff-late": 2},
		3: {"handoff-early": 1, "handoff-middle": 2, "handoff-latest": 3},
		4: {"handoff-early": 1, "handoff-middle": 2, "handoff-late": 3, "handoff-latest": 4},
		9: {"handoff-early": 1, "handoff-middle": 5, "handoff-late": 6, "handoff-latest": 9},
	} {
		if got := asMap(handoffGroups(n)); !maps.Equal(got, want) {
			t.Errorf("%d lines: %v", n, got)
		}
	}
}

// A summary depends on the instructions, not on the records alone. The digests
// are computed again from what a pack shows.
func TestRequestDigestBindsTemplate(t *testing.T) {
	r := request(0)
	p := mustBuild(t, open(t, nil), r)
	part := func(from, to string) string {
		_, rest, _ := strings.Cut(string(p.Text), from)
		text, _, _ := strings.Cut(rest, to)
		return text
	}
	template := part("## Required Model Behavior\n\n", "\n## Required Final") + part("in this order:\n\n", "\n"+anchorsHeading)
	if TemplateDigest() != sha(template) {
		t.Errorf("not the digest of %q", template)
	}
	r.Binding.SummaryTemplate = sha(template)
	r.Binding.ImportanceWords, r.Binding.TopicPatterns, _ = r.Terms.Digests()
	if want, err := r.Binding.Digest(); err != nil || p.Header.Request != want {
		t.Errorf("%s, want %s, %v", p.Header.Request, want, err)
	}
}

// Optional evidence comes in by importance: where the room ends, what is less
// important is missing.
func TestOrderOfImportance(t *testing.T) {
	ranked := []string{
		`{"type":"attachment","attachment":{"type":"queued_command","prompt":"Wait."}}`,
		result(`,"is_error":true`, "something went bad"),
		result("", "it must stay as it is"),
		result("", "the plan is settled on"),
		result("", "that part was superseded"),
		result("", "ok because the other one was first"),
		result("", "an error that nobody looked into"),
		result("", "the first line of src/main.go"),
	}
	for i := range ranked[1:] { // the less important the longer
		ranked[i+1] = strings.Replace(ranked[i+1], `"}]}}`, strings.Repeat(" x", 20*(i+1))+`"}]}}`, 1)
	}
	lines := append([]string{user(`"Hi."`)}, ranked...)
	slices.Reverse(lines[1:])
	for range 30 { // keep the groups to the ends
		lines = append(lines, `{"type":"progress"}`)
	}
	lines = append(lines, result(`,"is_error":true`, "must /a/b"), user(`"Bye."`))
	src := open(t, []byte(strings.Join(lines, "\n")))
	r := request(len(lines))
	all := mustBuild(t, src, r)
	for r.Binding.PackChars = all.Chars + 500; ; r.Binding.PackChars -= 40 {
		p, err := Build(src, r)
		if err != nil {
			break
		}
		shown := 0
		for i := range ranked {
			if slices.Contains(p.Anchors, 1+len(ranked)-i) {
				shown++
				if shown != i+1 {
					t.Fatalf("%d characters: %v are shown", r.Binding.PackChars, p.Anchors)
				}
			}
		}
	}
}

func TestTooLarge(t *testing.T) {
	src := open(t, []byte(user(`"Hi."`)+"\n"+result("", "error error")+"\n"+answer(`{"type":"text","text":"好"}`)))
	r := request(3)
	r.Binding.PackChars, r.Binding.PackTokens = 100, 20
	_, err := Build(src, r)
	e, ok := errors.AsType[*TooLarge](err)
	if !ok {
		t.Fatal(err)
	}
	want := fmt.Sprintf("the evidence that may not be cut needs a pack of %d characters and %d tokens; the ceilings are 100 (budgets.packChars) and 20 (budgets.packTokens)", e.Chars, e.Tokens)
	if next := "raise the ceilings as far as the model can read, or fold in parts with author.fold: staged"; e.Next() != next {
		t.Errorf("next: %s", e.Next())
	}
	if err.Error() != want || e.First != 1 || e.Last != 3 {
		t.Errorf("%v, L%d to L%d", err, e.First, e.Last)
	}
	// What is needed is enough, and no less is.
	for _, less := range []struct{ chars, tokens int }{{0, 0}, {1, 0}, {0, 1}} {
		r.Binding.PackChars, r.Binding.PackTokens = e.Chars-less.chars, e.Tokens-less.tokens
		p, err := Build(src, r)
		if fits := less.chars+less.tokens == 0; (err == nil) != fits {
			t.Errorf("%d characters and %d tokens less: %v", less.chars, less.tokens, err)
		}
		if err == nil && (p.Chars > e.Chars || p.Tokens > e.Tokens) {
			t.Errorf("%d characters, %d tokens", p.Chars, p.Tokens)
		}
	}
}

func TestParts(t *testing.T) {
	src := open(t, []byte(user(`"Hi."`)+"\n"+result("", "error")+"\n"+user(`"Now this."`)+"\n"+result("", "error")))
	r := request(4)
	r.Parts = []Part{{2, "The first [L1]."}, {4, "The second [L3]."}}
	p := mustBuild(t, src, r)
	want := "- L2 type=user role=user evidence_class=prior-summary full_text_json=\"The first [L1].\"\n" +
		"- L4 type=user role=user evidence_class=prior-summary full_text_json=\"The second [L3].\"\n"
	if got := evidenceLines(p); got != want {
		t.Error(got)
	}
	groups := map[string]int{"prior-summary-L2": 2, "prior-summary-L4": 4, "latest-evidence": 4, "temporal-early": 2, "temporal-late": 4}
	if !maps.Equal(p.Groups, groups) || p.Priors != 2 || len(p.Claims) != 2 {
		t.Errorf("%v, %d, %v", p.Groups, p.Priors, p.Claims)
	}
	if whole := mustBuild(t, src, request(4)); whole.Header.SummarySource != p.Header.SummarySource {
		t.Error("another source than that of the whole fold")
	}
	for _, parts := range [][]Part{{{3, "x"}}, {{2, "x"}, {2, "y"}, {4, "z"}}, {{5, "x"}}, {{4, " "}}, {}} {
		r.Parts = parts
		if _, err := Build(src, r); err == nil {
			t.Errorf("accepted: %v", parts)
		}
	}
}

func TestHandoffMustBeText(t *testing.T) {
	r := request(0)
	r.Binding.Handoff = []byte("\xff")
	if _, err := Build(open(t, nil), r); err == nil {
		t.Error("accepted")
	}
}

func TestLayoutOf(t *testing.T) {
	own := mustBuild(t, open(t, []byte(user(`"Hi."`))), request(1)).Text
	_, rest, _ := bytes.Cut(own, []byte("\n"))
	for _, tt := range []struct {
		name string
		text []byte
		want Layout
	}{
		{"ours", own, Own},
		{"ours with other line ends", append([]byte("\xef\xbb\xbf"), bytes.ReplaceAll(own, []byte("\n"), []byte("\r\n"))...), Own},
		{"another's", append([]byte("# Some other evidence pack v11\n"), rest...), Foreign},
		{"a summary", []byte(modelsummary.Header{}.Comment() + "\n\n" + shape()), NoPack},
		{"nothing", nil, NoPack},
	} {
		if got := LayoutOf(tt.text); got != tt.want {
			t.Errorf("%s: %d", tt.name, got)
		}
	}
}

// The pack of a session that the client wrote, as a whole.
func TestGolden(t *testing.T) {
	data := st.Read(t, repository, "testdata/sessions/2.1.332-edits.jsonl")
	src := open(t, data)
	r := request(0)
	for i := range len(src.Records) - 12 {
		if rec := &src.Records[i]; rec.UUID != 0 {
			r.Fold = append(r.Fold, i)
		}
	}
	r.Raw = 12
	r.Binding.Handoff = []byte("Tests ran on the other machine.\n")
	got := mustBuild(t, src, r).Text
	want, err := fs.ReadFile(golden, "edits.pack.md")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(string(want), string(got)))
	}
}
