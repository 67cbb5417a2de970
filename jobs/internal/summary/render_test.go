package summary

import (
	"strings"
	"testing"
)

func TestHeadLine(t *testing.T) {
	told := []Entry{prompt(6, "Look at the importer.")}
	for _, tt := range []struct {
		name    string
		entries []Entry
		facts   Facts
		want    string
	}{
		{"the range of the fold", told, Facts{First: 1, Last: 9, Records: 9}, " of records L1–L9 (9 records). "},
		{"the range of what was added", told, Facts{Records: 9}, " of records L6–L6 (9 records). "},
		{"one record", told, Facts{First: 6, Last: 6, Records: 1}, " of records L6–L6 (1 record). "},
		{"nothing told of a fold", nil, Facts{First: 2, Last: 4, Records: 3}, " of records L2–L4 (3 records). "},
		{"no records", nil, Facts{}, "(layout " + Version + "). "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head, _, _ := strings.Cut(build(MinBudget, tt.entries).Text(tt.facts), "\n")
			if !strings.Contains(head, tt.want) {
				t.Errorf("%q is not in %q", tt.want, head)
			}
		})
	}
}

// TestOnlyRequest: that nothing else was asked is said of the fold alone, as
// more may follow behind the cut.
func TestOnlyRequest(t *testing.T) {
	b := build(MinBudget, []Entry{prompt(6, "Look at the importer.")})
	if text := b.Text(Facts{}); !strings.Contains(text, "**First and so far only request** [L6]\n> Look at the importer.\n") {
		t.Error(text)
	}
	b.Add(prompt(8, "Go on with the next one."))
	if text := b.Text(Facts{}); strings.Contains(text, "so far only") {
		t.Error(text)
	}
}
