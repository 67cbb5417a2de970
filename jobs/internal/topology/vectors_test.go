package topology_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/topology"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

const vectorsDir = "../../../testdata/vectors"

// sent is what client 2.1.197 sent when it resumed a vector's file.
type sent struct {
	Outcome string   `json:"outcome"`
	UUIDs   []string `json:"sent_uuids"`
}

func vector(t *testing.T, dir string) (*transcript.Index, sent) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var s sent
	text, err := os.ReadFile(filepath.Join(dir, "sent.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read(t, data), s
}

// reordered are vectors whose request has the same records in another order: the
// client settles the order within the request, after the records are chosen.
var reordered = map[string]string{
	"K12-parallel-interleaved":        "use, result, use, result become one message of two uses, then the results",
	"K16-ptr-first-result":            "client 2.1.332 sends the results of a group in file order, as here",
	"K17-ptr-second-result":           "client 2.1.332 sends the results of a group in file order, as here",
	"K34-thinking-fragment-off-chain": "thinking goes before the use within one message",
	"K43-user-between-use-and-result": "results go before the texts of user records in a row",
	"X61-frag-text-after":             "text goes before the use within one message",
	"X62-text-after-use-in-chain":     "text goes before the use within one message",
}

// leftOut are vectors in which the client takes up fragments that hang below no
// active record, for their message.id alone; here they stay where they are.
var leftOut = map[string]string{
	"Q01-same-msgid-across": "the fragment belongs to the conversation before the compaction boundary",
	"X64-frag-dup-branch":   "the fragment is the answer of a rewound branch",
}

// In every vector with a usable pointer, what the client sent of the turns on
// the walk must be active, and in the client's order where it sent nothing else.
func TestVectors(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(vectorsDir, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no vectors:", err)
	}
	compared := 0
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			x, client := vector(t, dir)
			s := topology.Select(x, pointer)
			if client.Outcome != "sent" || !s.OK() {
				t.Skipf("%s here, %s there", s.Status, client.Outcome)
			}
			compared++
			compare(t, x, s, client.UUIDs)
		})
	}
	if compared < 40 {
		t.Errorf("only %d vectors could be compared", compared)
	}
}

func compare(t *testing.T, x *transcript.Index, s *topology.Selection, want []string) {
	t.Helper()
	active := map[string]bool{}
	for _, r := range s.Active {
		active[x.Name(x.Records[r].UUID)] = true
	}
	whole, name := true, path.Base(t.Name())
	for _, uuid := range want {
		if !active[uuid] {
			whole = false
			if sym, ok := x.Lookup(uuid); ok && ofTurn(x, s.Walk, x.ByUUID(sym)) && leftOut[name] == "" {
				t.Errorf("%s belongs to a turn on the walk, was sent, and is not active", uuid)
			}
		}
	}
	if reason := leftOut[name]; whole && reason != "" {
		t.Errorf("nothing is left out: %s", reason)
	}
	if !whole {
		return // the client's conversation ends elsewhere
	}
	var got []string
	for _, r := range s.Active {
		if uuid := x.Name(x.Records[r].UUID); slices.Contains(want, uuid) {
			got = append(got, uuid)
		}
	}
	if reason, known := reordered[name]; slices.Equal(got, want) == known {
		t.Errorf("active %v\n  sent %v\nin another order: %v (%s)", got, want, known, reason)
	}
}

// ofTurn reports whether r is a fragment of a message on the walk, or a result
// below one.
func ofTurn(x *transcript.Index, walk []int, r int) bool {
	if rec := &x.Records[r]; rec.Type == transcript.User && x.HasTool(r, transcript.Result) {
		r = x.Parent(r)
	}
	if r < 0 || x.Records[r].Type != transcript.Assistant || x.Records[r].Message == 0 {
		return false
	}
	return slices.ContainsFunc(walk, func(w int) bool {
		return x.Records[w].Type == transcript.Assistant && x.Records[w].Message == x.Records[r].Message
	})
}
