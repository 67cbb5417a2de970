package summary

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	rulesTitle   = "## What the user asked to keep to\n"
	historyTitle = "## Requests and outcomes, in order\n"
)

// sectionOf returns a section of a summary, or nothing.
func sectionOf(text, title string) string {
	_, rest, _ := strings.Cut(text, title)
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// obedient is a session with an opening, a number of requests that are rules
// or not, and a last one. Request i is record 2i+1.
func obedient(rules, others int) []Entry {
	entries := []Entry{prompt(1, "Look at the importer."), answer(2, "I did.")}
	for i := 1; i <= rules+others; i++ {
		text := fmt.Sprintf("Never change the schema of table %d without a migration.", i)
		if i > rules {
			text = fmt.Sprintf("Look at how table %d is filled when the importer starts.", i)
		}
		entries = append(entries, prompt(2*i+1, text), answer(2*i+2, fmt.Sprintf("Table %d is fine.", i)))
	}
	return append(entries, prompt(2*(rules+others)+3, "Go on with the next one."))
}

func TestWholeRulesAreQuotedOnce(t *testing.T) {
	for _, tt := range []struct {
		name           string
		entries        []Entry
		rules, history string
	}{
		{
			"few: the history refers to the rules", obedient(1, 1),
			"- [L3] “Never change the schema of table 1 without a migration.”\n",
			"- [L1] the first request, above\n  → [L2] I did.\n" +
				"- [L3] as above\n  → [L4] Table 1 is fine.\n" +
				"- [L5] “Look at how table 2 is filled when the importer starts.”\n  → [L6] Table 2 is fine.\n",
		},
		{
			"a part of a request: both quote", []Entry{
				prompt(1, "Look at the importer."),
				prompt(3, "Never change the schema of table 1 without a migration. Look at how it is filled."),
				prompt(5, "Go on with the next one."),
			},
			"- [L3] “Never change the schema of table 1 without a migration.”\n",
			"- [L1] the first request, above\n" +
				"- [L3] “Never change the schema of table 1 without a migration. Look at how it is filled.”\n",
		},
		{
			"two sentences: one reference", []Entry{
				prompt(1, "Look at the importer."),
				prompt(3, "Never change the schema of table 1.\n\nAlways run the tests of the importer."),
				prompt(5, "Go on with the next one."),
			},
			"- [L3] “Never change the schema of table 1.”\n- [L3] “Always run the tests of the importer.”\n",
			"- [L1] the first request, above\n- [L3] as above\n",
		},
		{
			"a repeated rule: both requests refer to it", []Entry{
				prompt(1, "Look at the importer."),
				prompt(3, "Never change the schema of table 1 without a migration."), answer(4, "Sure."),
				prompt(5, "Never change the schema of table 1 without a migration."), answer(6, "Sorry."),
				prompt(7, "Go on with the next one."),
			},
			"- [L3, L5] “Never change the schema of table 1 without a migration.”\n",
			"- [L1] the first request, above\n- [L3] as above\n  → [L4] Sure.\n- [L5] as above\n  → [L6] Sorry.\n",
		},
		{
			"a brief one: repeated", []Entry{
				prompt(1, "Look at the importer."), prompt(3, "Never change table 1."), prompt(5, "Go on with the next one."),
			},
			"- [L3] “Never change table 1.”\n",
			"- [L1] the first request, above\n- [L3] “Never change table 1.”\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := build(6000, tt.entries).Text(Facts{})
			if got := sectionOf(text, rulesTitle); strings.TrimSpace(got) != strings.TrimSpace(tt.rules) {
				t.Errorf("rules: %q, want %q", got, tt.rules)
			}
			if got := sectionOf(text, historyTitle); strings.TrimSpace(got) != strings.TrimSpace(tt.history) {
				t.Errorf("history: %q, want %q", got, tt.history)
			}
		})
	}
}

func TestManyWholeRulesStayInTheHistory(t *testing.T) {
	text := build(20000, obedient(20, 10)).Text(Facts{})
	want := "- 20 whole requests [L3–L41], quoted below in order and marked with !\n"
	if got := sectionOf(text, rulesTitle); got != want {
		t.Errorf("rules: %q, want %q", got, want)
	}
	for i := 1; i <= 20; i++ {
		line := fmt.Sprintf("- [L%d]! “Never change the schema of table %d without a migration.”\n  → [L%d] Table %d is fine.\n", 2*i+1, i, 2*i+2, i)
		if !strings.Contains(sectionOf(text, historyTitle), line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
	if strings.Contains(text, "[L43]!") {
		t.Error("a request that is no rule is marked")
	}
}

// TestTightHistoryKeepsTheRules: where the history has no room for all that
// would be marked, the rules keep their section.
func TestTightHistoryKeepsTheRules(t *testing.T) {
	text := build(MinBudget, obedient(60, 0)).Text(Facts{})
	if !strings.Contains(sectionOf(text, rulesTitle), "“Never change") || strings.Contains(text, "marked with") {
		t.Error(text)
	}
}

// TestReferences: whatever is left out, a reference leads to a rule that is on
// display, and all that is announced as marked is there.
func TestReferences(t *testing.T) {
	reference := regexp.MustCompile(`\[L(\d+)\] as above\n`)
	announced := regexp.MustCompile(`- (\d+) whole requests? \[`)
	rapid.Check(t, func(t *rapid.T) {
		entries := obedient(rapid.IntRange(0, 60).Draw(t, "rules"), rapid.IntRange(0, 60).Draw(t, "others"))
		text := build(rapid.IntRange(MinBudget, 12000).Draw(t, "budget"), entries).Text(facts)
		rules, history := sectionOf(text, rulesTitle), sectionOf(text, historyTitle)
		for _, m := range reference.FindAllStringSubmatch(history, -1) {
			if !strings.Contains(rules, "- [L"+m[1]+"] “Never") {
				t.Fatalf("%q leads nowhere in\n%s", m[0], text)
			}
		}
		n := strings.Count(history, "]! “Never")
		if m := announced.FindStringSubmatch(rules); m == nil && n > 0 || m != nil && m[1] != fmt.Sprint(n) {
			t.Fatalf("%d requests are marked, %q announced in\n%s", n, m, text)
		}
	})
}
