package publish_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
)

// What a killed process left goes; what a live one is writing stays, and so does
// everything else.
func TestSweep(t *testing.T) {
	const dir = "/out"
	f := mem()
	if err := fsys.MkdirAll(f, dir+"/.d.stage-0123456789abcdef"); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{ // whether it stays
		".a.jsonl.stage-0123456789abcdef":  false,
		".b.stage-fedcba9876543210":        false,
		".live.stage-0123456789abcdef":     true,
		".a.jsonl.stage-0123456789abcde":   true,
		".a.jsonl.stage-0123456789abcdef0": true,
		".a.jsonl.stage-0123456789ABCDEF":  true,
		"a.jsonl.stage-0123456789abcdef":   true,
		".stage-0123456789abcdef":          true,
		".a.jsonl.swap-0123456789abcdef":   true,
		"a.jsonl":                          true,
	}
	for name := range want {
		if err := afero.WriteFile(f, filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	locker, ok := fsys.As[fsys.Locker](f)
	if !ok {
		t.Fatal("no locks")
	}
	lock, err := locker.Lock(dir + "/.live.stage-0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	publish.Sweep(f, dir)
	for name, stays := range want {
		if _, err := f.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, stays %v", name, err, stays)
		}
	}
	if _, err := f.Stat(dir + "/.d.stage-0123456789abcdef"); err != nil {
		t.Error("a folder was taken for a stage")
	}
}
