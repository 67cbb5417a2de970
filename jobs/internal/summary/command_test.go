package summary

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCommand(t *testing.T) {
	tests := []struct {
		line string
		want command
	}{
		{"cd /x && go test ./... 2>&1 | tail -5", command{key: "go test ./...", head: "go test", class: "test"}},
		{"FOO=1 npm run test:unit -- --watch", command{key: "npm run test:unit -- --watch", head: "npm run test:unit", class: "test"}},
		{"npx tsc --noEmit", command{key: "tsc --noEmit", head: "tsc", class: "build"}},
		{"git status; git diff", command{key: "git status", head: "git status", class: "quiet"}},
		{"rm -f a.go b.go", command{key: "rm -f a.go b.go", touched: []touch{{"a.go", deletes}, {"b.go", deletes}}}},
		{"git mv a.go b.go", command{key: "git mv a.go b.go", touched: []touch{{"a.go", moves}, {"b.go", creates}}}},
		{"cat > x/y.txt <<'EOF'\nrm z && go test\nEOF", command{key: "cat > x/y.txt <<'EOF'", head: "cat", class: "quiet", touched: []touch{{"x/y.txt", writes}}}},
		{"rm -rf $DIR /tmp/x *.o", command{key: "rm -rf $DIR /tmp/x *.o"}},
		{`git add . && git commit -m "fix: a; b" -m "more"`, command{key: `git commit -m "fix: a; b" -m "more"`, head: "git commit", class: "commit", subject: "fix: a; b"}},
		{"git commit -m \"$(cat <<'EOF'\nAdd x\n\nlong text\nEOF\n)\"", command{key: "git commit -m \"$(cat <<'EOF' )\"", head: "git commit", class: "commit", subject: "Add x"}},
	}
	l := newLexicon()
	for _, tt := range tests {
		got := parseCommand(l, tt.line)
		if len(got.touched) == 0 {
			got.touched = nil
		}
		if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(command{}, touch{})); d != "" {
			t.Errorf("%s: %s", tt.line, d)
		}
	}
}

func TestJudge(t *testing.T) {
	test := command{class: "test"}
	tests := []struct {
		name string
		in   Entry
		as   command
		want outcome
	}{
		{"go ok", Entry{Text: "ok  \ta/b\t0.1s\nok  \ta/c\t0.2s"}, test, outcome{true, "2 packages ok"}},
		{"go fail behind a pipe", Entry{Text: "--- FAIL: TestX (0.00s)\nok  \ta/c\t0.2s"}, test, outcome{false, "FAIL TestX; 1 package ok"}},
		{"pytest", Entry{Text: "== 3 failed, 17 passed in 2s ==", IsError: true}, test, outcome{false, "3 failed, 17 passed"}},
		{"jest", Entry{Text: "Tests:       12 passed, 12 total"}, test, outcome{true, "12 passed"}},
		{"cargo", Entry{Text: "test result: ok. 7 passed; 0 failed; 0 ignored"}, test, outcome{true, "7 passed"}},
		{"words of a page", Entry{Text: "3 failed"}, command{}, outcome{true, ""}},
		{"exit code", Entry{Text: "Exit code 2\nls: cannot access 'x'", IsError: true}, command{}, outcome{false, "exit 2: ls: cannot access 'x'"}},
		{"bare exit code", Entry{Text: "Exit code 2", IsError: true}, command{}, outcome{false, "exit 2"}},
		{"place in a file", Entry{Text: "Exit code 1\nbuild failed\na.go:3:1: undefined: x", IsError: true}, command{}, outcome{false, "exit 1: a.go:3:1: undefined: x"}},
		{"colours", Entry{Text: "\x1b[31merror\x1b[0m: no", IsError: true}, command{}, outcome{false, "error: no"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(tt.in, tt.as); got != tt.want {
				t.Errorf("judge() = %+v, want %+v", got, tt.want)
			}
		})
	}
}
