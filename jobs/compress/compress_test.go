package compress_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/step"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// small is a session of three turns: titles that change, a snapshot tied to the
// last prompt, one tied to the first, a row nobody knows, and a rewound branch.
func small() []byte {
	var b st.Builder
	b.Control("permission-mode", st.With("permissionMode", "bypassPermissions"))
	b.Snapshot("u1")
	b.User("u1", "", "Please make the parser faster.")
	b.Assistant("a1", "u1", "m1", st.Text("I made the parser faster by caching."))
	b.Control("ai-title", st.With("aiTitle", "Old title"))
	b.User("x1", "a1", "REWOUND words.")
	b.User("u2", "a1", "Now write the tests.")
	b.Assistant("a2", "u2", "m2", st.Text("The tests are written."))
	b.Control("permission-mode", st.With("permissionMode", "default"))
	b.Control("ai-title", st.With("aiTitle", "New title"))
	b.Raw(`{"type":"unknown-row","note":"UNATTRIBUTED words"}`)
	b.Snapshot("u3")
	b.User("u3", "a2", "Ship it.")
	b.Assistant("a3", "u3", "m3", st.Text("Shipped."))
	b.LastPrompt("a3", st.With("pinned", true))
	return b.Bytes()
}

func TestCandidateHoldsWhatTheFormatAsksForInItsOrder(t *testing.T) {
	w := newWorld(t)
	w.put("/s/small.jsonl", small())
	got, item := w.one("small")
	source := lines(small())
	want := []struct{ what, line string }{
		{"last permission mode", source[8]},
		{"last title", source[9]},
		{"snapshot of the kept prompt", source[11]},
		{"boundary", ""},
		{"summary", ""},
		{"first kept record", ""},
		{"second kept record", source[13]},
		{"pointer", source[14]},
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, c := range want {
		if c.line != "" && got[i] != c.line {
			t.Errorf("%s: line %d is\n%s\nwant\n%s", c.what, i+1, got[i], c.line)
		}
	}
	var boundary, summary, first map[string]any
	for i, v := range []*map[string]any{&boundary, &summary, &first} {
		if err := json.Unmarshal([]byte(got[3+i]), v); err != nil {
			t.Fatal(err)
		}
	}
	if boundary["type"] != "system" || boundary["subtype"] != "compact_boundary" || boundary["parentUuid"] != nil {
		t.Errorf("boundary: %v", boundary)
	}
	if summary["parentUuid"] != boundary["uuid"] || summary["isCompactSummary"] != true || summary["type"] != "user" {
		t.Errorf("summary: %v", summary)
	}
	if first["uuid"] != st.ID("u3") || first["parentUuid"] != summary["uuid"] {
		t.Errorf("first kept record: %v", first)
	}
	// The one value that changes in it is the parent.
	if undone := strings.Replace(got[5], summary["uuid"].(string), st.ID("a2"), 1); undone != source[12] {
		t.Errorf("first kept record differs in more than its parent:\n%s\n%s", got[5], source[12])
	}
	if item.Status != step.Done || item.Source == "" || len(item.Outputs) != 1 {
		t.Errorf("item: %+v", item)
	}
}

func TestExcludedTextReachesNothing(t *testing.T) {
	for _, c := range []struct{ session, text string }{
		{"small", "REWOUND"}, {"small", "UNATTRIBUTED"},
		{"27-rewound-branch", "ABANDONED-HERON"},
		{"36-sidechain-inline", "SIDE-ONLY"},
	} {
		t.Run(c.session+"/"+c.text, func(t *testing.T) {
			w := newWorld(t)
			if c.session == "small" {
				w.put("/s/small.jsonl", small())
			} else {
				w.putCase(c.session)
			}
			w.one(c.session)
			for _, root := range []string{"/out", "/state"} {
				for name, content := range w.files(root) {
					if strings.Contains(content, c.text) {
						t.Errorf("%s holds %q", name, c.text)
					}
				}
			}
		})
	}
}

func TestRefusalsNameTheTroubleAndWriteNothing(t *testing.T) {
	for _, c := range []struct {
		session, class string
		line           int
		set            []string
	}{
		{"01-healthy-baseline", "nothing-to-summarize", 0, []string{"budgets.keepRecords=12"}},
		{"02-dangling-tool-use", "tool-use-without-result", 12, nil},
		{"05-phantom-parent", "dangling", 11, nil},
		{"06-parent-cycle", "loop", 12, nil},
		{"08-duplicate-uuid-conflict", "duplicate-uuid", 11, nil},
		{"09-torn-last-line", "torn-final-line", 14, nil},
		{"11-glued-records", "glued-records", 10, nil},
		{"13-nul-block-middle", "nul-block", 10, nil},
		{"15-raw-newline-in-string", "split-record", 12, nil},
		{"18-lone-surrogate", "lone-surrogate", 11, []string{"budgets.keepRecords=5"}},
		{"29-no-last-prompt", "absent", 0, nil},
		{"30-pointer-without-leaf", "malformed", 14, nil},
		{"32-boundary-no-metadata", "boundary-metadata-missing", 3, nil},
		{"35-session-lineage-a-b-a", "session-mismatch", 12, nil},
		{"46-codex-torn-then-retried", "unsupported-agent", 0, nil},
		{"49-gemini-jsonl-set-and-rewind", "unsupported-agent", 0, nil},
		{"51-pi-result-on-other-branch", "unsupported-agent", 0, nil},
	} {
		t.Run(c.session, func(t *testing.T) {
			w := newWorld(t)
			w.putCase(c.session)
			r := w.run(c.set...)
			if r.Exit != 1 || len(r.Items) != 1 {
				t.Fatalf("exit %d, items %+v", r.Exit, r.Items)
			}
			i := r.Items[0]
			if i.Status != step.Refused || i.Class != c.class || i.Place.Line != c.line || i.Message == "" {
				t.Errorf("%s %s at line %d: %s", i.Status, i.Class, i.Place.Line, i.Message)
			}
			if i.Next == "" {
				t.Error("no next step for the person")
			}
			if out := w.files("/out"); len(out) > 0 {
				t.Errorf("files written: %v", out)
			}
		})
	}
}

// A file without conversation is passed over and is no failure of the batch.
func TestStubsAreNoFailure(t *testing.T) {
	w := newWorld(t)
	w.putCase("45-control-rows-only")
	w.put("/s/empty.jsonl", nil)
	w.put("/s/small.jsonl", small())
	r := w.run("run.onFailure=stop")
	if r.Exit != 0 {
		t.Fatalf("exit %d: %+v", r.Exit, r.Items)
	}
	for i, want := range []step.Status{step.Refused, step.Refused, step.Done} {
		if got := r.Items[i]; got.Status != want || want == step.Refused && (got.Class != "absent" || !got.Skip) {
			t.Errorf("%s: %s %s", got.Session, got.Status, got.Class)
		}
	}
	if got := w.files("/out"); len(got) != 1 {
		t.Errorf("files: %v", got)
	}
}

// Names need not be UTF-8; one that is not must not stop the others.
func TestANameThatIsNoText(t *testing.T) {
	w := newWorld(t)
	w.put("/s/bad\xff.jsonl", small())
	w.put("/s/small.jsonl", small())
	if r := w.run(); r.Exit != 0 || len(r.Items) != 2 {
		t.Errorf("exit %d: %+v", r.Exit, r.Items)
	}
}

func TestHandoff(t *testing.T) {
	for _, c := range []struct {
		what, class string
		put         func(w *world)
	}{
		{"missing", "handoff-unreadable", func(*world) {}},
		{"empty", "handoff-empty", func(w *world) { w.put("/notes.txt", []byte(" \n")) }},
		{"bytes", "handoff-not-text", func(w *world) { w.put("/notes.txt", []byte("\xff\xfe")) }},
		{"a folder", "handoff-not-a-file", func(w *world) { _ = w.fs.Mkdir("/notes.txt", 0o700) }},
		{"text", "", func(w *world) { w.put("/notes.txt", []byte("Mind the gap.\n")) }},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t)
			w.put("/s/small.jsonl", small())
			c.put(w)
			r := w.run("input.handoff=notes.txt")
			if c.class != "" {
				if r.Exit != 1 || r.Items[0].Class != c.class || r.Items[0].Next == "" || len(w.files("/out")) > 0 {
					t.Errorf("exit %d: %+v", r.Exit, r.Items)
				}
				return
			}
			if summary := summaryOf(t, lines(w.out("small"))); r.Exit != 0 || !strings.Contains(summary, "Mind the gap.") || !strings.Contains(summary, "[H1]") {
				t.Errorf("exit %d, summary %s", r.Exit, summary)
			}
		})
	}
}

func TestParallelCallsStayTogether(t *testing.T) {
	calls := []string{`"tool_use"`, `"tool_result"`}
	count := func(ls []string, what string) int {
		return strings.Count(strings.Join(ls, "\n"), `"type":`+what)
	}
	for keep := 1; keep <= 11; keep++ {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			w := newWorld(t)
			w.putCase("04-parallel-siblings-off-chain")
			r := w.run(fmt.Sprint("budgets.keepRecords=", keep), "budgets.ratio=0.05")
			if r.Exit != 0 {
				t.Skipf("nothing to fold: %s", r.Items[0].Message)
			}
			got := lines(w.out("04-parallel-siblings-off-chain"))
			uses, results := count(got, calls[0]), count(got, calls[1])
			if uses != results {
				t.Errorf("%d calls and %d results are kept", uses, results)
			}
		})
	}
}

func TestKeptRecordsKeepTheirBytes(t *testing.T) {
	for _, c := range []struct {
		session string
		line    int // of the source
		holds   string
	}{
		{"40-exact-bytes", 11, `12345678901234567890`},
		{"16-unicode-line-separators", 10, "\u2028"},
		{"21-latest-turn-thinking", 11, `"thinking"`},
		{"39-unknown-types-and-fields", 12, `voice-note`},
	} {
		t.Run(c.session, func(t *testing.T) {
			w := newWorld(t)
			w.putCase(c.session)
			source := lines(testdata(t, "cases/"+c.session+".jsonl"))[c.line-1]
			got, _ := w.one(c.session, "budgets.keepRecords=5", "mode.chain=pointer")
			if !slices.Contains(got, source) {
				t.Errorf("line %d of the source is not in the candidate as it was", c.line)
			}
			if !strings.Contains(source, c.holds) {
				t.Fatalf("the case changed: %q is not in line %d", c.holds, c.line)
			}
		})
	}
}

func TestWhatReachesTheSummary(t *testing.T) {
	for _, c := range []struct {
		session   string
		in, never []string
	}{
		{"24-progress-bloat", nil, []string{"normalizedMessages"}},
		{"38-synthetic-error-rows", []string{"sort the rows"}, []string{"API Error"}},
	} {
		t.Run(c.session, func(t *testing.T) {
			w := newWorld(t)
			w.putCase(c.session)
			got, _ := w.one(c.session, "budgets.ratio=0.05")
			summary := summaryOf(t, got)
			for _, text := range c.in {
				if !strings.Contains(summary, text) {
					t.Errorf("%q is not in the summary", text)
				}
			}
			for _, text := range c.never {
				if strings.Contains(summary, text) {
					t.Errorf("%q is in the summary", text)
				}
			}
		})
	}
}

// What a helper agent found reaches the new file, though the rows of its
// progress do not.
func TestTheHelpersFindingIsNotLost(t *testing.T) {
	for keep := 1; keep < 8; keep++ {
		w := newWorld(t)
		w.putCase("24-progress-bloat")
		got, _ := w.one("24-progress-bloat", fmt.Sprint("budgets.keepRecords=", keep), "budgets.ratio=0.05")
		if !strings.Contains(strings.Join(got, "\n"), "54 shelves") {
			t.Errorf("with %d records kept the finding is nowhere", keep)
		}
	}
}

func TestUnknownFieldsOfThePointerSurvive(t *testing.T) {
	w := newWorld(t)
	w.putCase("39-unknown-types-and-fields")
	got, _ := w.one("39-unknown-types-and-fields", "mode.chain=pointer")
	if last := got[len(got)-1]; !strings.Contains(last, `"pinned":true`) || !strings.Contains(last, `"last-prompt"`) {
		t.Errorf("the last line is %s", last)
	}
}

func TestTheFirstSessionOfALineageIsFoldedWhole(t *testing.T) {
	const ancestor = "ab056223-0f8e-50d6-b93a-7d04a1c13ccc" // lines 4 to 9
	w := newWorld(t)
	w.putCase("34-session-lineage-a-b")
	w.one("34-session-lineage-a-b", "budgets.keepRecords=9", "budgets.ratio=0.95")
	if r := w.report(); r.Partition.Summary.Count != 6 || r.Partition.Raw.Count != 5 {
		t.Errorf("%d folded and %d kept, want 6 and 5", r.Partition.Summary.Count, r.Partition.Raw.Count)
	}
	x := index(t, w.out("34-session-lineage-a-b"))
	for _, r := range x.Records {
		if r.UUID != 0 && x.Name(r.Session) == ancestor {
			t.Errorf("line %d is of the ancestor session", r.Line)
		}
	}
}

func TestLeafModeWorksWithoutAPointer(t *testing.T) {
	w := newWorld(t)
	w.putCase("29-no-last-prompt")
	leaf := "36e1a85a-ab03-515e-9411-89570e3b6f78"
	got, _ := w.one("29-no-last-prompt", "mode.chain=leaf", "mode.leaf="+leaf)
	last := got[len(got)-1]
	if !strings.Contains(last, `"type":"last-prompt"`) || !strings.Contains(last, `"leafUuid":"`+leaf+`"`) {
		t.Errorf("the pointer is %s", last)
	}
}

func TestSameJobSameBytesWhateverTheWorkers(t *testing.T) {
	type outcome map[string]string
	runs := map[string]outcome{}
	for _, workers := range []string{"1", "4", "1"} {
		w := newWorld(t)
		for _, f := range []string{"2.1.197-long-parallel", "2.1.332-edits", "2.1.332-rewound", "2.1.197-images"} {
			w.put("/s/"+f+".jsonl", testdata(t, "sessions/"+f+".jsonl"))
		}
		r := w.run("run.workers=" + workers)
		if r.Exit != 0 {
			t.Fatalf("%+v", r.Items)
		}
		got := outcome{}
		for name, content := range w.files("/out") {
			got[name] = content
		}
		for name, content := range w.reports() {
			got["report of "+name] = content
		}
		for name, content := range runs["1"] {
			if got[name] != content {
				t.Errorf("%s differs with %s workers", name, workers)
			}
		}
		if len(got) != 8 {
			t.Fatalf("%d files, want 4 candidates and 4 reports", len(got))
		}
		runs[workers] = got
	}
}

func TestRunningAgain(t *testing.T) {
	w := newWorld(t)
	w.put("/s/small.jsonl", small())
	w.one("small")
	before := w.out("small")

	r := w.run()
	if r.Exit != 0 || r.Items[0].Status != step.UpToDate {
		t.Errorf("the second run: exit %d, %s", r.Exit, r.Items[0].Status)
	}

	w.put("/s/small.jsonl", bytes.Replace(small(), []byte("Ship it."), []byte("Ship it!"), 1))
	if r := w.run(); r.Exit != 0 {
		t.Errorf("an output of ours is not replaced: %+v", r.Items)
	}
	if bytes.Equal(w.out("small"), before) {
		t.Error("the output did not change with its source")
	}

	w.put("/out/small.jsonl", []byte("somebody's\n"))
	if r := w.run(); r.Exit != 1 || r.Items[0].Class != "output-exists" {
		t.Errorf("a foreign output: exit %d, %s", r.Exit, r.Items[0].Class)
	}
	if got := string(w.out("small")); got != "somebody's\n" {
		t.Errorf("a foreign output was changed: %q", got)
	}
	if r := w.runWith(engine.Options{Force: true}); r.Exit != 0 {
		t.Errorf("forced: %+v", r.Items)
	}
}

func TestTheOutputIsNeverTheInput(t *testing.T) {
	w := newWorld(t)
	w.put("/s/small.jsonl", small())
	r := w.runWith(engine.Options{Force: true}, `publish.path=/s/{session}.jsonl`)
	if r.Exit != 1 || r.Items[0].Class != "output-is-input" {
		t.Errorf("exit %d: %+v", r.Exit, r.Items)
	}
	if got := w.files("/s")["/s/small.jsonl"]; got != string(small()) {
		t.Error("the session was changed")
	}
}

func TestCompressingTheCandidateAgain(t *testing.T) {
	w := newWorld(t)
	w.put("/s/long.jsonl", testdata(t, "sessions/2.1.197-long-parallel.jsonl"))
	w.one("long", "budgets.keepRecords=60")
	w.put("/s/long.jsonl", w.out("long"))
	got, _ := w.one("long", "budgets.keepRecords=10", "budgets.ratio=0.1", `publish.path=/out/again.jsonl`, `input.sessions=["/s/long.jsonl"]`)
	_ = got
	again := lines(w.out("again"))
	if n := strings.Count(strings.Join(again, "\n"), `"isCompactSummary":true`); n != 1 {
		t.Errorf("%d summaries, want the new one alone", n)
	}
}

// The cut is the longest raw part that meets the gate: one legal cut earlier
// breaks it.
func TestTheGateIsSolvedFor(t *testing.T) {
	data := testdata(t, "sessions/2.1.197-long-parallel.jsonl")
	for _, gate := range []int{20_000, 30_000, 45_000} {
		t.Run(fmt.Sprint(gate), func(t *testing.T) {
			w := newWorld(t)
			w.put("/s/long.jsonl", data)
			w.one("long", fmt.Sprint("budgets.tokens=", gate), "budgets.ratio=0.95", "budgets.keepRecords=2")
			report := w.report()
			if report.After.Tokens > int64(gate) {
				t.Fatalf("%d tokens, the gate is %d", report.After.Tokens, gate)
			}
			// One turn more must not fit: the slack is less than the largest turn.
			if slack := int64(gate) - report.After.Tokens; slack > 4_000 {
				t.Errorf("%d tokens of the gate are unused", slack)
			}
		})
	}
}

func TestAGateThatCannotBeMetSaysByHowMuch(t *testing.T) {
	w := newWorld(t)
	w.put("/s/long.jsonl", testdata(t, "sessions/2.1.197-long-parallel.jsonl"))
	r := w.run("budgets.tokens=5000", "budgets.keepRecords=120")
	i := r.Items[0]
	if r.Exit != 1 || i.Class != "gate-tokens" || !strings.Contains(i.Message, "5000") {
		t.Errorf("exit %d, %s: %s", r.Exit, i.Class, i.Message)
	}
}

// Every session at hand gives a valid candidate or a named refusal.
func TestAllSessions(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../testdata/sessions/*.jsonl", "../../testdata/vectors/*/session.jsonl", "../../../shared/sessions/*.jsonl", "../../../shared/sessions/*/*.jsonl", "../../../shared/corpus/claude/*.jsonl", "../../../shared/corpus/claude/*/*.jsonl"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		t.Run(strings.TrimPrefix(filepath.ToSlash(f), "../../"), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			w.put("/s/x.jsonl", data)
			r := w.run("budgets.keepRecords=4")
			i := r.Items[0]
			switch i.Status {
			case step.Done:
				w.put("/s/x.jsonl", w.out("x"))
			case step.Refused:
				if i.Class == "" || i.Class == "candidate-invalid" || i.Next == "" {
					t.Errorf("%s at %d: %s (next: %s)", i.Class, i.Place.Line, i.Message, i.Next)
				}
			default:
				t.Errorf("%s %s: %s", i.Status, i.Class, i.Message)
			}
		})
	}
}
