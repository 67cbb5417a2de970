// Package enginetest is a small world for tests of the engine and of job kinds:
// a clock and ids that repeat, a filesystem in memory, and a job kind whose steps
// do what the test says.
package enginetest

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/fsys/memfs"
)

// start is the first reading of a clock.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Clock is a clock that goes a second ahead at every reading.
func Clock() func() time.Time {
	var readings atomic.Int64
	return func() time.Time { return start.Add(time.Duration(readings.Add(1)-1) * time.Second) }
}

// IDs gives run-0001, run-0002 and so on.
func IDs() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("run-%04d", n.Add(1)) }
}

// Memory is an empty filesystem with a clock of its own.
func Memory() *memfs.FS { return memfs.New(Clock()) }

// Env is a world over a filesystem, with its state in /state.
func Env(f afero.Fs) engine.Env {
	return engine.Env{
		FS:    f,
		State: "/state",
		Now:   Clock(),
		NewID: IDs(),
		Log:   hclog.NewNullLogger(),
		Host:  engine.Owner{Host: "test", PID: 1, Start: start},
	}
}
