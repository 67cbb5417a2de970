package summary

import "testing"

func TestTestCounts(t *testing.T) {
	tests := []struct {
		name, text, want string
		failed           bool
	}{
		{"mocha", "  3 passing (2s)\n  1 failing", "1 failed, 3 passed", true},
		{"node", "# tests 12\n# pass 12\n# fail 0", "12 passed", false},
		{"gradle", "5 tests completed, 2 tests failed", "2 failed", true},
		{"rspec", "4 examples, 0 failures", "", false},
		{"several totals", "2 passed\n31 passed\n4 passed", "31 passed", false},
		{"capital", "Tests: 2 Failed, 9 Passed", "2 failed, 9 passed", true},
		{"parts of words", "bypass 3, v2 passes, x3 passed, 3 passed_by, pass 3rd", "", false},
		{"no number", "all passed", "", false},
		{"go packages", "--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\texample.org/a\t0.1s\nok  \texample.org/b\t0.1s\nFAIL", "FAIL TestA, example.org/a; 1 package ok", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, failed := testCounts(tt.text); got != tt.want || failed != tt.failed {
				t.Errorf("testCounts() = %q, %v; want %q, %v", got, failed, tt.want, tt.failed)
			}
		})
	}
}
