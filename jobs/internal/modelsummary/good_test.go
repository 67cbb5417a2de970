package modelsummary_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// line is the one that most good summaries replace.
const line = "- The blue service runs in region two. [L7]\n"

func TestGood(t *testing.T) {
	body := func(lines string) func(string) string {
		return func(s string) string { return swap(s, line, lines+line) }
	}
	for _, c := range []struct {
		what   string
		change func(string) string
	}{
		{"as it is", func(s string) string { return s }},
		{"CR LF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
		{"CR", func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }},
		{"a byte order mark", func(s string) string { return "\ufeff" + s }},
		{"no line end at the end", func(s string) string { return strings.TrimSuffix(s, "\n") }},
		{"blank lines around", func(s string) string { return "\n\n" + s + "\n\n" }},
		{"white space at line ends", func(s string) string { return strings.ReplaceAll(s, "\n", " \t\n") }},
		{"no blank lines", func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") }},
		{"Chinese", body("- 用户要求部署蓝色服务，旧密钥保留【L3】。\n- 用户要求部署（L1、L3）\n- 部署已完成，见L2。\n")},
		{"Arabic", body("- طلب المستخدم نشر الخدمة الزرقاء [L1]، ثم اكتمل (L2 وL3).\n")},
		{"Russian", body("- Пользователь попросил развернуть службу, L1 и L3.\n")},
		{"Japanese", body("- 青いサービスを配備する［L1］\n")},
		{"Hindi and Greek", body("- नीली सेवा चालू है [L7]\n- Η υπηρεσία τρέχει (L7).\n")},
		{"a table", body("| What | Why |\n|------|:---:|\n| the key stays | data missing [L3] |\n| deployed | asked for, L1 |\n\n")},
		{"a table without outer bars", body("What | Why\n--- | ---\nthe key stays | data missing [L3]\n\n")},
		{"fenced code", body("- What was run [L6]:\n\n```sh\n# deploy everything\n./deploy --to=2 <!-- no comment -->\n```\n\n")},
		{"fenced code with its source after it", body("~~~\nL99 = [L98]\n~~~\n[L6]\n")},
		{"code after code", body("Run [L6]:\n```\none\n```\n```\ntwo\n```\n")},
		{"code in a list", body("- Run [L6]:\n  - it:\t[L6]\n    ```go\n    ## Not a heading\n    ```\n")},
		{"code in a quotation", body("> Run [L6]:\n> ```\n> # one\n> two\n\n- Then [L1]\n")},
		{"nested lists", body("- Two things [L1]\n  1. deploy [L1]\n     - blue [L1]\n  2) keep [L3]\n> - as said [L2]\n")},
		{"quoted not available", body("- They said “the data is not available” [L3]\n")},
		{"cited not available", body("- The data is not available in region two. [L3]\n")},
		{"quoted access", body("- User: \"I do not have access to the file\" [L1]\n- User: 'As an AI model I can't' [L1]\n")},
		{"access to something else", body("- We do not have access to the staging server. [L1]\n")},
		{"arrows", body("- a --> b, then b -> c [L1]\n--> next [L2]\n")},
		{"a comment shown", body("- Pages begin with `<!-- x -->` and ``a ` <!--`` [L1]\n")},
		{"# in prose", body("#1 issue is the key [L3]\n#deploy is the channel [L1]\n- #2 is done [L2]\n- See \\# 3 [L2]\n")},
		{"names that look like anchors", body("- The L2 cache and the H1 2026 plan, L9 Cloud, L2/L3 caches, foo.go#L44 and L2-cache. [L1]\n")},
		{"a bare anchor that is not shown", body("- Sales grew in H9. [L1]\n")},
		{"names in code", body("- Set `a[L99]` and `L98 cache` [L1]\n")},
		{"anchors in code", body("- Deploy was asked for `L1`, (`L2`)\n")},
		{"bare anchors", body("- Asked for, L1.\n- L1: asked for\n- L1 – asked for\n- **L1** (asked for)\n- Asked for; L1, L2 and L3\n- L3/L6: both\n")},
		{"ranges", body("- Everything [L1-L4], (L1–3), [H1 - H3], [L1..L3 L6]\n")},
		{"brackets of any kind", body("- Asked for [ L1; H2 ] and (see L2).\n- Done [**L1**], [L1][L2]\n- Kept[L1]\n")},
		{"a divider", body("---\n\n***\n- - -\n===\n")},
		{"a divider under a list", body("- Asked for [L1]\n---\n")},
		{"the unknown sentence", body("Unknown from provided anchors.\n")},
		{"text before the first section", func(s string) string { return swap(s, "\n## Current", "\nA deploy. [L1]\n\n## Current") }},
		{"a section of a coverage alone", func(s string) string { return swap(s, "- The log of the deploy, L6.\n", "") }},
		{"dividers and fences around the coverage lines", func(s string) string {
			return swap(swap(s, "- L1 support", "```text\n- L1 support"), "## User", "```\n\n---\n\n## User")
		}},
		{"bold words of a heading", body("**Current State** [L1]\n**Current State:** [L1]\n")},
		{"labels", body("- L1:asked\n- L3:部署\n- L3：部署\n")},
		{"other escapes", func(s string) string {
			return swap(s, `keep the old key — for now`, `keep\u0020the old key \u2014 for`)
		}},
		{"an HTML comment in an excerpt", func(s string) string {
			return swap(s, `deploy the \"blue\" service\nto region`, `Größe <!-- b -->`)
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			if _, problems := ms.Check([]byte(c.change(good)), expect()); len(problems) > 0 {
				t.Error(strings.Join(told(problems), "\n"))
			}
		})
	}
}

func TestSummary(t *testing.T) {
	s, problems := ms.Check([]byte(strings.ReplaceAll(good, "\n", "\r\n")), expect())
	if len(problems) > 0 {
		t.Fatal(told(problems))
	}
	prose := good[strings.Index(good, ms.Title):]
	from, to := strings.Index(prose, ms.CoverageHeading), strings.Index(prose, "## User Wording")
	want := &ms.Summary{
		Meta:  expect().Header,
		Prose: prose[:from] + prose[to:],
		Coverage: []ms.Coverage{
			{Line: 40, Record: 1, Excerpt: "deploy the \"blue\" service\nto region"},
			{Line: 41, Record: 2, Excerpt: "Ok, done."},
			{Line: 42, Record: 3, Excerpt: "keep the old key — for now"},
		},
		Records: []int{1, 2, 3, 6, 7},
		Handoff: []int{1, 3},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestNoHandoffNoClaims(t *testing.T) {
	e := expect()
	e.HandoffLines, e.HandoffGroups, e.Claims, e.Header.Handoff = 0, nil, nil, "none"
	text := swap(good, "handoff_summary_digest: 5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e", "handoff_summary_digest: none")
	from, to := strings.Index(text, "- L1 support"), strings.Index(text, "## User Wording")
	text = swap(text[:from]+text[to:], "[H1, H3]", "in H1 2026 [L7]")
	if _, problems := ms.Check([]byte(text), e); len(problems) > 0 {
		t.Error(strings.Join(told(problems), "\n"))
	}
}

func TestComment(t *testing.T) {
	got := ms.Header{"A", "B", "C", "D", "E", "F", "G"}.Comment()
	want := `<!-- claude-jsonl-compressor:model-summary v11
source_sha256: A
summary_source_sha256: B
evidence_anchor_lines_digest: C
required_anchor_groups_digest: D
handoff_summary_digest: E
pack_request_digest: F
required_claim_sources_digest: G
-->`
	if got != want {
		t.Error(got)
	}
}
