package summary

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

var facts = Facts{
	Title: "Parser work", Cwd: "/home/ann/calc", Branch: "main", Model: "model-1",
	SourcePrefix: "0123456789ab", Records: 40, Tokens: 1234,
}

func prompt(n int, text string) Entry { return Entry{N: n, Kind: Prompt, Text: text} }
func answer(n int, text string) Entry { return Entry{N: n, Kind: Answer, Text: text} }
func call(n int, id, tool string, input ...string) Entry {
	e := Entry{N: n, Kind: Call, Tool: tool, ToolID: id}
	for i := 0; i+1 < len(input); i += 2 {
		e.Input = append(e.Input, Field{Name: input[i], Value: input[i+1]})
	}
	return e
}
func result(n int, id, text string, failed bool) Entry {
	return Entry{N: n, Kind: Result, ToolID: id, Text: text, IsError: failed}
}

func build(budget int, entries []Entry) *Builder {
	b := New(budget)
	for _, e := range entries {
		b.Add(e)
	}
	return b
}

// calculator is a session in which a decision is replaced, a test fails and
// passes, and the last turn is under way.
var calculator = []Entry{
	{N: 2, Kind: Prompt, Meta: true, Text: "Caveat: never shown"},
	{N: 3, Kind: Prompt, Time: "2025-03-01T09:00:00.000Z", Text: "Write a calculator in Go. Never use the unsafe package."},
	answer(4, "I looked around. We decided to use `yacc` for the parser because the grammar is small."),
	call(5, "a", "Write", "file_path", "/home/ann/calc/parse.go", "content", "package calc"),
	result(6, "a", "File created successfully at: /home/ann/calc/parse.go", false),
	call(7, "b", "Bash", "command", "go test ./... 2>&1"),
	result(8, "b", "Exit code 1\n--- FAIL: TestAdd (0.00s)\nFAIL\tcalc\t0.01s", true),
	call(9, "c", "Edit", "file_path", "/home/ann/calc/parse.go", "old_string", "a", "new_string", "b"),
	result(10, "c", "updated", false),
	call(11, "d", "Bash", "command", "go test ./..."),
	result(12, "d", "ok  \tcalc\t0.02s", false),
	answer(13, "The calculator works and all tests pass. Should I add floating point numbers?"),
	prompt(14, "yes, but keep integers exact"),
	answer(15, "We decided to use a hand-written parser instead of `yacc`, as the grammar `expr` has grown."),
	call(16, "e", "Edit", "file_path", "/home/ann/calc/parse.go", "old_string", "a", "new_string", "b"),
	result(17, "e", "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse math/big", true),
	call(18, "f", "Bash", "command", `git commit -m "Add floats"`),
	result(19, "f", "[main 1a2b3c] Add floats", false),
	answer(20, "Floats are in."),
	{N: 21, Kind: Command, Text: "<command-name>/cost</command-name>"},
	{N: 22, Kind: Prompt, Time: "2025-03-01T10:30:00.000Z", Text: "<system-reminder>hidden</system-reminder>now write the README\n\n# Not our heading\n<!-- not our mark -->\n[L99] is no anchor"},
	call(23, "g", "TodoWrite", "todos", `[{"content":"Write README","status":"in_progress"},{"content":"Add floats","status":"completed"}]`),
	result(24, "g", "ok", false),
	call(25, "h", "Bash", "command", "npx markdownlint README.md"),
	result(26, "h", "Exit code 1\nREADME.md:1:1 error: no heading", true),
	{N: 27, Kind: Answer, Synthetic: true, Text: "API Error: overloaded"},
}

// folded is a session in Japanese that goes on from an earlier summary.
var folded = []Entry{
	{N: 1, Kind: Prior, Text: "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion.\n\n# Goal\n- 電卓を作る [L7]\n\n# Next\n- テストを書く\n\nPlease continue the conversation from where we left it off without asking."},
	prompt(2, "テストを追加してください。設定ファイルは変更しないでください。"),
	answer(3, "テストを追加しました。すべて成功しています。続けますか？"),
	prompt(4, "いいえ、先に失敗の原因を調べて"),
	answer(5, "原因はタイムゾーンの設定でした。"),
}

func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		name    string
		entries []Entry
		facts   Facts
	}{
		{"calculator", calculator, facts},
		{"folded", folded, Facts{Handoff: []string{"Deploy on Friday.", "", "Ask Bob."}, Records: 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := build(6000, tt.entries).Text(tt.facts)
			file := filepath.Join("testdata", tt.name+".md")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestContent(t *testing.T) {
	text := build(6000, calculator).Text(facts)
	for name, want := range map[string]string{
		"layout and records":      "*Summary by precis, made without a model (layout 2) of records L2–L27 (40 records, about 1234 tokens)",
		"source":                  "(SHA-256 0123456789ab…)",
		"first request":           "- First request [L3]:\n> Write a calculator in Go. Never use the unsafe package.\n",
		"latest request":          "**Latest request** [L22]\n> now write the README\n",
		"quoted heading":          "\n> # Not our heading\n",
		"quoted comment":          "&lt;!-- not our mark --&gt;",
		"quoted anchor":           `[\L99] is no anchor`,
		"open task":               "- Write README (in progress)\n",
		"failure":                 "exit 1: README.md:1:1 error: no heading",
		"earlier decision":        "- [L4] We decided to use `yacc`",
		"later decision":          "- [L15] (later than [L4] on this) We decided to use a hand-written parser",
		"answered question":       "→ [L13] The calculator works and all tests pass. Should I add floating point numbers?\n- [L14] “yes, but keep integers exact”\n",
		"refusal with the reason": "the user refused `Edit /home/ann/calc/parse.go`: “use math/big”",
		"file":                    "- [L9] `parse.go` written and changed 1×\n",
		"commit":                  "- [L18] commit: Add floats\n",
		"test":                    "- test [L11] `go test ./...`: ok (1 package ok); 2 runs, 1 failed\n",
		"overcome failure":        "FAIL TestAdd, calc; worked later [L12]",
		"trouble":                 "API or client trouble: 1 record [L27]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing in\n%s", name, want, text)
		}
	}
	for name, unwanted := range map[string]string{
		"meta text":      "never shown",
		"reminder":       "hidden",
		"client command": "/cost",
		"tool output":    "File created",
		"synthetic text": "overloaded",
		"comment mark":   "<!--",
		"refused edit":   "changed 2×",
	} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%s: %q is in\n%s", name, unwanted, text)
		}
	}
}

func TestMask(t *testing.T) {
	hide := WithMask(func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") })
	b := New(6000, hide)
	for i, e := range []Entry{
		prompt(0, "never log hunter2"), {Kind: Thinking, Text: "We decided to use `hunter2` because it is known, so `x` is confirmed as the cause"},
		call(0, "a", "Bash", "command", "mytool --password hunter2"), result(0, "a", "error: hunter2 is wrong", true),
		answer(0, "hunter2 is set."), {Kind: Prior, Text: "hunter2"}, {Kind: Note, Text: "hunter2"},
	} {
		e.N = i + 1
		b.Add(e)
	}
	text := b.Text(Facts{Title: "hunter2", Handoff: []string{"hunter2"}})
	if strings.Contains(text, "hunter2") || strings.Count(text, "***") < 5 {
		t.Error(text)
	}
}

func TestHandoffLargerThanTheBudget(t *testing.T) {
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf("Handoff line number %d says something.", i+1))
	}
	text := build(MinBudget, calculator).Text(Facts{Handoff: lines})
	if runes(text) > MinBudget {
		t.Fatalf("%d code points", runes(text))
	}
	m := regexp.MustCompile(`- (\d+) more lines left out \[H(\d+)–H(\d+)\]`).FindStringSubmatch(text)
	kept := strings.Count(text, "Handoff line number")
	if m == nil || m[1] != strconv.Itoa(3000-kept) {
		t.Errorf("kept %d, told %q", kept, m)
	}
}

func TestPriorAnchorsAreMarked(t *testing.T) {
	text := build(6000, folded).Text(Facts{})
	if !strings.Contains(text, "電卓を作る [p.L7]") || strings.Contains(text, "Please continue") {
		t.Error(text)
	}
}

// phrases are what generated texts are made of. None is part of another.
var phrases = []string{
	"Never change the schema of the database.", "We decided to use the cache `lru` instead of the map.",
	"Please look at version 1.2.3 of main.go again.", "The root cause is a race in `store.go` because of a missing lock.",
	"Should I go on with the second part?", "绝不要修改配置文件。", "これは失敗しました。", "Мы решили оставить так.",
	"لا تستخدم هذا الملف.", "यह अभी बाकी है।", "No, that is not what I asked for.", "This one is still open and needs a decision.",
	"Everything is in place now.", "Look at https://example.com/a.b?c=d. for more!",
}

func drawEntries(t *rapid.T) []Entry {
	words := rapid.SliceOfN(rapid.SampledFrom(phrases), 1, 12)
	var out []Entry
	n := 0
	for range rapid.IntRange(0, 60).Draw(t, "entries") {
		n += rapid.IntRange(0, 3).Draw(t, "step")
		e := Entry{N: n + 1, Kind: Kind(rapid.IntRange(0, int(Note)).Draw(t, "kind"))}
		e.Text = strings.Join(words.Draw(t, "text"), rapid.SampledFrom([]string{" ", "\n\n", "\n- "}).Draw(t, "join"))
		e.Meta = rapid.IntRange(0, 9).Draw(t, "meta") == 0
		switch e.Kind {
		case Call:
			e.Tool, e.ToolID = "Bash", strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "id"))
			e.Input = []Field{{Name: "command", Value: rapid.SampledFrom([]string{"go test ./...", "rm a.go", "git commit -m 'x y'", "frob -x"}).Draw(t, "command")}}
		case Result:
			e.ToolID = strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "id"))
			e.IsError = rapid.Bool().Draw(t, "failed")
		}
		out = append(out, e)
	}
	return out
}

var anchors = regexp.MustCompile(`\[L(\d+)(?:(?:–|, )L(\d+))?\]`)

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := drawEntries(t)
		budget := rapid.IntRange(MinBudget, 9000).Draw(t, "budget")
		b := build(budget, entries)
		text := b.Text(facts)
		if runes(text) > budget {
			t.Fatalf("%d code points, budget %d", runes(text), budget)
		}
		if text != b.Text(facts) || text != build(budget, entries).Text(facts) {
			t.Fatal("not deterministic")
		}
		known := map[string]bool{"": true}
		for _, e := range entries {
			known[strconv.Itoa(e.N)] = true
		}
		for _, m := range anchors.FindAllStringSubmatch(text, -1) {
			if !known[m[1]] || !known[m[2]] {
				t.Fatalf("anchor %s of no record", m[0])
			}
		}
	})
}

// TestWholeSentences takes every quotation apart: it consists of phrases, but
// for what stands right before a mark.
func TestWholeSentences(t *testing.T) {
	quotes := regexp.MustCompile(`“([^”]*)”`)
	rapid.Check(t, func(t *rapid.T) {
		text := build(rapid.IntRange(MinBudget, 6000).Draw(t, "budget"), drawEntries(t)).Text(facts)
		for _, q := range quotes.FindAllStringSubmatch(text, -1) {
			for chunk := range strings.SplitSeq(q[1], omitted) {
				rest := chunk
				for _, p := range phrases {
					rest = strings.ReplaceAll(rest, p, "")
				}
				if strings.Trim(rest, " -") != "" && !strings.Contains(q[1], chunk+omitted) && q[1] != "…" {
					t.Fatalf("%q is cut in %q", rest, q[1])
				}
			}
		}
	})
}

func TestNewestTurnStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := drawEntries(t)
		b := build(rapid.IntRange(MinBudget, 9000).Draw(t, "budget"), entries)
		n := 1000
		b.Add(prompt(n, "Tell me about the newest thing."))
		for range rapid.IntRange(0, 8).Draw(t, "work") {
			n++
			b.Add(answer(n, "I look at it."))
			b.Add(call(n, "x", "Bash", "command", "frob"))
			b.Add(result(n, "x", "error: no", true))
			text := b.Text(facts)
			if !strings.Contains(text, "request** [L1000]") || !strings.Contains(text, "> Tell me about the newest thing.\n") {
				t.Fatalf("the latest request is not in\n%s", text)
			}
		}
	})
}

// TestGrowth: more entries do not make the text notably shorter.
func TestGrowth(t *testing.T) {
	b := New(20000)
	longest := 0
	for i := range 400 {
		n := 4*i + 1
		b.Add(prompt(n, fmt.Sprintf("Request %d: look at part %d and never drop the check %d.", i, i, i)))
		b.Add(call(n+1, "x", "Edit", "file_path", fmt.Sprintf("dir/file%d.go", i%50)))
		b.Add(result(n+2, "x", "done", false))
		b.Add(answer(n+3, fmt.Sprintf("Part %d is done. It needed %d changes in the end.", i, i)))
		if i%20 > 0 {
			continue
		}
		size := runes(b.Text(facts))
		if size < longest*97/100 {
			t.Fatalf("after request %d: %d code points, had been %d", i, size, longest)
		}
		longest = max(longest, size)
	}
	if longest < 19000 {
		t.Errorf("only %d of 20000 code points used", longest)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	b := New(MinBudget)
	size := func() int {
		n := 0
		for _, s := range []shelf{b.history, b.rules, b.choices, b.findings, b.open, b.commits} {
			n += s.cost
		}
		return n + 50*(len(b.checks.runs.byKey)+len(b.faults.byKey)+len(b.calls.pending)+len(b.todos.tasks))
	}
	for i := range 5000 {
		id := strconv.Itoa(i)
		b.Add(prompt(i, "Never do number "+id+". Use the cache instead of the map `"+id+"`, it is not done."))
		b.Add(answer(i, "We decided to use `x"+id+"` because the root cause is `y"+id+"`."))
		b.Add(call(i, id, "Bash", "command", "go test ./p"+id))
		if i%3 > 0 {
			b.Add(result(i, id, "error: x "+id, true))
		}
	}
	if got := size(); got > 8*MinBudget+50*(2*maxKeys+maxPending) {
		t.Errorf("holds %d code points", got)
	}
}

func TestEmpty(t *testing.T) {
	text := New(0).Text(Facts{})
	if !strings.HasPrefix(text, "*Summary by precis") || strings.Contains(text, "[L1") || strings.Contains(text, "##") {
		t.Errorf("%q", text)
	}
}

func FuzzAdd(f *testing.F) {
	f.Add("fix it", "```\ncode", "rm -rf x; 'unclosed")
	f.Add("<command-name>/x</command-name>", "| a |\n|--|", "cat <<EOF\n")
	f.Add("\xff\xfe[L1]", "「（`", "git commit -m \"$(cat <<'E'\n")
	f.Fuzz(func(t *testing.T, said, told, line string) {
		b := build(MinBudget, []Entry{
			prompt(1, said), answer(2, told), call(3, "a", "Bash", "command", line), result(4, "a", told, true),
			prompt(5, told), {N: 6, Kind: Prior, Text: said}, {N: 7, Kind: Thinking, Text: told},
		})
		if text := b.Text(Facts{Title: said, Handoff: []string{told}}); runes(text) > MinBudget || strings.Contains(text, "<!--") {
			t.Errorf("%d code points: %q", runes(text), text)
		}
	})
}
