package sessions_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs/internal/sessions"
	"github.com/precis-dev/precis/spec"
)

// folder makes files (and folders, named with a slash at the end) on the disk.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		p := filepath.Join(dir, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(n, "/") {
			if err := os.MkdirAll(p, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(p, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func find(t *testing.T, dir, sessionsList, exclude string) ([]string, error) {
	t.Helper()
	return findFor(t, dir, sessionsList, exclude, "{to: candidate, path: '{session}'}")
}

func findFor(t *testing.T, dir, sessionsList, exclude, publish string) ([]string, error) {
	t.Helper()
	job, err := spec.Parse(filepath.Join(dir, "job.yaml"), []byte("{version: 1, kind: compress, input: {sessions: "+sessionsList+", exclude: "+exclude+"}, mode: {summary: deterministic}, publish: "+publish+"}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	items, err := sessions.Find(fsys.OS(), job, filepath.Join(dir, "state"))
	var names []string
	for _, i := range items {
		rel, _ := filepath.Rel(dir, i.Source)
		names = append(names, filepath.ToSlash(rel))
	}
	return names, err
}

func TestFind(t *testing.T) {
	dir := folder(t, "b.jsonl", "a.jsonl", "notes.txt", "in/c.jsonl", "in/deep/d.jsonl", "in/e.jsonl/", "odd [1].jsonl", "灯.jsonl")
	for _, c := range []struct {
		sessions, exclude string
		want              []string
	}{
		{`["*.jsonl"]`, `[]`, []string{"a.jsonl", "b.jsonl", "odd [1].jsonl", "灯.jsonl"}},
		{`["a.jsonl", "a.jsonl", "*.jsonl"]`, `["[bo]*.jsonl"]`, []string{"a.jsonl", "灯.jsonl"}},
		{`["**/*.jsonl"]`, `["*.jsonl"]`, []string{"in/c.jsonl", "in/deep/d.jsonl"}},
		{`["in/**"]`, `[]`, []string{"in/c.jsonl", "in/deep/d.jsonl"}},
		{`["nowhere/*.jsonl"]`, `[]`, nil},
	} {
		got, err := find(t, dir, c.sessions, c.exclude)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s without %s: %q, %v, want %q", c.sessions, c.exclude, got, err, c.want)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	dir := folder(t, "a.jsonl", "in/a.jsonl")
	for pattern, class := range map[string]string{
		`["**/a.jsonl"]`: "session-names-collide",
	} {
		_, err := find(t, dir, pattern, `[]`)
		var r *step.Refusal
		if !errors.As(err, &r) || r.Class != class || r.Next == "" {
			t.Errorf("%s: %v, want %s", pattern, err, class)
		}
	}
}

// Where no output is named after the sessions, two may have one name.
func TestFindNamesAlike(t *testing.T) {
	dir := folder(t, "a.jsonl", "in/a.jsonl")
	got, err := findFor(t, dir, `["**/a.jsonl"]`, `[]`, "{to: replace, workDir: w}")
	if err != nil || !slices.Equal(got, []string{"a.jsonl", "in/a.jsonl"}) {
		t.Errorf("%v, %v", got, err)
	}
}

// The records of runs are no sessions, whatever they are called.
func TestFindLeavesTheStateOut(t *testing.T) {
	dir := folder(t, "a.jsonl", "state/ledger.jsonl", "state/runs/r/journal.jsonl", "stately/b.jsonl")
	got, err := find(t, dir, `["**/*.jsonl"]`, `[]`)
	if err != nil || !slices.Equal(got, []string{"a.jsonl", "stately/b.jsonl"}) {
		t.Errorf("%v, %v", got, err)
	}
}

// A link that leads back must not stop the others.
func TestFindGoesPastLinkLoops(t *testing.T) {
	dir := folder(t, "in/a.jsonl")
	if err := os.Symlink("..", filepath.Join(dir, "in", "up")); err != nil {
		t.Skip(err)
	}
	got, err := find(t, dir, `["**/*.jsonl"]`, `[]`)
	if err != nil || !slices.Equal(got, []string{"in/a.jsonl"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOpen(t *testing.T) {
	dir := folder(t, "a.jsonl", "folder/")
	open := func(name string) (*sessions.Session, error) {
		return sessions.Open(context.Background(), fsys.OS(), filepath.Join(dir, name), func(int64, int64) {})
	}
	for name, class := range map[string]string{"gone.jsonl": "no-such-session", "folder": "not-a-regular-file"} {
		_, err := open(name)
		var r *step.Refusal
		if !errors.As(err, &r) || r.Class != class || r.Next == "" {
			t.Errorf("%s: %v, want %s", name, err, class)
		}
	}
	s, err := open("a.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Unchanged(fsys.OS()); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte("{}\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var r *step.Refusal
	if err := s.Unchanged(fsys.OS()); !errors.As(err, &r) || r.Class != "source-changed" {
		t.Errorf("changed: %v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := sessions.Open(stopped, fsys.OS(), filepath.Join(dir, "a.jsonl"), func(int64, int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
