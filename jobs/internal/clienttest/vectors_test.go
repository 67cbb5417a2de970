package clienttest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/precis-dev/precis/jobs/internal/clienttest"
	"github.com/precis-dev/precis/jobs/internal/sessiontest"
)

const (
	vectorsDir = "../../../testdata/vectors"
	vectorID   = "11111111-2222-4333-8444-555555555555" // the session of every vector
	probe      = "PROBE-NEXT"
)

// A vector is what one client makes of a session file, as VERSION.json keeps it.
type vector struct {
	Client  string             `json:"client"`
	Args    []string           `json:"args,omitempty"` // where not --resume and the id
	File    string             `json:"file,omitempty"` // the file's name where not the session's id
	Outcome clienttest.Outcome `json:"outcome"`
	clienttest.Attribution
}

// TestVectors resumes the vectors with a client and compares what it sends with
// what is stored for it, or else for the newest client there is.
func TestVectors(t *testing.T) {
	if *version == "" {
		t.Skip("takes long: name a client with -client VERSION, and -sample N for every Nth vector only")
	}
	dirs, err := filepath.Glob(filepath.Join(vectorsDir, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no vectors:", err)
	}
	for i := 0; i < len(dirs); i += max(*sample, 1) {
		t.Run(filepath.Base(dirs[i]), func(t *testing.T) {
			t.Parallel()
			testVector(t, dirs[i])
		})
	}
}

func testVector(t *testing.T, dir string) {
	want, ok := stored(t, dir)
	if !ok && !*update {
		t.Skip("no client's result is stored")
	}
	got := record(t, session(t, dir), want)
	changes := differences(want, got)
	if !*update {
		if changes != "" {
			t.Errorf("client %s, compared with %s:%s", got.Client, want.Client, changes)
		}
		return
	}
	if changes != "" || want.Client != got.Client {
		store(t, dir, got)
		t.Logf("stored for client %s; compared with %s:%s", got.Client, want.Client, changes)
	}
}

// record resumes a session in the way of a stored vector.
func record(t *testing.T, session []byte, like vector) vector {
	t.Helper()
	name := cmp.Or(like.File, vectorID)
	r := clienttest.Find(t, *version).Resume(session, name, probe, like.Args...)
	v := vector{Client: *version, Args: like.Args, File: like.File, Outcome: r.Outcome}
	if r.Outcome == clienttest.Sent {
		v.Attribution = r.Attribution()
	}
	return v
}

func differences(want, got vector) string {
	var b strings.Builder
	for _, f := range []struct {
		name      string
		want, got []string
	}{
		{"outcome", []string{string(want.Outcome)}, []string{string(got.Outcome)}},
		{"uuids", want.UUIDs, got.UUIDs},
		{"toolUses", want.ToolUses, got.ToolUses},
		{"toolResults", want.ToolResults, got.ToolResults},
		{"synthetic", want.Synthetic, got.Synthetic},
		{"leaf", []string{want.Leaf}, []string{got.Leaf}},
	} {
		if !slices.Equal(f.want, f.got) {
			fmt.Fprintf(&b, "\n%s\n\twas %q\n\tis  %q", f.name, f.want, f.got)
		}
	}
	return b.String()
}

func session(t *testing.T, dir string) []byte {
	t.Helper()
	return sessiontest.Read(t, os.DirFS(dir), "session.jsonl")
}

// stored is what the vector in dir has for the client, or for the newest one.
func stored(t *testing.T, dir string) (v vector, ok bool) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "[0-9]*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		return v, false
	}
	path := filepath.Join(dir, *version+".json")
	if !slices.Contains(paths, path) {
		path = slices.MaxFunc(paths, byVersion)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v, true
}

// byVersion compares paths VERSION.json by their versions' numbers.
func byVersion(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

func numbers(path string) []int {
	var all []int
	for part := range strings.SplitSeq(strings.TrimSuffix(filepath.Base(path), ".json"), ".") {
		n, _ := strconv.Atoi(part) // what is no number comes first
		all = append(all, n)
	}
	return all
}

func store(t *testing.T, dir string, v vector) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, v.Client+".json"), b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
