package topology_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
)

func TestExtension(t *testing.T) {
	calls := func(b *builder) {
		b.User("u1", "", "x")
		b.Assistant("k", "u1", "m1", use("t1", "Bash", 1), use("t2", "Bash", 2))
		b.LastPrompt("k")
	}
	result := func(b *builder, name, parent, id string, opts ...option) { b.Result(name, parent, id, "out", opts...) }
	both := func(b *builder) { calls(b); result(b, "r1", "k", "t1"); result(b, "r2", "r1", "t2") }
	tests := []struct {
		name   string
		build  func(b *builder)
		limit  int
		want   topology.Status
		extent string
		why    string
	}{
		{"nothing follows", calls, 5, topology.Valid, "", ""},
		{"both results", both, 5, topology.Valid, "r1 r2", ""},
		{"both results, limit just met", both, 2, topology.Valid, "r1 r2", ""},
		{"limit passed", both, 1, topology.ExtensionLimit, "", "accepts 1"},
		{"both in one record", func(b *builder) { calls(b); result(b, "r", "k", "t1", sessiontest.Output("t2", "out")) }, 1, topology.Valid, "r", ""},
		{"in the other order", func(b *builder) { calls(b); result(b, "r2", "k", "t2"); result(b, "r1", "r2", "t1") }, 2, topology.Valid, "r2 r1", ""},
		{"pointer without session", func(b *builder) {
			b.Assistant("k", "", "m1", use("t1", "Bash", 1))
			b.LastPrompt("k", without("sessionId"))
			result(b, "r1", "k", "t1")
		}, 5, topology.SessionMismatch, "", "no session id"},
		{"record without uuid", func(b *builder) { both(b); b.Control("mode") }, 5, topology.ExtensionUnsafe, "", "without uuid"},
		{"second result below the call", func(b *builder) { calls(b); result(b, "r1", "k", "t1"); result(b, "r2", "k", "t2") }, 5, topology.ExtensionBranch, "", "does not hang below"},
		{"below an older record", func(b *builder) { calls(b); result(b, "r1", "u1", "t1") }, 5, topology.ExtensionBranch, "", "does not hang below"},
		{"other session", func(b *builder) { calls(b); result(b, "r1", "k", "t1", inSession("other")) }, 5, topology.SessionMismatch, "", "another session"},
		{"no session", func(b *builder) { calls(b); result(b, "r1", "k", "t1", without("sessionId")) }, 5, topology.SessionMismatch, "", "another session"},
		{"an attachment", func(b *builder) { calls(b); b.Attachment("t", "k", "file") }, 5, topology.ExtensionUnsafe, "", "unsupported_record_type:attachment"},
		{"an unknown type", func(b *builder) { calls(b); b.System("t", "k", "x", with("type", "voice")) }, 5, topology.ExtensionUnsafe, "", "unsupported_record_type:voice"},
		{"a prompt", func(b *builder) { calls(b); b.User("u2", "k", "x") }, 5, topology.ExtensionUnsafe, "", "ordinary_api_message"},
		{"an answer", func(b *builder) { calls(b); b.Assistant("a", "k", "m2", sessiontest.Text("x")) }, 5, topology.ExtensionUnsafe, "", "ordinary_api_message"},
		{"a result with a text", func(b *builder) { calls(b); result(b, "r1", "k", "t1", sessiontest.Text("x")) }, 5, topology.ExtensionUnsafe, "", "ordinary_api_message"},
		{"a result of another call", func(b *builder) { calls(b); result(b, "r1", "k", "t9") }, 5, topology.ExtensionUnsafe, "", "ordinary_api_message"},
		{"a result with an empty id", func(b *builder) { calls(b); result(b, "r1", "k", "") }, 5, topology.ExtensionUnsafe, "", "ordinary_api_message"},
		{"a result twice", func(b *builder) { calls(b); result(b, "r1", "k", "t1"); result(b, "r2", "r1", "t1") }, 5, topology.ExtensionUnsafe, "", "ordinary_api_message"},
		{"a result in another role", func(b *builder) { calls(b); result(b, "r1", "k", "t1", with("message.role", "assistant")) }, 5, topology.ExtensionUnsafe, "", "ordinary_api_message"},
		{"a call stays open", func(b *builder) { calls(b); result(b, "r1", "k", "t1") }, 5, topology.ExtensionUnsafe, "", "1 tool calls"},
		{"limit before session", func(b *builder) {
			two(b)
			b.LastPrompt("a2", without("sessionId"))
			b.User("x", "a2", "x")
			b.User("y", "x", "x")
		}, 1, topology.ExtensionLimit, "", "accepts 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := build(t, tt.build)
			s := topology.Select(x, topology.Options{Mode: topology.Pointer, Extension: tt.limit})
			if s.Status != tt.want {
				t.Fatalf("status %s, want %s", s.Status, tt.want)
			}
			if !s.OK() {
				if len(s.Findings) != 1 || !strings.Contains(s.Findings[0].Message, tt.why) {
					t.Errorf("findings %+v, want %q", s.Findings, tt.why)
				}
				return
			}
			if names(x, s.Extended) != tt.extent || tt.extent != "" && !strings.HasSuffix(names(x, s.Active), tt.extent) {
				t.Errorf("extended %s, active %s", names(x, s.Extended), names(x, s.Active))
			}
			if plain := topology.Select(x, pointer); !plain.OK() || len(plain.Extended) > 0 {
				t.Errorf("without extension: %s, extended %v", plain.Status, plain.Extended)
			}
		})
	}
}
