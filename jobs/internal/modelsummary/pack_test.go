package modelsummary_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// pack renders what a summary's author reads. texts are those of handoff lines.
func pack(e ms.Expect, handoff []string) []byte {
	var b strings.Builder
	b.WriteString("# A pack\n\n## Required Output Metadata\n\n" + e.Header.Comment() + "\n\n## Required Anchor Coverage\n\n")
	for _, name := range slices.Sorted(maps.Keys(e.Groups)) {
		fmt.Fprintf(&b, "- `%s`: L%d\n", name, e.Groups[name])
	}
	b.WriteString("\n## Required Handoff Anchor Coverage\n\n")
	for _, name := range slices.Sorted(maps.Keys(e.HandoffGroups)) {
		fmt.Fprintf(&b, "- `%s`: H%d\n", name, e.HandoffGroups[name])
	}
	if len(e.HandoffGroups) == 0 {
		b.WriteString("- None is needed.\n")
	}
	b.WriteString("\n## Required Claim Support\n\n")
	for _, n := range slices.Sorted(maps.Keys(e.Claims)) {
		fmt.Fprintf(&b, "- L%d\n", n)
	}
	b.WriteString("\n## Evidence Records\n\n")
	for _, n := range e.Shown {
		fmt.Fprintf(&b, "- L%d type=user role=user ts=2026-01-01T00:00:00Z uuid=u evidence_class=general", n)
		if text, ok := e.Claims[n]; ok {
			b.WriteString(" full_text_json=" + string(jsonspan.Quote(nil, text)) + "\n")
		} else {
			b.WriteString("\n  some output full_text_json=\"no\"\n")
		}
	}
	b.WriteString("\n## External Handoff Summary\n\n")
	for i, text := range handoff {
		fmt.Fprintf(&b, "- H%d full_text_json=%s\n", i+1, jsonspan.Quote(nil, text+"\n"))
	}
	return []byte(b.String())
}

// drawPack draws a pack with one record of evidence at least.
func drawPack(t *rapid.T) (ms.Expect, []byte) {
	digest := rapid.StringMatching(`[0-9a-f]{64}`)
	e := ms.Expect{
		Header: ms.Header{
			Source: digest.Draw(t, "source"), SummarySource: digest.Draw(t, "summary source"), Anchors: "0123456789abcdef",
			Groups: "fedcba9876543210", Handoff: "none", Request: digest.Draw(t, "request"), Claims: digest.Draw(t, "claims"),
		},
		Groups: map[string]int{}, HandoffGroups: map[string]int{}, Claims: map[int]string{},
	}
	e.Records = rapid.IntRange(1, 30).Draw(t, "records")
	for n := 1; n <= e.Records; n++ {
		if kind := rapid.SampledFrom([]rune("kooomms")).Draw(t, "kind"); n == 1 || kind != 'k' {
			e.Summary = append(e.Summary, n)
			drawRecord(t, &e, n, kind)
		}
	}
	handoff := rapid.SliceOfN(drawText(), 0, 6).Draw(t, "handoff")
	if e.HandoffLines = len(handoff); len(handoff) > 0 {
		e.Header.Handoff = digest.Draw(t, "handoff digest")
		e.HandoffGroups["handoff-early"], e.HandoffGroups["handoff-latest"] = 1, len(handoff)
	}
	return e, pack(e, handoff)
}

// drawRecord makes a record of the summary set mandatory, optional or not shown.
func drawRecord(t *rapid.T, e *ms.Expect, n int, kind rune) {
	if n > 1 && kind == 's' {
		return
	}
	e.Shown = append(e.Shown, n)
	e.Groups["latest-evidence"] = n
	if n == 1 || kind == 'm' {
		e.Claims[n] = drawText().Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "text")
		e.Groups[fmt.Sprintf("semantic-human-user-L%09d", n)] = n
	}
}

// drawText draws words of many scripts and what the checks could stumble over.
func drawText() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"deploy", "Größe", "部署", "نشر", "развернуть", "ठीक", "👩‍🚀", "L2", "H1", "[L3]", "`", "```", "\n", "\r\n", "\t", "\u2028", "\u0085",
		`"`, `\`, "<!--", "-->", "## Current State", "---", "|", "I do not have access", "was not provided", "...", "\x00", "é", ".",
	})
	return rapid.Map(rapid.SliceOfN(word, 0, 12), func(words []string) string { return strings.Join(words, " ") })
}
