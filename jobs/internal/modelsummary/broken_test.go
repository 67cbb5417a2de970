package modelsummary_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// broken is one break of a rule and everything that is reported then.
type broken struct {
	change func(string) string
	want   string // "rule line: message"
}

// to replaces one text of the good summary.
func to(from, to string) func(string) string {
	return func(s string) string { return swap(s, from, to) }
}

// body puts lines before line 15.
func body(lines string) func(string) string { return to(line, lines+line) }

// drop takes a text out.
func drop(text string) func(string) string { return to(text, "") }

func TestBroken(t *testing.T) {
	for _, table := range [][]broken{brokenText, brokenMetadata, brokenHeadings, brokenCoverage, brokenCitations, brokenLines} {
		for _, c := range table {
			t.Run(strings.Fields(c.want)[0], func(t *testing.T) {
				s, problems := ms.Check([]byte(c.change(good)), expect())
				if diff := cmp.Diff([]string{c.want}, told(problems)); diff != "" || s != nil {
					t.Error(diff)
				}
			})
		}
	}
}

var brokenText = []broken{
	{func(string) string { return "" }, "empty 1: the text is empty"},
	{func(string) string { return "\ufeff\r\n \r\n" }, "empty 1: the text is empty"},
	{func(string) string { return "\nI cannot write this.\nSorry." }, "no-summary 2: this text has neither the metadata comment nor any required heading"},
	{to("blue service runs", "bl\xffue service runs"), "encoding 15: bytes that are no UTF-8, in 1 line"},
	{to("blue service runs", "blue \x1b[31mservice runs"), "control 15: a control character"},
	{to("blue service runs", "blue service\x00 runs"), "control 15: a control character"},
	{func(s string) string { return strings.ReplaceAll(s, "[L3]", "[L3] \xc3") }, "encoding 23: bytes that are no UTF-8, in 3 lines"},
}

var brokenMetadata = []broken{
	{func(s string) string { return s[strings.Index(s, ms.Title):] }, "metadata-missing 1: the text does not begin with the metadata comment"},
	{func(s string) string { return "Here it is:\n\n" + s }, "metadata-first 1: text stands before the metadata comment"},
	{func(s string) string { return "```markdown\n" + s + "```\n" }, "metadata-first 1: the summary stands in a code fence"},
	{to("v11", "v10"), "metadata-version 1: this is not the first line of a v11 comment"},
	{to("<!--", " <!--"), "metadata-version 1: this is not the first line of a v11 comment"},
	{drop("-->\n"), "metadata-unclosed 1: the metadata comment is not closed"},
	{drop("evidence_anchor_lines_digest: 3d3f0c5e3d3f0c5e\n"), "metadata-lacks 1: 1 line of the metadata comment missing"},
	{to("-->", "author: me\n-->"), "metadata-unknown 9: the pack's comment has no such line"},
	{to("-->", "evidence_anchor_lines_digest: 3d3f0c5e3d3f0c5e\n-->"), "metadata-repeated 9: evidence_anchor_lines_digest stands twice in the comment"},
	{to("source_sha256: 1d", "source_sha256: 2d"), "metadata-value 2: source_sha256 is not the pack's"},
	{to("source_sha256: 2d", "source_sha256: 1d"), "metadata-value 3: summary_source_sha256 is not the pack's"},
	{to("3d3f0c5e3d3f0c5e", "3d3f0c5e"), "metadata-value 4: evidence_anchor_lines_digest is not the pack's"},
	{to("4d3f0c5e4d3f0c5e", "4D3F0C5E4D3F0C5E"), "metadata-value 5: required_anchor_groups_digest is not the pack's"},
	{to("digest: 5d", "digest: none5d"), "metadata-value 6: handoff_summary_digest is not the pack's"},
	{to("pack_request_digest: 6", "pack_request_digest: "), "metadata-value 7: pack_request_digest is not the pack's"},
	{to("sources_digest: 7", "sources_digest: 8"), "metadata-value 8: required_claim_sources_digest is not the pack's"},
	{to("pack_request_digest: ", "pack_request_digest:"), "metadata-form 7: pack_request_digest is not written letter for letter"},
	{to("\n-->", " -->"), "metadata-form 8: the comment does not end with a line of its own"},
	{to("\n-->", "\n\n-->"), "metadata-form 9: a blank line in the metadata comment"},
	{to("evidence_anchor_lines_digest: 3d3f0c5e3d3f0c5e\nrequired_anchor_groups_digest: 4d3f0c5e4d3f0c5e", "required_anchor_groups_digest: 4d3f0c5e4d3f0c5e\nevidence_anchor_lines_digest: 3d3f0c5e3d3f0c5e"),
		"metadata-order 4: the lines of the metadata comment stand in another order"},
	{func(s string) string { return s + s[:strings.Index(s, "\n\n")+1] }, "metadata-again 55: a second metadata comment"},
}

var brokenHeadings = []broken{
	{drop(ms.Title + "\n"), "heading-missing 12: 1 heading missing: `# Model-Assisted Semantic Compression Summary`"},
	{drop("## Decisions and Reasons\n"), "heading-missing 24: 1 heading missing: `## Decisions and Reasons`"},
	{drop("## Recent Raw Context Boundary\n"), "heading-missing 53: 1 heading missing: `## Recent Raw Context Boundary`"},
	{func(s string) string {
		return drop("## Decisions and Reasons\n")(drop("## Timeline and Supersessions\n")(s))
	},
		"heading-missing 23: 2 headings missing: `## Timeline and Supersessions`, `## Decisions and Reasons`"},
	{to("## Current State", "### Current State"), "heading-form 13: this heading is not written letter for letter"},
	{to("## Current State", "## current state:"), "heading-form 13: this heading is not written letter for letter"},
	{to("## Current State", "## 1. Current State ##"), "heading-form 13: this heading is not written letter for letter"},
	{to("## Current State", "**Current State**"), "heading-form 13: this heading is not written letter for letter"},
	{to("## Current State", "Current State\n-------------"), "heading-form 13: this heading is not written letter for letter"},
	{to("## Current State", " ## Current State"), "heading-form 13: this heading is not written letter for letter"},
	{to("Risks, Unknowns, and Follow-Ups", "Risks, unknowns and follow-ups"), "heading-form 48: this heading is not written letter for letter"},
	{to("### Mandatory", "## Mandatory"), "heading-form 38: this heading is not written letter for letter"},
	{to("## Decisions and Reasons", "## Решения и причины"), "heading-renamed 21: another heading stands where a required one belongs"},
	{to(ms.Title, "# Summary"), "heading-renamed 11: another heading stands where a required one belongs"},
	{func(s string) string { return s + "\n## Current State\n- It runs. [L7]\n" }, "heading-repeated 56: this heading stands here a second time"},
	{body(ms.Title + "\n"), "heading-repeated 15: this heading stands here a second time"},
	{to("## User Wording", ms.CoverageHeading+"\n\n## User Wording"), "heading-repeated 44: this heading stands here a second time"},
	{func(s string) string {
		part := "## Current State\n\n" + line + "\n"
		return swap(s, part, "") + "\n" + part
	}, "heading-order 52: this heading stands out of order"},
	{body("## current state\n"), "heading-extra 15: a heading that the pack does not ask for"},
	{body("**Current State**\n"), "line-uncited 15: this line cites nothing"},
	{body("### More\n"), "heading-extra 15: a heading that the pack does not ask for"},
	{body("- # More [L1]\n"), "heading-extra 15: a heading that the pack does not ask for"},
	{body("      # More [L1]\n"), "heading-extra 15: a heading that the pack does not ask for"},
	{body("#\n"), "heading-extra 15: a heading that the pack does not ask for"},
	{body("More [L1]\n===\n"), "heading-extra 15: a heading that the pack does not ask for"},
	{body("More [L1]\nand more [L1]\n---\n"), "heading-extra 16: a heading that the pack does not ask for"},
	{func(s string) string { return drop(line)(swap(s, "L6.", "L6, L7.")) }, "section-uncited 13: this section cites nothing"},
	{func(s string) string { return swap(swap(s, line, ms.Unknown+"\n"), "L6.", "L6, L7.") }, "section-uncited 13: this section cites nothing"},
}

var brokenCoverage = []broken{
	{func(s string) string {
		return s[:strings.Index(s, ms.CoverageHeading)] + s[strings.Index(s, "## User Wording"):]
	}, "coverage-missing 34: the coverage subsection is missing"},
	{drop(ms.CoverageHeading + "\n"), "coverage-missing 34: the coverage subsection is missing"},
	{func(s string) string {
		from, to := strings.Index(s, ms.CoverageHeading), strings.Index(s, "## User Wording")
		return s[:from] + s[to:] + "\n" + s[from:to]
	}, "coverage-misplaced 50: the coverage subsection stands in another section"},
	{to("- L2 support", "All of it: [L2]\n- L2 support"), "coverage-form 41: 1 line that cannot stand among the coverage lines"},
	{to("- L2 support", ms.Unknown+"\n- L2 support"), "coverage-form 41: 1 line that cannot stand among the coverage lines"},
	{to("- L2 support", "```\n\nprose\n- L2 support"), "coverage-form 41: 3 lines that cannot stand among the coverage lines"},
	{to("- L2 support", "* L2 support"), "coverage-form 41: its anchor is not as - L42"},
	{to("- L2 support", "  - L02 support"), "coverage-form 41: its anchor is not as - L42"},
	{to("- L2 support_text_json", "- L2 text_json"), "coverage-form 41: the anchor is not followed by support_text_json="},
	{to("- L2 support", "- L2  support"), "coverage-form 41: the anchor is not followed by support_text_json="},
	{to(`="Ok, done."`, `='Ok, done.'`), "coverage-form 41: the excerpt is no JSON string: it does not begin with a quotation mark"},
	{to(`="Ok, done."`, `="Ok, \done."`), "coverage-form 41: the excerpt is no JSON string: unknown escape"},
	{to(`="Ok, done."`, `="Ok, done.`), "coverage-form 41: the excerpt is no JSON string: text ends within a string"},
	{to(`done." disposition=covered`, `done."`), "coverage-form 41: the excerpt is not followed by disposition=covered and the line's end"},
	{to(`done." disposition=covered`, `done." disposition=omitted`), "coverage-form 41: the excerpt is not followed by disposition=covered and the line's end"},
	{to(`done." disposition=covered`, `done." disposition=covered [L2]`), "coverage-form 41: the excerpt is not followed by disposition=covered and the line's end"},
	{func(s string) string {
		const moved = "- L2 support_text_json=\"Ok, done.\" disposition=covered\n"
		return swap(drop(moved)(s), line, moved+line)
	}, "coverage-outside 15: a coverage line outside of its subsection"},
	{to("- L2 support", "- L6 support_text_json=\"The log of it\" disposition=covered\n- L2 support"), "coverage-unknown 41: L6 asks for no coverage line"},
	{to("- L3 support", "- L2 support_text_json=\"Ok, done.\" disposition=covered\n- L3 support"), "coverage-twice 42: L2 has a coverage line already"},
	{drop("- L2 support_text_json=\"Ok, done.\" disposition=covered\n"), "coverage-lacks 38: 1 record without a coverage line: L2"},
	{func(s string) string {
		return s[:strings.Index(s, "- L1 support")] + s[strings.Index(s, "## User Wording"):]
	}, "coverage-lacks 38: 3 records without a coverage line: L1, L2, L3"},
	{to("Ok, done.\"", "\""), "support-blank 41: the excerpt for L2 says nothing"},
	{to("Ok, done.\"", `\n \t"`), "support-blank 41: the excerpt for L2 says nothing"},
	{to("keep the old key — for now", ";"), "support-blank 42: the excerpt for L3 says nothing"},
	{to("Ok, done.\"", "Well done.\""), "support-foreign 41: the excerpt for L2 is not in its record"},
	{to("keep the old key —", "Keep the old key -"), "support-foreign 42: the excerpt for L3 is not in its record, though it differs only in case, white space, quotation marks or dashes"},
	{to(`"blue\" service\n`, `"blue\" service `), "support-foreign 40: the excerpt for L1 is not in its record, though it differs only in case, white space, quotation marks or dashes"},
	{to("keep the old key — for now", "The data is ... old key — for now"), "support-foreign 42: the excerpt for L3 is not in its record, though a part of it is: leave nothing out within an excerpt"},
	{to("keep the old key — for now", "the old key"), "support-short 42: the excerpt for L3 is too short"},
	{to("keep the old key — for now", "the old key "), "support-short 42: the excerpt for L3 is too short"},
	{to("Ok, done.\"", "Ok, done\""), "support-short 41: the excerpt for L2 is too short"},
}

var brokenCitations = []broken{
	{to("done (L2, L3).", "done (L2, L03)."), "anchor-form 19: L03 has a zero in front"},
	{to("region two. [L7]", "region two. [L7, L11]"), "anchor-range 15: L11: the session's records are L1 to L10"},
	{to("region two. [L7]", "region two. [L7] [L0]"), "anchor-form 15: L0 has a zero in front"},
	{to("region two. [L7]", "region two. [L7] [L99999999999999999999999]"), "anchor-range 15: L9999999999999999999…: the session's records are L1 to L10"},
	{to("[H1, H3]", "[H1, H3, H4]"), "anchor-range 54: H4: the handoff lines are H1 to H3"},
	{to("region two. [L7]", "region two. [L7][L9]"), "anchor-kept 15: L9 is no record that this summary stands for"},
	{to("region two. [L7]", "region two. [L7–L8]"), "anchor-kept 15: L8 is no record that this summary stands for"},
	{to("region two. [L7]", "region two. [L7-8]"), "anchor-kept 15: L8 is no record that this summary stands for"},
	{to("region two. [L7]", "region two. （L7、L5）"), "anchor-hidden 15: L5 is not shown in the pack"},
	{to("region two. [L7]", "region two, L7 and L5."), "anchor-hidden 15: L5 is not shown in the pack"},
	{to("region two. [L7]", "region two. [L5]\n- Yes. [L7]"), "anchor-hidden 15: L5 is not shown in the pack"},
	{to("region two. [L7]", "region two. [L6]"), "group-uncited 34: 1 required record cited nowhere: L7"},
	{to("region two. [L7]", "region two. [L1-L6], L7 cache"), "group-uncited 34: 1 required record cited nowhere: L7"},
	{to("[H1, H3]", "[H2]"), "handoff-uncited 34: 2 required handoff lines cited nowhere: H1, H3"},
	{to("[H1, H3]", "(H1)"), "handoff-uncited 34: 1 required handoff line cited nowhere: H3"},
}

var brokenLines = []broken{
	{body("- The key is old.\n"), "line-uncited 15: this line cites nothing"},
	{body("旧密钥保留。\n"), "line-uncited 15: this line cites nothing"},
	{body("8080\n"), "line-uncited 15: this line cites nothing"},
	{body("- Asked for [l1]\n"), "line-uncited 15: this line cites nothing"},
	{body("- The L2 cache is full.\n"), "line-uncited 15: L2 reads as part of a name here, so this line cites nothing"},
	{body("- Planned for H1 2026.\n"), "line-uncited 15: H1 reads as part of a name here, so this line cites nothing"},
	{body("- L1 says so.\n"), "line-uncited 15: L1 reads as part of a name here, so this line cites nothing"},
	{body("- See main.go#L1.\n"), "line-uncited 15: L1 reads as part of a name here, so this line cites nothing"},
	{body("- See L1:34.\n"), "line-uncited 15: L1 reads as part of a name here, so this line cites nothing"},
	{body("- Sales grew in H9.\n"), "line-uncited 15: this line cites nothing"},
	{body("- Set `x[L1]` here\n"), "line-uncited 15: this line cites nothing"},
	{body("- Asked for [L1] and so\n  wrapped here.\n"), "line-uncited 16: this line cites nothing"},
	{body("| The key stays. | Why |\n|---|---|\n| a [L1] | b |\n"), "line-uncited 15: this line cites nothing"},
	{body("| What | Why |\n|---|---|\n| a | b |\n"), "line-uncited 17: this line cites nothing"},
	{body("```go with words\nx [L1]\n```\n[L1]\n"), "line-uncited 15: this line cites nothing"},
	{to(line, "```\ncode [L1]\n```\n\n"+ms.Unknown+"\n"+line), "code-uncited 15: no line before or after this code cites anything"},
	{to("is old. [L3]\n", "is old. [L3]\n```\ncode\n"), "fence-open 51: this code fence is still open at a required heading"},
	{func(s string) string { return s + "~~~\ncode\n" }, "fence-open 55: this code fence is not closed"},
	{body("> Run [L6]:\n> ```\n> code\nNot code.\n> ```\n> [L6]\n> ```\n"), "line-uncited 18: this line cites nothing"},
	{body("- Unknown from provided anchors.\n"), "unknown-form 15: the sentence for what is unknown is not the whole line"},
	{body("Unknown from provided anchors. But maybe.\n"), "unknown-form 15: the sentence for what is unknown is not the whole line"},
	{body("Unknown from provided anchors\n"), "unknown-form 15: the sentence for what is unknown is not the whole line"},
	{body("- Asked for [L1] <!-- really -->\n"), "comment 15: an HTML comment"},
	{body("<!--\nmany lines\n-->\n"), "comment 15: an HTML comment"},
	{body("- Asked for [L1] <!-- really\n"), "comment 15: an HTML comment that is not closed"},
	{body("- \\`<!-- x --> ` [L1]\n"), "comment 15: an HTML comment"},
	{body("- I don’t have access to the transcript. [L1]\n"), "no-access 15: this line speaks of its author"},
	{body("- As an AI language model, nothing can be said. [L1]\n"), "no-access 15: this line speaks of its author"},
	{body("- Sadly we cannot view the original file [L1]\n"), "no-access 15: this line speaks of its author"},
	{body("- 作为一个AI语言模型，我什么也看不到 [L1]\n"), "no-access 15: this line speaks of its author"},
	{body("- The source files were not provided.\n"), "no-access 15: this line says that there was nothing to see"},
	{body("- No evidence was provided here.\n"), "no-access 15: this line says that there was nothing to see"},
	{body("- Access to the data is unavailable.\n"), "no-access 15: this line says that there was nothing to see"},
}

func TestFewAnchors(t *testing.T) {
	e := expect()
	for n := 11; n <= 400; n++ {
		e.Summary, e.Shown = append(e.Summary, n), append(e.Shown, n)
	}
	e.Records = 400
	text := swap(swap(good, ", L6.", " [L1]"), "L7", "L3")
	e.Groups = nil
	_, problems := ms.Check([]byte(text), e)
	if diff := cmp.Diff([]string{"anchors-few 54: 3 records cited, and the pack shows 396"}, told(problems)); diff != "" {
		t.Error(diff)
	}
}
