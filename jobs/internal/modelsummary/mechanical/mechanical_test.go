package mechanical_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/modelsummary"
	"github.com/precis-dev/precis/jobs/internal/modelsummary/mechanical"
)

const pack = `# Evidence

Anything may be said here, also of "- L9 type=user".

## Required Output Metadata

` + "```html\n" + modelsummary.Marker + `
source_sha256: 00
-->
` + "```" + `

## Required Anchor Coverage

- ` + "`human-user`: L1\n- `latest-evidence`: L4" + `

## Required Handoff Anchor Coverage

- ` + "`handoff-early`: H1" + `

## Required Claim Support

- L1
- L3

## Evidence Records

- L1 type=user role=user evidence_class=human-user full_text_json="  ***  deploy L3 L77 <!-- now -->\n"
- L3 type=None role=None evidence_class=general full_text_json="ok"
- L4 type=system role=system evidence_class=system-error
  api_error full_text_json="not this"

## External Handoff Summary

- H1 full_text_json="before\n"
`

const want = modelsummary.Marker + `
source_sha256: 00
-->

# Model-Assisted Semantic Compression Summary

## Current State

- For latest-evidence: “” [L4]

## Timeline and Supersessions

- For handoff-early: “before” [H1]

## Decisions and Reasons

Unknown from provided anchors.
- Looked at last: [H1]

## Assistant Research Decisions and Rationales

Unknown from provided anchors.
- Looked at last: [H1]

## Rejected or Superseded Alternatives

Unknown from provided anchors.
- Looked at last: [H1]

## Evidence and Source Anchors

- Seen among others [L1, L3, L4, H1]

### Mandatory Evidence Coverage

- L1 support_text_json="deploy L3 L77 <!-- now -->" disposition=covered
- L3 support_text_json="ok" disposition=covered

## User Wording and Constraints

- For human-user: “deploy now” [L1]

## Risks, Unknowns, and Follow-Ups

Unknown from provided anchors.
- Looked at last: [H1]

## Recent Raw Context Boundary

Unknown from provided anchors.
- Looked at last: [H1]
`

func TestWrite(t *testing.T) {
	got, err := mechanical.Write([]byte(pack))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// An excerpt is long enough whatever the text begins and ends with.
func TestExcerpts(t *testing.T) {
	for text, want := range map[string]string{
		"ab":                            "ab",
		"*** ab":                        "*** ab",
		"- the first twelve":            "the first twelve",
		strings.Repeat("*", 60) + "abc": strings.Repeat("*", 60) + "abc",
		strings.Repeat("word ", 20):     strings.Repeat("word ", 8),
		"word" + strings.Repeat(" ", 50) + "and then some more": "word" + strings.Repeat(" ", 50) + "and then some more",
	} {
		got, err := mechanical.Write([]byte(strings.Replace(pack, `"ok"`, `"`+text+`"`, 1)))
		if line := `- L3 support_text_json="` + want + `" disposition=covered`; err != nil || !strings.Contains(string(got), line) {
			t.Errorf("%v, want %s in\n%s", err, line, got)
		}
	}
}

func TestNoPack(t *testing.T) {
	for text, message := range map[string]string{
		"hello":                                 "no comment to copy",
		modelsummary.Marker + "\n":              "not closed",
		modelsummary.Marker + "\n-->\n":         "no evidence",
		strings.Replace(pack, `="ok"`, `="`, 1): "text of L3",
	} {
		if _, err := mechanical.Write([]byte(text)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%v, want %s", err, message)
		}
	}
}
