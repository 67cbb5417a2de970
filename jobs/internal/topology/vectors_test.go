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
	UUIDs   []string `json:"uuids"`
}

func vector(t *testing.T, dir string) (*transcript.Index, sent) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var s sent
	text, err := os.ReadFile(filepath.Join(dir, "2.1.197.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read(t, data), s
}

// leftOut are vectors in which the client takes up fragments that hang below no
// active record, for their message.id alone; here they stay where they are.
var leftOut = map[string]string{
	"G05-sidechain-fragment": "the fragment hangs below a record of a helper",
	"Q01-same-msgid-across":  "the fragment belongs to the conversation before the compaction boundary",
	"X64-frag-dup-branch":    "the fragment is the answer of a rewound branch",
}

// In every vector with a usable pointer, what the client sent of the turns on
// the walk must be active.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectorsDir, "*", "session.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no vectors:", err)
	}
	compared := 0
	for _, file := range files {
		dir := filepath.Dir(file)
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
	if compared < 200 {
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
