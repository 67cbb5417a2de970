package modelsummary_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	ms "github.com/precis-dev/precis/jobs/internal/modelsummary"
)

// What a pack asks for is stored until its summary is written.
func TestExpectJSON(t *testing.T) {
	e := ms.Expect{
		Header:  ms.Header{Source: "A", SummarySource: "B", Anchors: "C", Groups: "D", Handoff: "E", Request: "F", Claims: "G"},
		Records: 12, Summary: []int{11, 3}, Shown: []int{3, 11}, Groups: map[string]int{"latest-evidence": 11},
		HandoffLines: 1, HandoffGroups: map[string]int{"handoff-early": 1},
		Claims:   map[int]string{3: "<!-- \u2028 \x00 \ufffd 😀\r\n", 11: "ok"},
		MaxChars: 4000, MaxTokens: 900, Whole: true,
	}
	got, err := json.Marshal(e)
	want := `{"header":{"source":"A","summarySource":"B","anchors":"C","groups":"D","handoff":"E","request":"F","claims":"G"},` +
		`"records":12,"summary":[11,3],"shown":[3,11],"groups":{"latest-evidence":11},"handoffLines":1,"handoffGroups":{"handoff-early":1},` +
		`"claims":{"11":"ok","3":"\u003c!-- \u2028 \u0000 ` + "\ufffd" + ` 😀\r\n"},"maxChars":4000,"maxTokens":900,"whole":true}`
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	for _, e := range []ms.Expect{e, expect(), {}} {
		var back ms.Expect
		text, _ := json.Marshal(e)
		if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(e, back) {
			t.Error(err, cmp.Diff(e, back))
		}
	}
}

// The least text is written out here; "Ok, done." is shorter than an excerpt must be.
func TestLeast(t *testing.T) {
	e := expect()
	comment, _, _ := strings.Cut(good, "-->")
	least := comment + "-->\n" + ms.Title + "\n"
	for _, s := range ms.Sections {
		least += s + "\n"
	}
	least += ms.CoverageHeading + `
- L1 support_text_json="deploy the b" disposition=covered
- L2 support_text_json="Ok, done." disposition=covered
- L3 support_text_json="Größe region" disposition=covered`
	if got, want := e.Least(), utf8.RuneCountInString(least); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		if e, text := written(t); e.Least() > utf8.RuneCountInString(strings.TrimSpace(text)) {
			t.Fatalf("%d is more than a good text has:\n%s", e.Least(), text)
		}
	})
}
