package summary

import (
	"strings"
	"testing"
)

func TestAHelpersReportIsTold(t *testing.T) {
	b := New(MinBudget)
	b.Add(Entry{N: 1, Kind: Prompt, Text: "Have the shelves counted."})
	b.Add(Entry{N: 2, Kind: Call, Tool: "Task", ToolID: "t", Input: []Field{{Name: "description", Value: "count"}}})
	b.Add(Entry{N: 3, Kind: Result, ToolID: "t", Text: "# Report\n\nThere are 54 shelves in the store.\n"})
	b.Add(Entry{N: 4, Kind: Prompt, Text: "Thanks."})
	if text := b.Text(Facts{}); !strings.Contains(text, "54 shelves in the store.") || !strings.Contains(text, "[L3]") {
		t.Errorf("the report is not told:\n%s", text)
	}
}
