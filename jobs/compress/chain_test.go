package compress_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/jobs/compress"
	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
	"github.com/precis-dev/precis/schemas"
)

// lagging is a session whose last pointer was written before the last turn.
func lagging() []byte {
	var b st.Builder
	b.User("u1", "", "First.")
	b.Assistant("a1", "u1", "m1", st.Text("First answer."))
	b.User("u2", "a1", "Second.")
	b.Assistant("a2", "u2", "m2", st.Text("Second answer."))
	b.LastPrompt("a2")
	b.User("u3", "a2", "LATER words.")
	b.Assistant("a3", "u3", "m3", st.Text("LATER answer."))
	return b.Bytes()
}

func TestALaggingPointer(t *testing.T) {
	w := newWorld(t)
	w.put("/s/x.jsonl", lagging())
	r := w.run()
	i := r.Items[0]
	if r.Exit != 1 || i.Class != "chains-differ" || i.Place.Line != 4 || !strings.Contains(i.Next, "mode.chain=client") || !strings.Contains(i.Next, "mode.chain=pointer") {
		t.Errorf("agreed: exit %d, %s at %d, next: %s", r.Exit, i.Class, i.Place.Line, i.Next)
	}
	if got := strings.Join(mustRun(w, "mode.chain=pointer"), "\n"); strings.Contains(got, "LATER") {
		t.Error("pointer: what was written after it is in the new file")
	}
	if !slices.ContainsFunc(w.report().Warnings, func(w compress.Warning) bool { return w.Rule == "chains-differ" }) {
		t.Error("pointer: no warning of what is left out")
	}
	whole := newWorld(t)
	whole.put("/s/x.jsonl", lagging())
	if got := strings.Join(mustRun(whole, "mode.chain=client"), "\n"); strings.Count(got, "LATER") != 2 {
		t.Error("client: the last turn is not in the new file")
	}
	leaf := newWorld(t)
	leaf.put("/s/x.jsonl", lagging())
	if got := strings.Join(mustRun(leaf, "mode.chain=leaf", "mode.leaf="+st.ID("a3")), "\n"); strings.Count(got, "LATER") != 2 {
		t.Error("leaf: the last turn is not in the new file")
	}
}

// compacted is a session after the client's own compaction, which kept its last
// turn by reference.
func compacted() []byte {
	var b st.Builder
	b.User("u1", "", "Old words.")
	b.Assistant("a1", "u1", "m1", st.Text("Old answer."))
	b.User("u2", "a1", "KEPT words.")
	b.Assistant("a2", "u2", "m2", st.Text("KEPT answer."))
	b.Boundary("b1", "a2", st.With("compactMetadata.preservedMessages", map[string]any{
		"anchorUuid": st.ID("s1"), "uuids": []string{st.ID("u2"), st.ID("a2")},
	}))
	b.Summary("s1", "b1", "What was said.")
	b.User("u3", "s1", "New words.")
	b.Assistant("a3", "u3", "m3", st.Text("New answer."))
	b.User("u4", "a3", "Newer words.")
	b.Assistant("a4", "u4", "m4", st.Text("Newer answer."))
	b.LastPrompt("a4")
	return b.Bytes()
}

// What the client's own compaction kept by reference stays where the client puts
// it: behind the summary, folded or raw like anything else.
func TestWhatTheClientsCompactionKept(t *testing.T) {
	w := newWorld(t)
	w.put("/s/x.jsonl", compacted())
	if r := w.run(); r.Exit != 1 || r.Items[0].Class != "chains-differ" || !strings.Contains(r.Items[0].Message, "only the client has 2 (lines 3 to 4)") {
		t.Errorf("agreed: exit %d: %s", r.Exit, r.Items[0].Message)
	}
	got := mustRun(w, "mode.chain=client", "budgets.keepRecords=4", "budgets.ratio=0.05")
	if summary := summaryOf(t, got); !strings.Contains(summary, "KEPT words") || !strings.Contains(summary, "What was said") {
		t.Errorf("folded: the summary is %s", summary)
	}
	raw := newWorld(t)
	raw.put("/s/x.jsonl", compacted())
	got = mustRun(raw, "mode.chain=client", "budgets.keepRecords=6", "budgets.ratio=0.95")
	all := strings.Join(got, "\n")
	if strings.Count(all, "KEPT") != 2 || strings.Index(all, "KEPT words") > strings.Index(all, "New words") {
		t.Errorf("raw: the records are not there, in their place:\n%s", all)
	}
	plain := newWorld(t)
	plain.put("/s/x.jsonl", compacted())
	if strings.Contains(strings.Join(mustRun(plain, "mode.chain=pointer"), "\n"), "KEPT") {
		t.Error("pointer: what is not on its chain is in the new file")
	}
}

// A physical tail may end with rows that have no uuid; the pointer names the last
// record that has one.
func TestPhysicalTail(t *testing.T) {
	w := newWorld(t)
	w.put("/s/x.jsonl", append(lagging(), `{"type":"queue-operation","operation":"enqueue"}`+"\n"...))
	got := mustRun(w, "mode.chain=physical-tail", "budgets.keepRecords=3", "budgets.ratio=0.05")
	if last := got[len(got)-1]; !strings.Contains(last, `"leafUuid":"`+st.ID("a3")+`"`) {
		t.Errorf("the pointer is %s", last)
	}
	state := newWorld(t)
	state.put("/s/x.jsonl", small())
	got = mustRun(state, "mode.chain=physical-tail", "budgets.keepRecords=2", "budgets.ratio=0.05")
	if all := strings.Join(got, "\n"); !strings.Contains(all, "New title") || strings.Contains(all, "Old title") || strings.Contains(all, "bypassPermissions") {
		t.Error("the last title and mode are not the ones written")
	}
}

func TestTheReportKeepsItsSchema(t *testing.T) {
	w := newWorld(t)
	w.put("/s/x.jsonl", compacted())
	w.run("mode.chain=client")
	schema, err := schemas.Compile("report")
	if err != nil {
		t.Fatal(err)
	}
	content := w.reports()["x"]
	var v any
	if err := json.Unmarshal([]byte(content), &v); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"words", "answer"} {
		if strings.Contains(content, text) {
			t.Errorf("the report holds text of the session: %q", text)
		}
	}
}

// mustRun runs the job on the world's one session x and gives the candidate.
func mustRun(w *world, set ...string) []string {
	w.t.Helper()
	if r := w.run(set...); r.Exit != 0 || r.Items[0].Status != step.Done {
		w.t.Fatalf("exit %d: %+v", r.Exit, r.Items)
	}
	return lines(w.out("x"))
}

// A physical tail may begin at a root of its own, and it may be shorter than the
// rows that follow the conversation.
func TestAPhysicalTailHangsBelowTheSummary(t *testing.T) {
	var b st.Builder
	b.User("u1", "", "First.")
	b.Assistant("a1", "u1", "m1", st.Text("First answer."))
	b.User("u2", "", "Begun anew.")
	b.Assistant("a2", "u2", "m2", st.Text("Second answer."))
	roots := b.Bytes()
	for range 6 {
		b.Raw(`{"type":"queue-operation","operation":"enqueue"}`)
	}
	for name, session := range map[string][]byte{"a root": roots, "rows at the end": b.Bytes()} {
		w := newWorld(t)
		w.put("/s/x.jsonl", session)
		got := mustRun(w, "mode.chain=physical-tail", "budgets.keepRecords=2", "budgets.ratio=0.05")
		x, err := transcript.Read(strings.NewReader(strings.Join(got, "\n")), func(int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		sel := topology.Select(x, topology.Options{Mode: topology.Pointer})
		if !sel.OK() || !x.Compact(sel.Active[0]) {
			t.Errorf("%s: the chain is %v %v", name, sel.Status, sel.Active)
		}
	}
}

// The versions that a job may name are those whose rules are known.
func TestTheSchemaKnowsTheClients(t *testing.T) {
	text, ok := schemas.Get("job.compress")
	if !ok {
		t.Fatal("no schema")
	}
	var schema struct {
		Properties struct {
			Mode struct {
				Properties struct {
					Client struct{ Enum []string }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Properties.Mode.Properties.Client.Enum; !slices.Equal(got, append([]string{""}, client.Versions()...)) {
		t.Errorf("mode.client may be %q, known are %q", got, client.Versions())
	}
}
