package modelsummary_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// Everything wrong is told at once, by line.
func TestAllAtOnce(t *testing.T) {
	text := good
	for _, change := range []func(string) string{
		body("- The L2 cache.\n"), to("v11", "v10"), to("two. [L7]", "two. [L7, L9]"), to("## Decisions and Reasons", "## Decisions"),
		to("Ok, done.\"", "Done\""), drop("- L3 support_text_json=\"keep the old key — for now\" disposition=covered\n"),
		to("- The key is old. [L3]", "- I have no access to the transcript."), to("[H1, H3]", "[H1]"),
	} {
		text = change(text)
	}
	_, problems := ms.Check([]byte(text), expect())
	if diff := cmp.Diff([]string{
		"metadata-version 1: this is not the first line of a v11 comment",
		"line-uncited 15: L2 reads as part of a name here, so this line cites nothing",
		"anchor-kept 16: L9 is no record that this summary stands for",
		"heading-renamed 22: another heading stands where a required one belongs",
		"handoff-uncited 35: 1 required handoff line cited nowhere: H3",
		"coverage-lacks 39: 1 record without a coverage line: L3",
		"support-foreign 42: the excerpt for L2 is not in its record, though it differs only in case, white space, quotation marks or dashes",
		"section-uncited 48: this section cites nothing",
		"no-access 50: this line speaks of its author",
	}, told(problems)); diff != "" {
		t.Error(diff)
	}
}

// One fault of structure does not give dozens of problems.
func TestNoCascade(t *testing.T) {
	comment := good[:strings.Index(good, "\n\n")]
	for _, c := range []struct {
		what, text string
		want       []string
	}{
		{"a comment and no more", comment, []string{"coverage-missing", "group-uncited", "handoff-uncited", "heading-missing"}},
		{"cut in the coverage", good[:strings.Index(good, "Ok, done")], []string{"handoff-uncited", "coverage-lacks", "coverage-form", "heading-missing"}},
		{"cut in a section", good[:strings.Index(good, "- Nothing was")], []string{"coverage-missing", "handoff-uncited", "heading-missing", "section-uncited"}},
		{"in a fence", "```\n" + good + "```", []string{"metadata-first"}},
		{"the comment at the end", good[len(comment):] + comment, []string{"metadata-first"}},
		{"no comment", good[len(comment):], []string{"metadata-missing"}},
		{"deeper headings", strings.ReplaceAll(good, "\n#", "\n##"), slices.Repeat([]string{"heading-form"}, 11)},
		{"bold headings", strings.NewReplacer("\n## ", "\n**", "\n### ", "\n**").Replace(good), slices.Repeat([]string{"heading-form"}, 10)},
		{"an open fence at the start", swap(good, ms.Title, "```\n"+ms.Title), []string{"fence-open"}},
		{"an open comment at the start", swap(good, ms.Title, "<!--\n"+ms.Title), []string{"comment"}},
		{"coverage in a fence", swap(swap(good, "- L1 support", "```text\n- L1 support"), "## User", "```\n\n## User"), nil},
		{"coverage without heading in a fence", swap(swap(swap(good, ms.CoverageHeading, ""), "- L1 support", "```text\n- L1 support"), "## User", "```\n\n## User"),
			[]string{"coverage-missing"}},
		{"sections reversed", reversed(good), slices.Repeat([]string{"heading-order"}, 8)},
	} {
		_, problems := ms.Check([]byte(c.text), expect())
		var rules []string
		for _, p := range problems {
			rules = append(rules, p.Rule)
		}
		if diff := cmp.Diff(c.want, rules); diff != "" {
			t.Errorf("%s: %s", c.what, strings.Join(told(problems), "\n"))
		}
	}
}

// reversed turns the order of the sections round.
func reversed(text string) string {
	parts := strings.Split(text+"\n", "\n## ")
	slices.Reverse(parts[1:])
	return strings.Join(parts, "\n## ")
}

func TestReport(t *testing.T) {
	text := good
	for i := range 9 {
		text = body(fmt.Sprintf("- Nobody said %d.\n", i))(text)
	}
	text = swap(swap(text, "[H1, H3]", "[H1, H3, H4] and so on and so forth until the line is too long to be told"), "source_sha256: 1", "source_sha256: 2")
	_, problems := ms.Check([]byte(text), expect())
	want := `The summary is refused: 11 problems. Mend every one and give the whole summary again.

metadata-value (1)
- line 2: source_sha256 is not the pack's | source_sha256: 2d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0…
  To mend it: write: source_sha256: 1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e

line-uncited (9)
- line 15: this line cites nothing | - Nobody said 0.
- line 16: this line cites nothing | - Nobody said 1.
- line 17: this line cites nothing | - Nobody said 2.
- line 18: this line cites nothing | - Nobody said 3.
- line 19: this line cites nothing | - Nobody said 4.
- 4 more, at lines 20, 21, 22, 23
  To mend it: end it with the anchors it rests on, as [L12]; every line needs its own, so do not wrap lines

anchor-range (1)
- line 63, column 47: H4: the handoff lines are H1 to H3 | - The handoff begins and ends there. [H1, H3, H4] and so on …
  To mend it: cite an anchor that the pack shows; what is no citation does not stand in brackets of its own
`
	if diff := cmp.Diff(want, ms.Report(problems)); diff != "" {
		t.Error(diff)
	}
}

// However much is wrong, the report stays short; the problems have it all.
func TestReportIsBounded(t *testing.T) {
	e := expect()
	e.Records = 5000
	for n := 11; n <= e.Records; n++ {
		e.Summary, e.Shown = append(e.Summary, n), append(e.Shown, n)
		e.Claims[n] = "some words of it"
	}
	_, problems := ms.Check([]byte(body(strings.Repeat("- Nobody said this.\n", 3000))(good)), e)
	r := ms.Report(problems)
	if len(r) > 3000 {
		t.Error(len(r))
	}
	for _, part := range []string{
		"- 2995 more, at lines 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, …\n",
		"4990 records without a coverage line: L11, L12,", "L110 and 4890 more\n",
	} {
		if !strings.Contains(r, part) {
			t.Errorf("no %q in\n%s", part, r)
		}
	}
	if last := problems[len(problems)-1]; len(last.Anchors) != 4990 {
		t.Error(last.Rule, len(last.Anchors))
	}
}

func TestJSON(t *testing.T) {
	_, problems := ms.Check([]byte(swap(good, "[H1, H3]", "[H2]")), expect())
	got, err := json.Marshal(problems)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"rule":"handoff-uncited","line":34,"message":"2 required handoff lines cited nowhere: H1, H3",` +
		`"fix":"cite each in square brackets in a line that it supports","anchors":["H1","H3"]}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// Messages and fixes may be kept and shown anywhere, for they repeat nothing that
// was said.
func TestMessagesRepeatNothing(t *testing.T) {
	text := strings.NewReplacer("blue\\", "PLANTED\\", "Ok, done", "PLANTED", "## Decisions", "## PLANTED", "author", "PLANTED", "-->", "PLANTED: 1\n-->").Replace(good)
	text = body("PLANTED\n===\n- PLANTED <!-- PLANTED\n- I have no access to the PLANTED file\n```PLANTED\nPLANTED\n```\n")(strings.ReplaceAll(text, line, "") + line)
	_, problems := ms.Check([]byte(text), expect())
	for _, p := range problems {
		if strings.Contains(p.Message+p.Fix, "PLANTED") {
			t.Error(p)
		}
	}
	if len(problems) < 8 {
		t.Error(told(problems))
	}
}
