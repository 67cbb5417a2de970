package publish_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/publish"
)

// What a killed process left goes with the next publication; what a live one is
// writing stays, and so does everything else.
func TestLeftoversAreRemoved(t *testing.T) {
	f := mem()
	if err := fsys.MkdirAll(f, filepath.Dir(target)); err != nil {
		t.Fatal(err)
	}
	dir, base := filepath.Split(target)
	names := map[string]string{
		"dead":  filepath.Join(dir, "."+base+".stage-dead"),
		"live":  filepath.Join(dir, "."+base+".stage-live"),
		"other": filepath.Join(dir, ".other.stage-dead"),
	}
	for _, name := range names {
		if err := afero.WriteFile(f, name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	locker, ok := fsys.As[fsys.Locker](f)
	if !ok {
		t.Fatal("no locks")
	}
	lock, err := locker.Lock(names["live"])
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := publish.Candidate(context.Background(), f, request()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"dead": "(absent)", "live": "half", "other": "half"} {
		if got := content(f, names[name]); got != want {
			t.Errorf("the %s stage holds %q, want %q", name, got, want)
		}
	}
}
