package topology_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

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
