package modelsummary_test

import (
	"fmt"
	"strings"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// expect is the pack of most tests: ten records of which 1 to 7 are summarised, 5 is
// optional and not shown, 1 to 3 are claims, and three handoff lines.
func expect() ms.Expect {
	return ms.Expect{
		Header: ms.Header{
			Source:        "1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e",
			SummarySource: "2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e",
			Anchors:       "3d3f0c5e3d3f0c5e",
			Groups:        "4d3f0c5e4d3f0c5e",
			Handoff:       "5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e",
			Request:       "6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e",
			Claims:        "7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e",
		},
		Records: 10, Summary: []int{1, 2, 3, 4, 5, 6, 7}, Shown: []int{1, 2, 3, 4, 6, 7},
		Groups:       map[string]int{"temporal-early": 1, "latest-evidence": 7, "human-user": 1, "semantic-human-user-L000000003": 3},
		HandoffLines: 3, HandoffGroups: map[string]int{"handoff-early": 1, "handoff-latest": 3},
		Claims: map[int]string{
			1: "Please deploy the \"blue\" service\nto region two, Größe <!-- b -->.",
			2: "Ok, done.",
			3: "The data is not available in region two; keep the old key — for now.",
		},
	}
}

// good is a summary that abides by every rule, line by line. Line numbers below are
// those of its lines.
const good = `<!-- claude-jsonl-compressor:model-summary v11
source_sha256: 1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e1d3f0c5e
summary_source_sha256: 2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e2d3f0c5e
evidence_anchor_lines_digest: 3d3f0c5e3d3f0c5e
required_anchor_groups_digest: 4d3f0c5e4d3f0c5e
handoff_summary_digest: 5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e5d3f0c5e
pack_request_digest: 6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e6d3f0c5e
required_claim_sources_digest: 7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e7d3f0c5e
-->

# Model-Assisted Semantic Compression Summary

## Current State

- The blue service runs in region two. [L7]

## Timeline and Supersessions

- First the deploy was asked for [L1], then done (L2, L3).

## Decisions and Reasons

- The old key stays, since the data is missing there. [L3]

## Assistant Research Decisions and Rationales

- Nothing was looked up. [L2]

## Rejected or Superseded Alternatives

Unknown from provided anchors.
- A new key was put off [L3]

## Evidence and Source Anchors

- The log of the deploy, L6.

### Mandatory Evidence Coverage

- L1 support_text_json="deploy the \"blue\" service\nto region" disposition=covered
- L2 support_text_json="Ok, done." disposition=covered
- L3 support_text_json="keep the old key — for now" disposition=covered

## User Wording and Constraints

- “Please deploy” [L1]

## Risks, Unknowns, and Follow-Ups

- The key is old. [L3]

## Recent Raw Context Boundary

- The handoff begins and ends there. [H1, H3]
`

// swap replaces one text by another, once. It panics if there is none.
func swap(text, from, to string) string {
	if !strings.Contains(text, from) {
		panic(fmt.Sprintf("no %q to replace", from))
	}
	return strings.Replace(text, from, to, 1)
}

// told are problems as "rule line: message".
func told(ps []ms.Problem) []string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%s %d: %s", p.Rule, p.Line, p.Message))
	}
	return out
}
