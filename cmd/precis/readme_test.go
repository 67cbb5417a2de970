package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the README shows is what its first command prints.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```text\n")
	shown, _, _ := strings.Cut(rest, "```")
	if !found || !strings.Contains(shown, "status") {
		t.Fatal("no sample in the README")
	}
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	code := newCLI(file, os.Stderr, func(string) string { return "" }).execute(context.Background(), []string{
		"run", "../../jobs/compress/example.yaml",
		"--state", filepath.Join(dir, "state"), "--set", "publish.path=" + filepath.Join(dir, "{session}.jsonl"),
	})
	printed, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	if code != 0 || !strings.HasPrefix(string(printed), shown) {
		t.Errorf("exit %d\nthe README shows\n%s\nprinted is\n%s", code, shown, printed)
	}
}
