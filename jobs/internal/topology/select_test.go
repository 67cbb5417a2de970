package topology_test

import (
	"bytes"
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
	if s.Status != topology.Valid || names(x, s.Active) != "u1 u1 x" || s.Leaf != 4 {
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
