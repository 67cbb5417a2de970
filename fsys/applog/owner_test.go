package applog_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/fsys/applog"
	"github.com/precis-dev/precis/fsys/memfs"
)

// slow is a filesystem on which the holder of a lock says late who it is.
type slow struct {
	*memfs.FS
	asked int
	late  func()
}

func (s *slow) Alive(pid int) (bool, error) {
	if s.asked++; s.asked == 3 {
		s.late()
	}
	return s.FS.Alive(pid)
}

func TestTheOwnerIsNotOneThatWasKilled(t *testing.T) {
	f := mem()
	record := func(text string) {
		if err := fsys.WriteFile(f, "/log.owner", "t", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := fsys.LockFile(f, "/log.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	f.SetAlive(8)
	record(`{"host":"h","pid":7}`)
	late := &slow{FS: f, late: func() { record(`{"host":"h","pid":8}`) }}
	_, err = applog.Open(late, "/log", applog.Options{Owner: applog.Owner{Host: "h", PID: 9, Start: time.Unix(0, 0)}})
	if !errors.Is(err, fsys.ErrLocked) || !strings.Contains(err.Error(), "process 8 on h") {
		t.Error(err)
	}
}
