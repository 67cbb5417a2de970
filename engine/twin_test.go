package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/faultfs"
)

// TestResumedTwice has another process resume the same run at every operation of a
// resume. One of them does it; the other is told who, or that it is done.
func TestResumedTwice(t *testing.T) {
	ends := map[string]int{}
	for stop := 36; stop < 60; stop += 4 { // some leave a torn line
		for at := 1; twins(t, stop, at, ends); at++ {
		}
	}
	t.Logf("the other one: %v", ends)
	if len(ends) != 2 {
		t.Error("the sweep missed what it is for")
	}
}

// twins resumes a run that was stopped at an operation, and once more at one of the
// resume's, unless that has fewer.
func twins(t *testing.T, stop, at int, ends map[string]int) bool {
	base := world(t, "a", "b")
	dying := faultfs.New(base, faultfs.Plan{At: stop, Stop: true, Short: true})
	_, _ = engine.New(enginetest.Env(dying), kind("a", "b")).Run(context.Background(), small(), engine.Options{})
	base = base.CrashClone(1)
	var twin error
	f := faultfs.New(base, faultfs.Plan{At: at, Reads: true, Do: func() {
		_, twin = engine.New(enginetest.Env(base), kind("a", "b")).Resume(context.Background(), "run-0001", engine.Options{})
	}})
	r, err := engine.New(enginetest.Env(f), kind("a", "b")).Resume(context.Background(), "run-0001", engine.Options{})
	if !f.Hit() {
		return false
	}
	if err != nil || r.Exit != 0 || published(t, base) != "A\nB\n" {
		t.Errorf("stopped at %d, at operation %d, %v: %s, exit %d, %v", stop, at, f.Ops()[at-1], statuses(r), r.Exit, err)
	}
	var refused *step.Refusal
	switch {
	case twin == nil:
		ends["done"]++
	case errors.As(twin, &refused) && refused.Class == "run-locked":
		ends["locked"]++
	default:
		t.Errorf("stopped at %d, at operation %d, %v: the other: %v", stop, at, f.Ops()[at-1], twin)
	}
	return true
}
