package topology_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

type (
	builder = sessiontest.Builder
	option  = sessiontest.Option
)

var (
	with      = sessiontest.With
	without   = sessiontest.Without
	inSession = sessiontest.InSession
	use       = sessiontest.Use
	pointer   = topology.Options{Mode: topology.Pointer}
)

type fataler interface {
	Helper()
	Fatal(...any)
}

func read(t fataler, data []byte) *transcript.Index {
	t.Helper()
	x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func build(t fataler, f func(b *builder)) *transcript.Index {
	t.Helper()
	var b builder
	f(&b)
	return read(t, b.Bytes())
}

// names are the records' short names, separated by spaces.
func names(x *transcript.Index, records []int) string {
	var out []string
	for _, r := range records {
		name := sessiontest.Name(x.Name(x.Records[r].UUID))
		if name == "" {
			name = x.TypeName(r)
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// turn writes a prompt u<n> and its answer a<n>.
func turn(b *builder, n, parent string, opts ...option) {
	b.User("u"+n, parent, "prompt "+n, opts...)
	b.Assistant("a"+n, "u"+n, "m"+n, append([]option{sessiontest.Text("answer")}, opts...)...)
}

// two writes the turns u1 a1 u2 a2.
func two(b *builder) {
	turn(b, "1", "")
	turn(b, "2", "a1")
}

func TestStatus(t *testing.T) {
	const A, B = "session-a", "session-b"
	tests := []struct {
		name  string
		build func(b *builder)
		want  topology.Status
		line  int // of the first finding
	}{
		{"valid", func(b *builder) { two(b); b.LastPrompt("a2") }, topology.Valid, 0},
		{"the last pointer rules", func(b *builder) { two(b); b.LastPrompt("a2"); b.LastPrompt("a1") }, topology.Valid, 0},
		{"an older pointer may be bad", func(b *builder) { b.LastPrompt("gone"); two(b); b.LastPrompt("a2") }, topology.Valid, 0},
		{"a pointer before its leaf", func(b *builder) { b.LastPrompt("a2"); two(b) }, topology.Valid, 0},
		{"duplicate on the chain", func(b *builder) { two(b); b.User("u2", "a1", "copy"); b.LastPrompt("a2") }, topology.DuplicateUUID, 5},
		{"duplicate beside the chain", func(b *builder) { two(b); turn(b, "3", "a1"); b.User("u3", "a1", "copy"); b.LastPrompt("a2") }, topology.DuplicateUUID, 7},
		{"two empty uuids are none", func(b *builder) {
			two(b)
			b.Control("x", with("uuid", ""))
			b.Control("x", with("uuid", ""))
			b.LastPrompt("a2")
		}, topology.Valid, 0},
		{"two number uuids are none", func(b *builder) {
			two(b)
			b.Control("x", with("uuid", 7))
			b.Control("x", with("uuid", 7))
			b.LastPrompt("a2")
		}, topology.Valid, 0},
		{"no pointer", two, topology.Absent, 0},
		{"no record", func(*builder) {}, topology.Absent, 0},
		{"leaf missing", func(b *builder) { two(b); b.LastPrompt("a2"); b.LastPrompt("a2", without("leafUuid")) }, topology.MalformedLeaf, 6},
		{"leaf null", func(b *builder) { two(b); b.LastPrompt("a2", with("leafUuid", nil)) }, topology.MalformedLeaf, 5},
		{"leaf empty", func(b *builder) { two(b); b.LastPrompt("a2", with("leafUuid", "")) }, topology.MalformedLeaf, 5},
		{"leaf a number", func(b *builder) { two(b); b.LastPrompt("a2", with("leafUuid", 5)) }, topology.MalformedLeaf, 5},
		{"leaf unknown", func(b *builder) { two(b); b.LastPrompt("gone") }, topology.Dangling, 5},
		{"leaf in other case", func(b *builder) {
			b.User("jz", "", "x")
			b.LastPrompt("jz", with("leafUuid", strings.ToUpper(sessiontest.ID("jz"))))
		}, topology.Dangling, 2},
		{"parent unknown", func(b *builder) { turn(b, "1", "gone"); b.LastPrompt("a1") }, topology.Dangling, 1},
		{"the logical parent is none", func(b *builder) { two(b); b.Boundary("b", "gone"); b.Summary("s", "b", "x"); b.LastPrompt("s") }, topology.Valid, 0},
		{"circle", func(b *builder) { turn(b, "1", "a2"); turn(b, "2", "a1"); b.LastPrompt("a2") }, topology.Loop, 4},
		{"its own parent", func(b *builder) { b.User("u1", "u1", "x"); b.LastPrompt("u1") }, topology.Loop, 1},
		{"circle beside the chain", func(b *builder) { two(b); b.User("x", "y", "x"); b.User("y", "x", "y"); b.LastPrompt("a2") }, topology.Valid, 0},
		{"parent empty", func(b *builder) { turn(b, "1", "", with("parentUuid", "")); b.LastPrompt("u1") }, topology.MalformedParent, 1},
		{"parent a number", func(b *builder) { two(b); b.User("u3", "", "x", with("parentUuid", 3)); b.LastPrompt("u3") }, topology.MalformedParent, 5},
		{"malformed beside the chain", func(b *builder) { two(b); b.User("u3", "", "x", with("parentUuid", []int{})); b.LastPrompt("a2") }, topology.Valid, 0},
		{"no parent key", func(b *builder) { b.User("u1", "", "x", without("parentUuid")); b.LastPrompt("u1") }, topology.Valid, 0},
		{"child before parent", func(b *builder) { b.User("u2", "a1", "x"); turn(b, "1", ""); b.LastPrompt("u2") }, topology.NonMonotonic, 1},
		{"inverted beside the chain", func(b *builder) { b.User("x", "a1", "x"); two(b); b.LastPrompt("a2") }, topology.Valid, 0},
		{"pointer of another session", func(b *builder) { two(b); b.LastPrompt("a2", inSession(B)) }, topology.SessionMismatch, 1},

		// What is decided first wins.
		{"duplicate before absent", func(b *builder) { two(b); b.User("u2", "a1", "copy") }, topology.DuplicateUUID, 5},
		{"duplicate before malformed leaf", func(b *builder) { two(b); b.User("u2", "a1", "copy"); b.LastPrompt("a2", without("leafUuid")) }, topology.DuplicateUUID, 5},
		{"duplicate before dangling", func(b *builder) { two(b); b.User("u2", "a1", "copy"); b.LastPrompt("gone") }, topology.DuplicateUUID, 5},
		{"malformed leaf before anything of the chain", func(b *builder) { turn(b, "1", "gone"); b.LastPrompt("a1", with("leafUuid", nil)) }, topology.MalformedLeaf, 3},
		{"dangling before mismatch", func(b *builder) { turn(b, "1", "gone", inSession(A)); b.LastPrompt("a1", inSession(B)) }, topology.Dangling, 1},
		{"dangling before non-monotonic", func(b *builder) { b.User("x", "u1", "x"); b.User("u1", "gone", "x"); b.LastPrompt("x") }, topology.Dangling, 2},
		{"the nearer fault ends the walk", func(b *builder) {
			b.User("u1", "gone", "x")
			b.User("u2", "u1", "x", with("parentUuid", false))
			b.LastPrompt("u2")
		}, topology.MalformedParent, 2},
		{"loop before mismatch", func(b *builder) { b.User("u1", "u1", "x", inSession(A)); b.LastPrompt("u1", inSession(B)) }, topology.Loop, 1},
		{"loop before non-monotonic", func(b *builder) { b.User("x", "y", "x"); b.User("y", "x", "y"); b.LastPrompt("x") }, topology.Loop, 1},
		{"malformed parent before mismatch", func(b *builder) {
			b.User("u1", "", "x", with("parentUuid", 1), inSession(A))
			b.LastPrompt("u1", inSession(B))
		}, topology.MalformedParent, 1},
		{"non-monotonic before mismatch", func(b *builder) {
			b.User("u2", "a1", "x")
			turn(b, "1", "")
			b.LastPrompt("u2", inSession(B))
		}, topology.NonMonotonic, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := topology.Select(build(t, tt.build), pointer)
			if s.Status != tt.want || s.OK() != (tt.want == topology.Valid) {
				t.Fatalf("status %s, want %s; %v", s.Status, tt.want, s.Findings)
			}
			if s.OK() {
				if len(s.Findings) > 0 || len(s.Active) == 0 || s.Leaf < 0 {
					t.Errorf("valid with leaf %d, active %v, findings %v", s.Leaf, s.Active, s.Findings)
				}
				return
			}
			if len(s.Active) > 0 || len(s.Findings) == 0 || s.Findings[0].Rule != string(tt.want) || s.Findings[0].Line != tt.line {
				t.Errorf("active %v, findings %+v", s.Active, s.Findings)
			}
		})
	}
}

func TestDanglingSaysWhatIsLost(t *testing.T) {
	x := build(t, func(b *builder) { turn(b, "1", "gone"); turn(b, "2", "a1"); b.LastPrompt("a2") })
	s := topology.Select(x, pointer)
	if sessiontest.Name(s.Missing) != "gone" || s.Reached != 4 {
		t.Errorf("missing %s, %d records reached", s.Missing, s.Reached)
	}
}

func TestLoopNamesItsLines(t *testing.T) {
	x := build(t, func(b *builder) {
		b.User("c", "b", "x")
		b.User("a", "c", "x")
		b.User("b", "a", "x")
		b.User("leaf", "c", "x")
		b.LastPrompt("leaf")
	})
	s := topology.Select(x, pointer)
	if len(s.Findings) != 1 || !strings.Contains(s.Findings[0].Message, "1 -> 3 -> 2 -> 1") {
		t.Errorf("findings %+v", s.Findings)
	}
}

func TestInversions(t *testing.T) {
	attachment := func(b *builder, name, parent string, opts ...option) { b.Attachment(name, parent, "file", opts...) }
	tests := []struct {
		name  string
		build func(b *builder)
		want  topology.Status
		count int
	}{
		{"attachments of one session", func(b *builder) { attachment(b, "t2", "t1"); attachment(b, "t1", ""); b.LastPrompt("t2") }, topology.Valid, 1},
		{"three in reverse", func(b *builder) {
			attachment(b, "t3", "t2")
			attachment(b, "t2", "t1")
			attachment(b, "t1", "")
			b.LastPrompt("t3")
		}, topology.Valid, 2},
		{"attachments of two sessions", func(b *builder) {
			attachment(b, "t2", "t1", inSession("other"))
			attachment(b, "t1", "")
			b.LastPrompt("t2")
		}, topology.NonMonotonic, 0},
		{"attachments without a session", func(b *builder) {
			attachment(b, "t2", "t1", without("sessionId"))
			attachment(b, "t1", "", without("sessionId"))
			b.LastPrompt("t2")
		}, topology.NonMonotonic, 0},
		{"an attachment below a prompt", func(b *builder) { attachment(b, "t2", "u1"); b.User("u1", "", "x"); b.LastPrompt("t2") }, topology.NonMonotonic, 0},
		{"a prompt below an attachment", func(b *builder) { b.User("u1", "t1", "x"); attachment(b, "t1", ""); b.LastPrompt("u1") }, topology.NonMonotonic, 0},
	}
	for _, tt := range tests {
		s := topology.Select(build(t, tt.build), pointer)
		if s.Status != tt.want || s.AttachmentInversions != tt.count {
			t.Errorf("%s: %s with %d, want %s with %d", tt.name, s.Status, s.AttachmentInversions, tt.want, tt.count)
		}
	}
}

func TestLineage(t *testing.T) {
	// Each letter is a record of that session, - one without a session id; the
	// last letter is the pointer's.
	tests := []struct{ sessions, pointer, want string }{
		{"AA", "A", ""},
		{"AA", "-", ""},
		{"A-A", "A", ""},
		{"-A", "A", ""},
		{"--", "A", ""},
		{"--", "-", ""},
		{"AA", "B", "authority-session-does-not-match-chain"},
		{"A-", "B", "authority-session-does-not-match-chain"},
		{"AB", "B", ""},
		{"AAABBC", "C", ""},
		{"A-B", "B", "mixed-session-lineage-has-missing-session-id"},
		{"AB-", "B", "mixed-session-lineage-has-missing-session-id"},
		{"AB-A", "-", "mixed-session-lineage-has-missing-session-id"},
		{"ABA", "A", "session-lineage-returns-to-an-earlier-session"},
		{"ABA", "-", "session-lineage-returns-to-an-earlier-session"},
		{"ABCB", "A", "session-lineage-returns-to-an-earlier-session"},
		{"AB", "-", "mixed-session-lineage-requires-authority-session"},
		{"AB", "A", "authority-session-does-not-match-final-lineage-session"},
		{"AB", "C", "authority-session-does-not-match-final-lineage-session"},
	}
	for _, tt := range tests {
		x := build(t, func(b *builder) {
			parent := ""
			for i, letter := range tt.sessions {
				name := fmt.Sprint("r", i)
				b.User(name, parent, "x", session(letter))
				parent = name
			}
			b.LastPrompt(parent, session(rune(tt.pointer[0])))
		})
		s := topology.Select(x, pointer)
		if s.Lineage.Reason != tt.want || s.OK() != (tt.want == "") || !s.OK() && s.Status != topology.SessionMismatch {
			t.Errorf("%s with pointer %s: %s, %q, want %q", tt.sessions, tt.pointer, s.Status, s.Lineage.Reason, tt.want)
		}
	}
}

func session(letter rune) option {
	if letter == '-' {
		return without("sessionId")
	}
	return inSession(string(letter))
}

func TestLineageFinal(t *testing.T) {
	x := build(t, func(b *builder) {
		b.User("u1", "", "x", inSession("A"))
		b.User("u2", "u1", "x", inSession("A"))
		b.User("u3", "u2", "x", inSession("B"))
		b.LastPrompt("u3", inSession("B"))
	})
	s := topology.Select(x, pointer)
	if !s.Lineage.Mixed() || s.Lineage.Final() != 2 || len(s.Lineage.Runs) != 2 {
		t.Errorf("lineage %+v", s.Lineage)
	}
}

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

func TestModeLeaf(t *testing.T) {
	leaf := func(name string) topology.Options {
		return topology.Options{Mode: topology.Leaf, Leaf: sessiontest.ID(name), Extension: 3}
	}
	branches := func(b *builder) { two(b); turn(b, "3", "a1") }
	tests := []struct {
		name, leaf string
		build      func(b *builder)
		want       topology.Status
		active     string
	}{
		{"no pointer", "a2", branches, topology.Valid, "u1 a1 u2 a2"},
		{"the other branch", "a3", branches, topology.Valid, "u1 a1 u3 a3"},
		{"malformed pointer", "a3", func(b *builder) { branches(b); b.LastPrompt("a2", without("leafUuid")) }, topology.Valid, "u1 a1 u3 a3"},
		{"dangling pointer", "a3", func(b *builder) { branches(b); b.LastPrompt("gone") }, topology.Valid, "u1 a1 u3 a3"},
		{"pointer elsewhere", "a3", func(b *builder) { branches(b); b.LastPrompt("a2"); b.Control("mode") }, topology.Valid, "u1 a1 u3 a3"},
		{"an inner record", "u2", branches, topology.Valid, "u1 a1 u2"},
		{"unknown", "gone", branches, topology.Dangling, ""},
		{"the pointer's session counts", "a3", func(b *builder) { branches(b); b.LastPrompt("a2", inSession("other")) }, topology.SessionMismatch, ""},
		{"duplicates are refused", "a3", func(b *builder) { branches(b); b.User("u2", "a1", "copy") }, topology.DuplicateUUID, ""},
	}
	for _, tt := range tests {
		x := build(t, tt.build)
		s := topology.Select(x, leaf(tt.leaf))
		if s.Status != tt.want || names(x, s.Active) != tt.active {
			t.Errorf("%s: %s with %q, want %s with %q", tt.name, s.Status, names(x, s.Active), tt.want, tt.active)
		}
		if len(s.Later) > 0 || len(s.Extended) > 0 {
			t.Errorf("%s: later %v, extended %v", tt.name, s.Later, s.Extended)
		}
	}
	if s := topology.Select(build(t, branches), topology.Options{Mode: topology.Leaf}); s.Status != topology.Dangling {
		t.Errorf("no leaf given: %s", s.Status)
	}
}

func TestPhysicalTail(t *testing.T) {
	x := build(t, func(b *builder) {
		b.Control("mode")
		b.User("u1", "gone", "x")
		b.LastPrompt("gone")
		b.User("u1", "", "a copy")
		b.User("x", "x", "a circle")
		b.LastPrompt("x", with("uuid", "pointer"))
		b.Control("ai-title")
	})
	s := topology.Select(x, topology.Options{Mode: topology.PhysicalTail})
	if s.Status != topology.Valid || names(x, s.Active) != "mode u1 u1 x ai-title" || s.Leaf != 4 {
		t.Errorf("%s: %s, leaf %d", s.Status, names(x, s.Active), s.Leaf)
	}
	none := build(t, func(b *builder) { b.Control("mode") })
	if s := topology.Select(none, topology.Options{Mode: topology.PhysicalTail}); s.Status != topology.Absent || s.OK() {
		t.Errorf("no uuid: %s", s.Status)
	}
}

func TestLater(t *testing.T) {
	tests := []struct {
		name  string
		build func(b *builder)
		want  string
	}{
		{"nothing", func(b *builder) { two(b); b.LastPrompt("a2") }, ""},
		{"goes on", func(b *builder) { two(b); b.LastPrompt("a2"); turn(b, "3", "a2") }, "u3 a3"},
		{"over an attachment", func(b *builder) {
			two(b)
			b.LastPrompt("a2")
			b.Attachment("t", "a2", "file")
			turn(b, "3", "t")
		}, "u3 a3"},
		{"from an inner record", func(b *builder) { two(b); b.LastPrompt("a2"); turn(b, "3", "a1") }, ""},
		{"a helper's chain", func(b *builder) { two(b); b.LastPrompt("a2"); b.User("h", "a2", "x", sessiontest.Sidechain()) }, ""},
		{"a branch left before the pointer", func(b *builder) { two(b); turn(b, "3", "a2"); b.LastPrompt("a2") }, ""},
		{"such a branch goes on", func(b *builder) { two(b); b.User("u3", "a2", "x"); b.LastPrompt("a2"); b.Assistant("a3", "u3", "m3") }, "a3"},
	}
	for _, tt := range tests {
		x := build(t, tt.build)
		s := topology.Select(x, pointer)
		if !s.OK() || names(x, s.Later) != tt.want {
			t.Errorf("%s: %s, later %q, want %q", tt.name, s.Status, names(x, s.Later), tt.want)
		}
	}
}

func TestLastConversation(t *testing.T) {
	x := build(t, func(b *builder) {
		two(b)
		b.User("h", "a2", "x", sessiontest.Sidechain())
		b.System("s", "a2", "turn_duration")
		b.User("broken", "a2", "x", without("message"))
		b.Control("mode")
	})
	if r := topology.LastConversation(x); names(x, []int{r}) != "a2" {
		t.Errorf("record %d", r)
	}
	if r := topology.LastConversation(build(t, func(b *builder) { b.Control("mode") })); r != -1 {
		t.Errorf("record %d of none", r)
	}
}

// FuzzSelect builds small graphs of any shape out of bytes: two for a record,
// its type and links.
func FuzzSelect(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0x10, 2, 0x21, 0xff, 0x32})
	f.Add([]byte{1, 1, 1, 0, 1, 0x12, 2, 0x11, 2, 0x22, 0xff, 0x44, 3, 5})
	f.Add(bytes.Repeat([]byte{1, 0x13, 2, 0x31}, 12))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := read(t, graph(data[:min(len(data), 80)]))
		for _, o := range []topology.Options{
			pointer, {Mode: topology.Pointer, Extension: 5}, {Mode: topology.Leaf, Leaf: sessiontest.ID("n2")}, {Mode: topology.PhysicalTail},
		} {
			check(t, x, topology.Select(x, o))
		}
	})
}

func graph(data []byte) []byte {
	var b builder
	for i := 0; i+1 < len(data); i += 2 {
		kind, link := data[i], data[i+1]
		name, parent := fmt.Sprint("n", i/2), ""
		if link%16 > 0 {
			parent = fmt.Sprint("n", (i/2+int(link%16)-10+len(data))%(len(data)/2+1))
		}
		tool, message := fmt.Sprint("t", link>>6), fmt.Sprint("m", link>>5&1)
		switch kind % 8 {
		case 0:
			b.User(name, parent, "x")
		case 1, 2:
			b.Assistant(name, parent, message, use(tool, "Bash", 1))
		case 3, 4:
			b.Result(name, parent, tool, "x")
		case 5:
			b.Attachment(name, parent, "file", with("attachment.toolUseID", tool))
		case 6:
			b.Assistant(name, parent, message, sessiontest.Text("x"), inSession(tool))
		case 7:
			b.LastPrompt(parent)
		}
	}
	return b.Bytes()
}

// check holds a selection to its promises.
func check(t *testing.T, x *transcript.Index, s *topology.Selection) {
	t.Helper()
	if s.Status == "" || s.OK() == (len(s.Findings) > 0) {
		t.Fatalf("status %q with findings %v", s.Status, s.Findings)
	}
	if !s.OK() {
		return
	}
	seen := map[int]bool{}
	for _, r := range s.Active {
		if seen[r] {
			t.Fatalf("record %d twice in %v", r, s.Active)
		}
		seen[r] = true
	}
	for _, r := range slices.Concat(s.Walk, s.Extended) {
		if !seen[r] {
			t.Fatalf("record %d of the walk is not active", r)
		}
	}
	if s.Mode == topology.PhysicalTail {
		return
	}
	for i, r := range s.Walk {
		if i > 0 && x.Parent(r) != s.Walk[i-1] || i == 0 && x.Parent(r) != -1 {
			t.Fatalf("record %d does not hang below the one before it in %v", r, s.Walk)
		}
	}
	if s.Walk[len(s.Walk)-1] != s.Leaf || len(s.Active) != len(s.Walk)+s.Recovered {
		t.Fatalf("leaf %d, walk %v, active %v, %d recovered", s.Leaf, s.Walk, s.Active, s.Recovered)
	}
	for r := range x.Records {
		p := x.Parent(r)
		if seen[r] || p < 0 || p > r || !seen[p] || x.Records[p].Type != transcript.Assistant || x.Records[p].Message == 0 {
			continue
		}
		fragment := x.Records[r].Type == transcript.Assistant && x.Records[r].Message == x.Records[p].Message
		result := x.Records[r].Type == transcript.User && x.HasTool(r, transcript.Result)
		if fragment || result {
			t.Fatalf("record %d hangs below %d of an active turn and is left out of %v", r, p, s.Active)
		}
	}
}
