package pack

import (
	"maps"
	"testing"
)

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		name  string
		items []item
		from  int
		count int
		want  map[string]int
	}{
		{"nothing", nil, 0, 5, map[string]int{}},
		{
			"thirds of the fold", []item{{n: 11, pos: 0}, {n: 12, pos: 1}, {n: 13, pos: 2}, {n: 15, pos: 4}}, 0, 5,
			map[string]int{"temporal-early": 12, "temporal-middle": 13, "temporal-late": 15, "latest-evidence": 15},
		},
		{
			"positions count from the fold's begin", []item{{n: 11, pos: 10}, {n: 12, pos: 12}}, 10, 3,
			map[string]int{"temporal-early": 11, "temporal-late": 12, "latest-evidence": 12},
		},
		{
			"the most important, of equals the later", []item{{n: 1, pos: 0, rank: 5}, {n: 2, pos: 1, rank: 7}, {n: 3, pos: 2, rank: 7}, {n: 4, pos: 3, rank: 6}}, 0, 99,
			map[string]int{"temporal-early": 3, "latest-evidence": 4},
		},
		{
			"classes", []item{{n: 1, rank: 2, class: humanUser | sourceTool}, {n: 2, rank: 1, class: humanUser | systemError}, {n: 3, class: assistantResearch}}, 0, 99,
			map[string]int{"temporal-early": 1, "human-user": 1, "source-tool": 1, "assistant-research": 3, "latest-evidence": 3},
		},
		{
			"mandatory records", []item{{n: 7, rank: 1, kind: human}, {n: 8, kind: assistant | prior}, {n: 1_234_567_890, kind: prior}}, 0, 99,
			map[string]int{
				"temporal-early": 7, "latest-evidence": 1_234_567_890, "semantic-human-user-L000000007": 7,
				"semantic-assistant-semantic-L000000008": 8, "prior-summary-L8": 8, "prior-summary-L1234567890": 1_234_567_890,
			},
		},
		{
			"the last of the conversation, not of the file", []item{{n: 9, pos: 0}, {n: 4, pos: 1}}, 0, 99,
			map[string]int{"temporal-early": 9, "latest-evidence": 4},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := asMap(groupsOf(tt.items, tt.from, tt.count)); !maps.Equal(got, tt.want) {
				t.Error(got)
			}
		})
	}
}
