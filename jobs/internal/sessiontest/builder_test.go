package sessiontest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
)

func TestID(t *testing.T) {
	if got, want := sessiontest.ID("u1"), "75310000-0000-4000-8000-000000000000"; got != want {
		t.Errorf("ID(u1) = %s, want %s", got, want)
	}
	for _, name := range []string{"a", "u1", "r1-second", "boundary-001"} {
		id := sessiontest.ID(name)
		if u, err := uuid.Parse(id); err != nil || u.Version() != 4 || u.Variant() != uuid.RFC4122 {
			t.Errorf("ID(%q) = %s is no uuid of version 4: %v", name, id, err)
		}
		if got := sessiontest.Name(id); got != name {
			t.Errorf("Name(ID(%q)) = %q", name, got)
		}
	}
	for _, id := range []string{"", "no uuid", "de7ec2c9-5e39-4a35-95ac-72b24bf8f918"} {
		if got := sessiontest.Name(id); got != id {
			t.Errorf("Name(%q) = %q, want it unchanged", id, got)
		}
	}
}

func TestIDTooLong(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a name of 13 bytes was accepted")
		}
	}()
	sessiontest.ID("abcdefghijklm")
}

func TestBuilderLines(t *testing.T) {
	head := `{"parentUuid":null,"isSidechain":false,`
	tail := `"userType":"external","cwd":"/home/dev/project","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.332","gitBranch":"main"}`
	u1, when := `"uuid":"75310000-0000-4000-8000-000000000000",`, `"timestamp":"2026-03-02T09:00:00.000Z",`
	tests := []struct {
		name  string
		write func(b *sessiontest.Builder)
		want  string
	}{
		{"prompt", func(b *sessiontest.Builder) { b.User("u1", "", "a < b") },
			head + `"type":"user","message":{"role":"user","content":"a < b"},` + u1 + when + tail},
		{"prompt with a block", func(b *sessiontest.Builder) { b.User("u1", "", "one", sessiontest.Text("two")) },
			head + `"type":"user","message":{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},` + u1 + when + tail},
		{"options", func(b *sessiontest.Builder) {
			b.System("u1", "", "note", sessiontest.At("T"), sessiontest.InSession("S"), sessiontest.Sidechain(), sessiontest.Meta(),
				sessiontest.Without("cwd"), sessiontest.Without("userType"), sessiontest.With("extra", 1))
		}, `{"parentUuid":null,"isSidechain":true,"type":"system","subtype":"note","isMeta":true,` + u1 + `"timestamp":"T","sessionId":"S","version":"2.1.332","gitBranch":"main","extra":1}`},
		{"nested", func(b *sessiontest.Builder) {
			b.Attachment("u1", "", "file", sessiontest.With("attachment.path", "x"), sessiontest.With("new.key", true), sessiontest.Without("gitBranch"))
		}, head + `"attachment":{"type":"file","path":"x"},"type":"attachment",` + u1 + when + strings.Replace(tail, `,"gitBranch":"main"}`, `,"new":{"key":true}}`, 1)},
		{"message put aside", func(b *sessiontest.Builder) { b.User("u1", "", "x", sessiontest.With("message", nil)) },
			head + `"type":"user","message":null,` + u1 + when + tail},
		{"pointer", func(b *sessiontest.Builder) { b.LastPrompt("u1", sessiontest.With("explicit", true)) },
			`{"type":"last-prompt","sessionId":"11111111-2222-4333-8444-555555555555","lastPrompt":"p","leafUuid":"75310000-0000-4000-8000-000000000000","explicit":true}`},
		{"raw", func(b *sessiontest.Builder) { b.Raw("{torn") }, "{torn"},
	}
	for _, test := range tests {
		var b sessiontest.Builder
		test.write(&b)
		if got := string(b.Bytes()); got != test.want+"\n" {
			t.Errorf("%s:\n got %s want %s", test.name, got, test.want)
		}
	}
}

// parallel is a turn with two calls made at once, folded by a compaction.
func parallel() []byte {
	var b sessiontest.Builder
	b.Control("mode", sessiontest.With("mode", "normal"))
	b.Snapshot("u1")
	b.User("u1", "", "please look")
	b.Assistant("t1", "u1", "m1", sessiontest.Thinking("two files"))
	b.Assistant("k1", "t1", "m1", sessiontest.Use("call1", "Read", map[string]string{"file_path": "a"}))
	b.Assistant("k2", "k1", "m1", sessiontest.Use("call2", "Read", map[string]string{"file_path": "b"}))
	b.Result("r1", "k1", "call1", "one")
	b.Result("r2", "k2", "call2", "two")
	b.Progress("p1", "r2")
	b.Boundary("cut", "p1")
	b.Summary("sum", "cut", "what was said")
	leaf := b.Assistant("a1", "sum", "m2", sessiontest.Text("done"))
	b.LastPrompt(sessiontest.Name(leaf))
	return b.Bytes()
}

func TestBuilderSession(t *testing.T) {
	lines := parse(t, parallel())
	var up []string
	for _, l := range chain(t, lines) {
		up = append(up, l.UUID)
	}
	if got, want := sessiontest.Names(up), []string{"a1", "sum", "cut"}; !slices.Equal(got, want) {
		t.Errorf("chain is %v, want %v", got, want)
	}
	parents := map[string]string{}
	for _, l := range lines {
		if l.ParentUUID != nil {
			parents[sessiontest.Name(l.UUID)] = sessiontest.Name(*l.ParentUUID)
		}
	}
	if parents["r1"] != "k1" || parents["k2"] != "k1" || parents["r2"] != "k2" {
		t.Errorf("the parallel turn is not the client's tree: %v", parents)
	}
	if got := lines[6].blocks(); len(got) != 1 || got[0].ToolUseID != "call1" {
		t.Errorf("result blocks are %+v", got)
	}
}
