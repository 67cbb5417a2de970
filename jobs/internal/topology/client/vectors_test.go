package client_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/sessiontest"
	"github.com/precis-dev/precis/jobs/internal/topology/client"
	"github.com/precis-dev/precis/jobs/internal/transcript"
)

const vectors = "../../../../testdata/vectors"

// recorded is what a client did with a vector's file.
type recorded struct {
	Outcome   string   `json:"outcome"`
	UUIDs     []string `json:"uuids"`
	Synthetic []string `json:"synthetic"`
	Args      []string `json:"args"`
}

// differing are the vectors whose prediction differs from the record, and why;
// docs/client.md has the same list. The records were made by looking for a marker
// in the text that was sent.
var differing = map[string]string{
	"K44-empty-result":                        "the result is sent; its text is empty and so has no marker",
	"N332-W11-real332-subagents":              "two results are sent; their text is the client's own and has no marker",
	"N332-E11-one-record-two-uses-one-result": "the record is sent; it holds two markers",
	"N332-R56-two-attachments-kinds@2.1.332":  "a note of an edited file, worded by the client, quotes a marker",
	"N332-G24-uuid-number":                    "the record's uuid is the number 5, which is no name here: its child is bridged over it",
	"S10-resume-at":                           "resumed with an argument that cuts the conversation",
}

// Every vector is resolved as the client of the record did: the same records in
// the same order, the same texts added, the same files refused.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectors, "*", "*.*.*.json"))
	if err != nil || len(files) < 1000 {
		t.Fatalf("%d records of vectors, %v", len(files), err)
	}
	for _, file := range files {
		name, version := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name+"@"+version, func(t *testing.T) {
			want := record(t, file)
			x, r := resolve(t, session(t, filepath.Dir(file)), version)
			reason := differing[name] + differing[name+"@"+version]
			if same := agrees(x, r, want); same == (reason != "") {
				t.Errorf("refused %q, leaf by %s\n got %v %q\nwant %v %q %s\nknown to differ: %q",
					r.Refused, r.LeafReason, uuids(x, r.Sent), added(x, r), want.UUIDs, want.Synthetic, want.Outcome, reason)
			}
		})
	}
}

func agrees(x *transcript.Index, r *client.Resolution, want recorded) bool {
	if want.Outcome != "sent" {
		return r.Refused != ""
	}
	return r.Refused == "" && slices.Equal(uuids(x, r.Sent), want.UUIDs) && slices.Equal(added(x, r), theirs(want.Synthetic))
}

func record(t *testing.T, file string) (r recorded) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func session(t testing.TB, dir string) []byte {
	t.Helper()
	return sessiontest.Read(t, os.DirFS(dir), "session.jsonl")
}

func resolve(t testing.TB, data []byte, version string) (*transcript.Index, *client.Resolution) {
	t.Helper()
	x, err := transcript.Read(bytes.NewReader(data), func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	rules, ok := client.Known(version)
	if !ok {
		t.Fatal("no rules of", version)
	}
	r, err := client.Resolve(transcript.NewSource(x, bytes.NewReader(data)), rules)
	if err != nil {
		t.Fatal(err)
	}
	return x, r
}

func uuids(x *transcript.Index, records []int) []string {
	out := []string{}
	for _, r := range records {
		out = append(out, x.Name(x.Records[r].UUID))
	}
	return out
}

// added are the texts that the client adds, sorted, in the form of the records:
// their beginnings, for what follows differs with the machine.
func added(x *transcript.Index, r *client.Resolution) []string {
	out := []string{}
	for _, i := range r.Invented {
		text := i.Text
		if i.Use != 0 {
			text = "tool_result " + x.Name(i.Use) + ": " + text
		}
		out = append(out, beginning(text))
	}
	slices.Sort(out)
	return out
}

// theirs picks from a record's texts without a marker those that the client adds
// on its own; the others are attachments in its words.
func theirs(synthetic []string) []string {
	out := []string{}
	for _, text := range synthetic {
		said := text
		if _, after, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(text, "tool_result ") {
			said = after
		}
		for _, own := range []string{"No response requested.", "Continue from where", "(no content)", "[Tool ", "[Orphaned "} {
			if strings.HasPrefix(said, own) {
				out = append(out, beginning(text))
			}
		}
	}
	slices.Sort(out)
	return out
}

func beginning(text string) string { return text[:min(len(text), 50)] }
