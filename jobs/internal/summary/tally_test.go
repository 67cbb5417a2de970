package summary

import "testing"

func TestTally(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tools map[string]int
		edits int
		want  string
	}{
		{"few", map[string]int{"Bash": 2}, 0, "2 calls"},
		{"many of two", map[string]int{"Read": 20, "Bash": 4980}, 0, "5000 calls (Bash 4980, Read 20)"},
		{"edits", map[string]int{"Edit": 12}, 12, "12 calls (Edit 12), 12 edits"},
		{"equal counts by name", map[string]int{"b": 5, "a": 5}, 0, "10 calls (a 5, b 5)"},
		{"more than are named", map[string]int{"a": 9, "b": 8, "c": 7, "d": 6, "e": 3, "f": 2}, 0, "35 calls (a 9, b 8, c 7, d 6, others 5)"},
		{"a name like an anchor", map[string]int{"[L7]\n": 10}, 0, `10 calls ([\L7] 10)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tally := tally{changes: tt.edits}
			for tool, calls := range tt.tools {
				for range calls {
					tally.call(tool)
				}
			}
			if got := tally.String(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestTallyIsBounded(t *testing.T) {
	var tally tally
	for i := range 1000 {
		tally.call("tool" + string(rune(0x4e00+i)))
	}
	if tally.calls != 1000 || len(tally.tools) > maxTools {
		t.Errorf("%d calls of %d tools", tally.calls, len(tally.tools))
	}
}
