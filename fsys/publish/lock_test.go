package publish_test

import (
	"strings"
	"testing"

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
