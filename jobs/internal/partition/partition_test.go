package partition_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/jobs/internal/partition"
	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

func TestAnySession(t *testing.T) {
	legal := 0
	rapid.Check(t, func(t *rapid.T) {
		x := index(t, drawSession(t))
		sel := topology.Select(x, topology.Options{Mode: topology.Pointer})
		if !sel.OK() {
			t.Fatal(sel.Status, sel.Findings)
		}
		cuts := partition.NewCuts(x, sel)
		checkForced(t, x, sel, cuts)
		for cut := range cuts.Len() + 1 {
			if cuts.Legal(cut) {
				legal++
				checkCut(t, x, sel, cut)
			}
			checkSets(t, x, sel, cut)
		}
	})
	if legal < 100 {
		t.Errorf("only %d legal cuts were seen", legal)
	}
}

func TestGeneratedSession(t *testing.T) {
	for seed := range uint64(4) {
		var buf bytes.Buffer
		stats, err := sessiontest.Generate(&buf, 300<<10, seed)
		if err != nil {
			t.Fatal(err)
		}
		x := index(t, buf.Bytes())
		sel := topology.Select(x, topology.Options{Mode: topology.Pointer})
		cuts := partition.NewCuts(x, sel)
		if !sel.OK() || cuts.Len() != stats.Chain || cuts.Forced != 1 {
			t.Fatalf("seed %d: %s, %d active of %d, forced %d", seed, sel.Status, cuts.Len(), stats.Chain, cuts.Forced)
		}
		legal := 0
		for cut := range cuts.Len() {
			if cuts.Legal(cut) {
				legal++
				checkCut(t, x, sel, cut)
			}
		}
		if legal < stats.Turns {
			t.Errorf("seed %d: %d legal cuts in %d turns", seed, legal, stats.Turns)
		}
		checkSets(t, x, sel, cuts.Len()/2)
	}
}

// checkCut holds a legal cut to what it promises: messages and calls stay in one
// piece, and what is kept hangs together.
func checkCut(t fatalfer, x *transcript.Index, sel *topology.Selection, cut int) {
	t.Helper()
	folded, raw := sel.Active[:cut], sel.Active[cut:]
	messages, calls, kept := map[transcript.Sym]bool{}, map[transcript.Sym]bool{}, map[int]bool{}
	for _, r := range folded {
		if m := x.Records[r].Message; m != 0 {
			messages[m] = true
		}
		for id := range x.ToolIDs(r, transcript.Use) {
			calls[id] = true
		}
	}
	for i, r := range raw {
		if messages[x.Records[r].Message] {
			t.Fatalf("cut %d splits the message of record %d", cut, r)
		}
		for id := range x.ToolIDs(r, transcript.Result) {
			if calls[id] {
				t.Fatalf("cut %d separates the result in record %d from its call", cut, r)
			}
		}
		if i > 0 && !kept[x.Parent(r)] {
			t.Fatalf("cut %d separates record %d from its parent", cut, r)
		}
		kept[r] = true
	}
	for id := range x.ToolIDs(raw[0], transcript.Hook) {
		if calls[id] {
			t.Fatalf("cut %d begins with the hook of a folded call", cut)
		}
	}
}

type fatalfer interface {
	Helper()
	Fatalf(string, ...any)
}

// checkSets checks that the six sets are disjoint, hold every record, and only
// what they may.
func checkSets(t fatalfer, x *transcript.Index, sel *topology.Selection, cut int) {
	t.Helper()
	s := partition.Split(x, sel, cut, partition.ActiveCorrelated, 3)
	seen := make([]bool, len(x.Records))
	total := 0
	for _, set := range [][]int{s.Summary, s.Raw, s.Side, s.Control, s.ExcludedBranch, s.ExcludedUnattributed} {
		for _, r := range set {
			if seen[r] {
				t.Fatalf("cut %d: record %d is in two sets", cut, r)
			}
			seen[r] = true
			total++
		}
	}
	if total != len(x.Records) {
		t.Fatalf("cut %d: the sets hold %d of %d records", cut, total, len(x.Records))
	}
	if !slices.Equal(slices.Concat(s.Summary, s.Raw), sel.Active) {
		t.Fatalf("cut %d: summary and raw are not the conversation", cut)
	}
	for _, set := range [][]int{s.Side, s.Control, s.ExcludedBranch, s.ExcludedUnattributed} {
		if !slices.IsSorted(set) {
			t.Fatalf("cut %d: a set is not in file order: %v", cut, set)
		}
	}
	for _, r := range s.ExcludedBranch {
		if x.Records[r].UUID == 0 {
			t.Fatalf("record %d without uuid is of no branch", r)
		}
	}
	if len(s.Side) > 3 {
		t.Fatalf("%d side records, the limit is 3", len(s.Side))
	}
}

func checkForced(t fatalfer, x *transcript.Index, sel *topology.Selection, cuts *partition.Cuts) {
	t.Helper()
	prior, start := 0, 0
	for pos, r := range sel.Active {
		if x.Compact(r) {
			prior = pos + 1
		}
		if pos > 0 && x.Records[r].Session != x.Records[sel.Active[pos-1]].Session {
			start = pos
		}
	}
	if cuts.Prior != prior || cuts.LineageStart != start || cuts.Forced != max(1, prior, start) {
		t.Fatalf("prior %d, lineage %d, forced %d, want %d, %d", cuts.Prior, cuts.LineageStart, cuts.Forced, prior, start)
	}
	for i := range cuts.Len() {
		next, prev := cuts.Next(i), cuts.Prev(i)
		if next >= 0 && (next < i || !cuts.Legal(next)) || prev >= 0 && (prev > i || !cuts.Legal(prev)) {
			t.Fatalf("from %d: next %d, prev %d", i, next, prev)
		}
		if cuts.Legal(i) && (next != i || prev != i) {
			t.Fatalf("%d is legal, next %d, prev %d", i, next, prev)
		}
	}
}

// position finds a record by name in the conversation.
func position(t *testing.T, x *transcript.Index, sel *topology.Selection, name string) int {
	t.Helper()
	for pos, r := range sel.Active {
		if x.Name(x.Records[r].UUID) == sessiontest.ID(name) {
			return pos
		}
	}
	t.Fatalf("%s is not active", name)
	return 0
}

func TestLegalCuts(t *testing.T) {
	x, sel := build(t, func(b *builder) {
		b.User("u1", "", "x")
		b.Assistant("h1", "u1", "m1", sessiontest.Thinking("x"))
		b.Assistant("k1", "h1", "m1", sessiontest.Use("t1", "Bash", 1))
		b.Assistant("k2", "k1", "m1", sessiontest.Use("t2", "Bash", 1))
		b.Result("r1", "k1", "t1", "x")
		b.Result("r2", "k2", "t2", "x")
		b.Attachment("x1", "r2", "hook_success", with("attachment.toolUseID", "t1"))
		b.Attachment("x2", "x1", "file")
		b.Assistant("a1", "x2", "m2", sessiontest.Text("x"))
		b.System("s1", "a1", "turn_duration")
		b.User("u2", "s1", "x")
		b.LastPrompt("u2")
	})
	cuts := partition.NewCuts(x, sel)
	var got []string
	for pos, r := range sel.Active {
		if cuts.Legal(pos) {
			got = append(got, sessiontest.Name(x.Name(x.Records[r].UUID)))
		}
	}
	// Not u1: something must be folded. Not x1: it names a call before it.
	if want := "h1 x2 a1 s1 u2"; strings.Join(got, " ") != want {
		t.Errorf("legal before %v, want %s", got, want)
	}
	if cuts.Legal(-1) || cuts.Legal(cuts.Len()) || cuts.Legal(cuts.Len()+1) {
		t.Error("a cut outside of the conversation is legal")
	}
	if cuts.Next(cuts.Len()) != -1 || cuts.Prev(0) != -1 || cuts.Next(-5) != 1 || cuts.Prev(99) != cuts.Len()-1 {
		t.Error("search from outside of the conversation")
	}
}

func TestCosts(t *testing.T) {
	x, sel := build(t, func(b *builder) {
		b.User("u1", "", "first")
		b.Control("mode")
		b.Assistant("a1", "u1", "m1", sessiontest.Text("second"))
		b.User("u2", "a1", strings.Repeat("third ", 100))
		b.LastPrompt("u2")
	})
	cuts := partition.NewCuts(x, sel)
	var size, cost int64
	for i := cuts.Len(); i >= 0; i-- {
		if i < cuts.Len() {
			r := &x.Records[sel.Active[i]]
			size, cost = size+int64(r.Len)+1, cost+int64(r.Tokens)
		}
		if cuts.Bytes(i) != size || cuts.Tokens(i) != cost {
			t.Errorf("from %d: %d bytes, %d tokens, want %d, %d", i, cuts.Bytes(i), cuts.Tokens(i), size, cost)
		}
		if cuts.Within(cost, -1) != i || cuts.Within(-1, size) != i || cuts.Within(cost, size) != i {
			t.Errorf("within %d tokens or %d bytes is not %d", cost, size, i)
		}
	}
	if cuts.Within(-1, -1) != 0 || cuts.Within(0, -1) != 3 || cuts.Within(cuts.Tokens(1)-1, cuts.Bytes(0)) != 2 {
		t.Error("limits")
	}
}

func TestForced(t *testing.T) {
	x, sel := build(t, func(b *builder) {
		b.Boundary("b1", "")
		b.Summary("s1", "b1", "x")
		b.User("u1", "s1", "x", sessiontest.InSession(sessiontest.SessionID))
		b.User("u2", "u1", "x", sessiontest.InSession("other"))
		b.User("u3", "u2", "x", sessiontest.InSession("other"))
		b.LastPrompt("u3", sessiontest.InSession("other"))
	})
	cuts := partition.NewCuts(x, sel)
	if cuts.Prior != 2 || cuts.LineageStart != position(t, x, sel, "u2") || cuts.Forced != 3 {
		t.Errorf("prior %d, lineage %d, forced %d", cuts.Prior, cuts.LineageStart, cuts.Forced)
	}
	x, sel = build(t, func(b *builder) {
		b.User("u0", "", "x")
		b.Boundary("b1", "u0", with("parentUuid", sessiontest.ID("u0")))
		b.Summary("s1", "b1", "x")
		b.LastPrompt("s1")
	})
	if cuts := partition.NewCuts(x, sel); cuts.Prior != cuts.Len() || cuts.Next(cuts.Forced) != -1 {
		t.Errorf("a summary at the end: prior %d of %d, next %d", cuts.Prior, cuts.Len(), cuts.Next(cuts.Forced))
	}
}

func TestPhysicalTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := index(t, drawSession(t))
		sel := topology.Select(x, topology.Options{Mode: topology.PhysicalTail})
		cut := rapid.IntRange(0, len(sel.Active)).Draw(t, "cut")
		checkSets(t, x, sel, cut)
		s := partition.Split(x, sel, cut, partition.PreserveRecent, 3)
		if len(s.Side)+len(s.ExcludedBranch)+len(s.ExcludedUnattributed) > 0 {
			t.Fatalf("the tail leaves out %+v", s)
		}
		for _, r := range s.Control {
			if typ := x.Records[r].Type; typ != transcript.LastPrompt && !typ.Control() {
				t.Fatalf("record %d is neither a pointer nor session state", r)
			}
		}
	})
}

func TestSets(t *testing.T) {
	x, sel := build(t, func(b *builder) {
		b.Control("mode")                           // 0
		b.User("u1", "", "x")                       // 1
		b.User("dead", "u1", "x")                   // 2
		b.Control("ai-title")                       // 3
		b.Control("queue-operation")                // 4
		b.Control("voice-note", with("uuid", "v"))  // 5
		b.Control("voice-note", with("uuid", ""))   // 6
		b.Control("mode", with("uuid", 7))          // 7
		b.Control("last-prompt", with("uuid", "p")) // 8
		b.Snapshot("elsewhere")                     // 9
		b.User("u2", "u1", "x")                     // 10
		b.LastPrompt("u2")                          // 11
		b.User("u3", "u2", "after")                 // 12
	})
	s := partition.Split(x, sel, 1, partition.ActiveCorrelated, 9)
	want := partition.Sets{
		Summary: []int{1}, Raw: []int{10}, Control: []int{0, 3, 7, 8, 11},
		ExcludedBranch: []int{2, 5, 6, 12}, ExcludedUnattributed: []int{4, 9},
	}
	for name, sets := range map[string][2][]int{
		"summary": {s.Summary, want.Summary}, "raw": {s.Raw, want.Raw}, "side": {s.Side, nil}, "control": {s.Control, want.Control},
		"branch": {s.ExcludedBranch, want.ExcludedBranch}, "unattributed": {s.ExcludedUnattributed, want.ExcludedUnattributed},
	} {
		if !slices.Equal(sets[0], sets[1]) {
			t.Errorf("%s: %v, want %v", name, sets[0], sets[1])
		}
	}
}

// The state a session is in is what its last rows say.
func TestProjected(t *testing.T) {
	x, sel := build(t, func(b *builder) {
		for _, mode := range []string{"bypassPermissions", "default"} {
			b.Control("permission-mode", with("permissionMode", mode))
			b.Control("ai-title", with("aiTitle", mode))
		}
		b.User("u1", "", "x")
		b.User("u2", "u1", "x")
		b.Control("custom-title")
		b.Control("permission-mode", with("permissionMode", "plan"))
		b.Control("summary")
		b.LastPrompt("u2")
		b.Control("agent-name")
	})
	s := partition.Split(x, sel, 1, partition.NoSnapshots, 0)
	if got, want := s.Projected(x), []int{3, 6, 7, 10}; !slices.Equal(got, want) {
		t.Errorf("projected %v, want %v", got, want)
	}
}

func TestSide(t *testing.T) {
	id := sessiontest.ID
	const session = sessiontest.SessionID
	snap := func(opts ...sessiontest.Option) []sessiontest.Option { return opts }
	none := sessiontest.With("messageId", "nobody")
	tests := []struct {
		name string
		snap []sessiontest.Option
		want bool
	}{
		{"by the message's uuid", snap(with("messageId", id("u2"))), true},
		{"by the message of the folded part", snap(with("messageId", id("u1"))), false},
		{"by nothing", snap(none), false},
		{"by snapshotMessageId", snap(none, with("snapshotMessageId", id("u2"))), true},
		{"by sourceUuid", snap(none, with("sourceUuid", id("u2"))), true},
		{"by sourceUUID", snap(none, with("sourceUUID", id("u2"))), true},
		{"by sourceToolAssistantUUID", snap(none, with("sourceToolAssistantUUID", id("u2"))), true},
		{"by promptId", snap(none, with("promptId", "prompt2")), true},
		{"by message.id", snap(none, with("message", map[string]string{"id": "m2"})), true},
		{"by the nested messageId only", snap(none, with("snapshot.messageId", id("u2"))), false},
		{"by an unlisted key", snap(none, with("leafUuid", id("u2"))), false},
		{"by a list", snap(with("messageId", []string{id("u2")})), false},
		{"of the same session", snap(with("messageId", id("u2")), with("sessionId", session)), true},
		{"of another session", snap(with("messageId", id("u2")), with("sessionId", "other")), false},
		{"with a session that is no string", snap(with("messageId", id("u2")), with("sessionId", 7)), true},
		{"with a null uuid and parent", snap(with("messageId", id("u2")), with("uuid", nil), with("parentUuid", nil)), true},
		{"with a uuid", snap(with("messageId", id("u2")), with("uuid", "s")), false},
		{"with an empty uuid", snap(with("messageId", id("u2")), with("uuid", "")), false},
		{"with a number as uuid", snap(with("messageId", id("u2")), with("uuid", 7)), false},
		{"with a parent", snap(with("messageId", id("u2")), with("parentUuid", id("u2"))), false},
		{"with an empty parent", snap(with("messageId", id("u2")), with("parentUuid", "")), false},
		{"of another type", snap(with("messageId", id("u2")), with("type", "file-history-delta")), false},
	}
	for _, tt := range tests {
		x, sel := build(t, func(b *builder) {
			b.User("u1", "", "x")
			b.User("u2", "u1", "x", with("promptId", "prompt2"))
			b.Assistant("a2", "u2", "m2", sessiontest.Text("x"))
			b.Snapshot("u2", tt.snap...)
			b.LastPrompt("a2")
			b.Snapshot("u2")
		})
		want := []int(nil)
		if tt.want {
			want = []int{3}
		}
		s := partition.Split(x, sel, 1, partition.ActiveCorrelated, 9)
		if !slices.Equal(s.Side, want) {
			t.Errorf("%s: side %v, want %v", tt.name, s.Side, want)
		}
		if s := partition.Split(x, sel, 1, partition.NoSnapshots, 9); len(s.Side) > 0 {
			t.Errorf("%s: policy none keeps %v", tt.name, s.Side)
		}
	}
}

func TestSideLimit(t *testing.T) {
	x, sel := build(t, func(b *builder) {
		b.User("u1", "", "x")
		b.User("u2", "u1", "x")
		for range 4 {
			b.Snapshot("u2")
		}
		b.LastPrompt("u2")
	})
	for limit, want := range [][]int{nil, {5}, {4, 5}, {3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}} {
		if s := partition.Split(x, sel, 1, partition.ActiveCorrelated, limit); !slices.Equal(s.Side, want) {
			t.Errorf("limit %d: %v, want %v", limit, s.Side, want)
		}
	}
}

func TestPlan(t *testing.T) {
	x, sel := build(t, func(b *builder) {
		parent := ""
		for _, name := range strings.Fields("u0 u1 u2 u3 u4 u5 u6 u7 u8 u9") {
			b.User(name, parent, "x")
			parent = name
		}
		b.LastPrompt(parent)
	})
	cuts := partition.NewCuts(x, sel)
	each := cuts.Bytes(9)
	for _, tt := range []struct {
		goal partition.Goal
		want int
	}{
		{partition.Goal{Keep: 2, Bytes: -1, Tokens: -1}, 1},
		{partition.Goal{Keep: 2, Bytes: 5 * each, Tokens: -1}, 5},
		{partition.Goal{Keep: 7, Bytes: 5 * each, Tokens: -1}, 3},
		{partition.Goal{Keep: 9, Bytes: 0, Tokens: 0}, 1},
		{partition.Goal{Keep: 10, Bytes: 0, Tokens: 0}, -1},
		{partition.Goal{Keep: 11, Bytes: -1, Tokens: -1}, -1},
		{partition.Goal{Keep: 2, Bytes: -1, Tokens: 3 * cuts.Tokens(9)}, 7},
	} {
		if got := cuts.Plan(tt.goal); got.Cut != tt.want || got.Short {
			t.Errorf("%+v: %+v, want cut %d", tt.goal, got, tt.want)
		}
	}
}
