package sessiontest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// line is what the tests read of a record.
type line struct {
	Type       string
	UUID       string
	ParentUUID *string
	LeafUUID   string
	SessionID  string
	Timestamp  string
	Message    struct {
		ID      string
		Content json.RawMessage
	}
}

type block struct {
	Type      string
	ID        string
	ToolUseID string `json:"tool_use_id"`
}

func parse(t *testing.T, data []byte) []line {
	t.Helper()
	if len(data) > 0 && data[len(data)-1] != '\n' {
		t.Fatal("the last line has no newline")
	}
	var lines []line
	for i, raw := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// blocks of a message; none where the content is a string.
func (l line) blocks() []block {
	var b []block
	if json.Unmarshal(l.Message.Content, &b) != nil {
		return nil
	}
	return b
}

func generate(t *testing.T, size int64, seed uint64) ([]byte, sessiontest.Stats) {
	t.Helper()
	var b bytes.Buffer
	stats, err := sessiontest.Generate(&b, size, seed)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), stats
}

// chain walks from the leaf of the last line to the root, and fails where a
// parent does not stand earlier in the file.
func chain(t *testing.T, lines []line) []line {
	t.Helper()
	at := map[string]int{}
	for i, l := range lines {
		if _, twice := at[l.UUID]; twice && l.UUID != "" {
			t.Fatalf("line %d repeats a uuid", i+1)
		}
		at[l.UUID] = i
	}
	var up []line
	for id, below := lines[len(lines)-1].LeafUUID, len(lines); ; {
		i, ok := at[id]
		if !ok || i >= below || id == "" {
			t.Fatalf("the chain breaks above line %d", below+1)
		}
		up = append(up, lines[i])
		if lines[i].ParentUUID == nil {
			return up
		}
		id, below = *lines[i].ParentUUID, i
	}
}

func TestGenerateChain(t *testing.T) {
	for seed := range uint64(4) {
		data, stats := generate(t, 2_000_000, seed)
		lines := parse(t, data)
		up := chain(t, lines)
		if len(up) != stats.Chain || up[0].UUID != stats.Leaf {
			t.Errorf("seed %d: %d records up from %s, the stats say %d from %s", seed, len(up), up[0].UUID, stats.Chain, stats.Leaf)
		}
		if len(lines) != stats.Records || int64(len(data)) != stats.Bytes {
			t.Errorf("seed %d: %d lines and %d bytes, the stats say %d and %d", seed, len(lines), len(data), stats.Records, stats.Bytes)
		}
		checkGroups(t, lines, up)
	}
}

// checkGroups holds what the client relies on: a call on the chain is answered
// on the chain, right below its message, and no message is on two branches.
func checkGroups(t *testing.T, lines, up []line) {
	t.Helper()
	active, messages, answered := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, l := range up {
		active[l.UUID] = true
		messages[l.Message.ID] = true
		for _, b := range l.blocks() {
			switch b.Type {
			case "tool_result":
				answered[b.ToolUseID] = true
			case "tool_use":
				if !answered[b.ID] {
					t.Errorf("call %s has no result below it", b.ID)
				}
			}
		}
	}
	for _, l := range lines {
		if l.Type == "assistant" && !active[l.UUID] && messages[l.Message.ID] {
			t.Errorf("message %s is on the chain and off it", l.Message.ID)
		}
	}
}

func TestGenerateKinds(t *testing.T) {
	data, stats := generate(t, 3_000_000, 7)
	seen, last := map[string]int{}, ""
	for i, l := range parse(t, data) {
		seen[l.Type]++
		if l.Timestamp < last && l.Timestamp != "" {
			t.Errorf("line %d goes back in time", i+1)
		}
		last = max(last, l.Timestamp)
		if l.Type != "file-history-snapshot" && l.SessionID != stats.SessionID {
			t.Errorf("line %d is of another session", i+1)
		}
	}
	for _, kind := range []string{
		"mode", "permission-mode", "ai-title", "file-history-snapshot", "user", "assistant",
		"attachment", "system", "queue-operation", "last-prompt",
	} {
		if seen[kind] == 0 {
			t.Errorf("no %s record", kind)
		}
	}
	if stats.Rewinds == 0 {
		t.Error("no rewound branch")
	}
	if want := stats.Turns/5 + 1; seen["last-prompt"] != want {
		t.Errorf("%d pointers in %d turns, want %d", seen["last-prompt"], stats.Turns, want)
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	a, as := generate(t, 300_000, 3)
	b, bs := generate(t, 300_000, 3)
	if !bytes.Equal(a, b) || as != bs {
		t.Error("the same seed gave two sessions")
	}
	if c, _ := generate(t, 300_000, 4); bytes.Equal(a, c) {
		t.Error("two seeds gave one session")
	}
}

// A longer session begins with the turns of a shorter one, so a size is never
// reached by padding.
func TestGenerateSize(t *testing.T) {
	small, _ := generate(t, 100_000, 9)
	large, _ := generate(t, 400_000, 9)
	if len(small) < 100_000 || len(large) < 400_000 {
		t.Errorf("%d and %d bytes are under the size asked for", len(small), len(large))
	}
	body := small[:bytes.LastIndex(small[:len(small)-1], []byte("\n"))+1]
	if !bytes.HasPrefix(large, body) {
		t.Error("the larger session does not begin as the smaller")
	}
}

type brokenWriter struct{ room int }

var errBroken = errors.New("disk full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.room -= n
	if n < len(p) {
		return n, errBroken
	}
	return n, nil
}

func TestGenerateReportsWriteError(t *testing.T) {
	stats, err := sessiontest.Generate(&brokenWriter{room: 400_000}, 1<<40, 1)
	if !errors.Is(err, errBroken) {
		t.Fatalf("error is %v", err)
	}
	if stats.Bytes != 400_000 {
		t.Errorf("stats say %d bytes were taken, want 400000", stats.Bytes)
	}
}

func BenchmarkGenerate(b *testing.B) {
	const size = 32 << 20
	b.SetBytes(size)
	for b.Loop() {
		if _, err := sessiontest.Generate(io.Discard, size, 1); err != nil {
			b.Fatal(err)
		}
	}
}
