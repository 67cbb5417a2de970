package publish_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/faultfs"
	"github.com/precis-dev/precis/fsys/publish"
)

func TestALockedSessionNamesItsHolder(t *testing.T) {
	w := ways[0]
	f := w.world(t)
	lock, err := f.Lock(session)
	must(t, err, f.SetOpen(session, 41, 7))
	_, err = replace(f, w.job())
	if class(err) != publish.SessionLocked || !strings.Contains(err.Error(), "process 7, 41 of this machine") {
		t.Error(err)
	}
	must(t, lock.Close())
}

// TestTwinPublications has another run of the same job come in between at every
// operation: it sweeps the folder and publishes the same file. Both succeed.
func TestTwinPublications(t *testing.T) {
	const mine, other = "0123456789abcdef", "fedcba9876543210"
	hits := 0
	for at := 1; ; at++ {
		base := mem()
		must(t, fsys.MkdirAll(base, "/out"))
		var twin error
		f := faultfs.New(base, faultfs.Plan{At: at, Reads: true, Do: func() {
			publish.Sweep(base, "/out")
			_, twin = candidate(base, other)
		}})
		p, err := candidate(f, mine)
		if !f.Hit() {
			break
		}
		hits++
		if err != nil || twin != nil || p.SHA256 != sum(newText).SHA256 {
			t.Errorf("at operation %d, %v: %v, %v", at, f.Ops()[at-1], err, twin)
		}
		if left := tree(t, base); len(left) != 1 || left["/out/s.jsonl"] != newText {
			t.Errorf("at operation %d: %q is left", at, left)
		}
	}
	t.Logf("%d operations", hits)
}

func candidate(f afero.Fs, token string) (publish.Published, error) {
	return publish.Candidate(context.Background(), f, publish.Request{
		Path: "/out/s.jsonl", Token: token, Prepared: true,
		Write: func(w io.Writer) error { _, err := io.WriteString(w, newText); return err },
	})
}
