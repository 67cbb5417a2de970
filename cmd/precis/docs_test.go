package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are the texts for people.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(list) == 0 {
		t.Fatal("no documents", err)
	}
	return append(list, "../../README.md")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the fenced blocks of a kind in a text.
func blocks(text, kind string) []string {
	var list []string
	for _, rest := range strings.Split(text, "```"+kind+"\n")[1:] {
		block, _, _ := strings.Cut(rest, "\n```")
		list = append(list, block+"\n")
	}
	return list
}

// TestJobsInDocuments: every job that a document shows is in order.
func TestJobsInDocuments(t *testing.T) {
	found := map[string]int{}
	for _, page := range pages(t) {
		for _, block := range blocks(read(t, page), "yaml") {
			found[filepath.Base(page)]++
			dir := t.TempDir()
			job := filepath.Join(dir, "job.yaml")
			if err := os.WriteFile(job, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			c := newCLI(os.Stdout, os.Stderr, func(string) string { return "" })
			c.out, c.errOut = &out, &out
			if code := c.execute(context.Background(), []string{"check", job}); code != 0 {
				t.Errorf("%s: exit %d of\n%s\n%s", page, code, block, out.String())
			}
		}
	}
	if found["README.md"] == 0 || found["authors.md"] < 7 {
		t.Errorf("jobs found: %v", found)
	}
}

// TestCommandsInDocuments: every verb that a document tells people to type is one,
// and so are its flags.
func TestCommandsInDocuments(t *testing.T) {
	root := newCLI(os.Stdout, os.Stderr, func(string) string { return "" }).root()
	n := 0
	for _, page := range pages(t) {
		for _, block := range blocks(read(t, page), "console") {
			for line := range strings.Lines(block) {
				line, isCommand := strings.CutPrefix(line, "$ precis ")
				if !isCommand {
					continue
				}
				n++
				line, _, _ = strings.Cut(line, " #")
				line, _, _ = strings.Cut(line, " > ")
				verb, rest, err := root.Find(strings.Fields(line))
				if err != nil || verb == root {
					t.Errorf("%s: no verb in %q", page, line)
					continue
				}
				if err := verb.ParseFlags(rest); err != nil {
					t.Errorf("%s: %q: %v", page, line, err)
				} else if err := verb.ValidateArgs(verb.Flags().Args()); err != nil {
					t.Errorf("%s: %q: %v", page, line, err)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("%d commands found", n)
	}
}

// TestLinksInDocuments: a file that a document links to is there.
func TestLinksInDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestClassesOfAuthors: the tables of docs/authors.md have every class of failure of
// an author, and no other.
func TestClassesOfAuthors(t *testing.T) {
	source := regexp.MustCompile(`= "(author-[a-z-]+)"`)
	var want, got []string
	for _, m := range source.FindAllStringSubmatch(read(t, "../../jobs/internal/author/class.go"), -1) {
		want = append(want, m[1])
	}
	row := regexp.MustCompile("(?m)^\\| `(author-[a-z-]+)` \\|")
	for _, m := range row.FindAllStringSubmatch(read(t, "../../docs/authors.md"), -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) == 0 || !slices.Equal(want, got) {
		t.Errorf("the tables have\n%q, the classes are\n%q", got, want)
	}
}
