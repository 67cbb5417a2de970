package inuse_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs/internal/clienttest"
	"github.com/precis-dev/precis/jobs/internal/inuse"
)

// The clients register, and what they register is understood, as the package's
// documentation has it.
func TestLive(t *testing.T) {
	for _, v := range clienttest.Versions {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			testLive(t, clienttest.Find(t, v))
		})
	}
}

func testLive(t *testing.T, c *clienttest.Client) {
	s := c.Drive()
	s.Turn("begin")
	path := s.Path()
	check := func() error { return inuse.Check(fsys.OS(), path, 0, time.Now()) }
	refused(t, check(), isOpen, "running since")
	s.Close()
	refused(t, check(), "")
	refused(t, inuse.Check(fsys.OS(), path, time.Hour, time.Now()), "session-recent")

	fork := c.Drive("--resume", s.ID, "--fork-session")
	fork.Turn("aside")
	refused(t, check(), "")
	refused(t, inuse.Check(fsys.OS(), fork.Path(), 0, time.Now()), isOpen)
	fork.Close()

	term := c.Terminal("--resume", s.ID)
	c.Await("the entry", func() bool { return len(entries(t, c)) > 0 })
	refused(t, check(), isOpen, "running since")
	term.Kill9()
	if len(entries(t, c)) == 0 {
		t.Error("the killed client left no entry")
	}
	refused(t, check(), "")
}

func entries(t *testing.T, c *clienttest.Client) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.Home, ".claude", "sessions", "*.json"))
	must(t, err)
	return names
}
