package engine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precis-dev/precis/engine"
	"github.com/precis-dev/precis/engine/enginetest"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

func TestCancellation(t *testing.T) {
	f := world(t, "a", "b", "c")
	ctx, cancel := context.WithCancel(context.Background())
	k := kind("a", "b", "c")
	k.Before = func(ctx context.Context, item, name string) error {
		if item == "b" && name == "shout" {
			cancel()
			<-ctx.Done()
			return errors.New("killed")
		}
		return nil
	}
	j := job()
	j.Run.Workers = 1
	r, err := engine.New(enginetest.Env(f), k).Run(ctx, j, engine.Options{})
	if err != nil || statuses(r) != "done interrupted:interrupted interrupted:interrupted" || r.Exit != 130 {
		t.Errorf("%s, exit %d, %v", statuses(r), r.Exit, err)
	}
	if r.Items[1].Next == "" {
		t.Error("an interrupted item has no next step")
	}
	s, err := journal.Scan(f, journalFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Finished != nil || s.Item("a").Result == nil || s.Item("b").Result != nil || s.Item("c").Result != nil {
		t.Errorf("the journal ends what was interrupted: %+v", s)
	}
	if got := s.Item("b").Step("shout"); got.Phase != journal.Failed || got.Failure.Status != step.Interrupted {
		t.Errorf("%+v", got)
	}
}

func TestTimeout(t *testing.T) {
	k := kind("a")
	k.Before = func(ctx context.Context, _, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}
	j := job()
	j.Run.Timeout = spec.Duration(time.Millisecond)
	r, err := engine.New(enginetest.Env(world(t, "a")), k).Run(context.Background(), j, engine.Options{})
	if err != nil || statuses(r) != "failed:timeout" || r.Exit != 1 {
		t.Errorf("%s, exit %d, %v", statuses(r), r.Exit, err)
	}
}

// TestABrokenJournalEndsItemsAtWork hangs when it does not.
func TestABrokenJournalEndsItemsAtWork(t *testing.T) {
	k := kind("a", "b")
	waiting := make(chan struct{})
	k.Before = func(ctx context.Context, item, name string) error {
		if item == "b" {
			close(waiting)
			<-ctx.Done()
			return ctx.Err()
		}
		<-waiting
		return nil
	}
	j := job()
	j.Run.Workers = 2
	// The opening and the intent of the first item; its end has no room.
	f := &fullJournal{FS: world(t, "a", "b"), left: 2}
	r, err := engine.New(enginetest.Env(f), k).Run(context.Background(), j, engine.Options{})
	if !errors.Is(err, syscall.ENOSPC) || statuses(r) != "failed:no-space interrupted:interrupted" || r.Exit != 1 {
		t.Errorf("%s, exit %d, %v", statuses(r), r.Exit, err)
	}
}

// TestAFullDiskIsToldOnce has many items and one cause, which is the run's.
func TestAFullDiskIsToldOnce(t *testing.T) {
	f := &fullJournal{FS: world(t, "a", "b", "c"), left: 1}
	r, err := engine.New(enginetest.Env(f), kind("a", "b", "c")).Run(context.Background(), job(), engine.Options{})
	var refusal *step.Refusal
	if !errors.As(err, &refusal) || refusal.Class != "no-space" || refusal.Next != "make room, then precis resume run-0001" {
		t.Errorf("%v", err)
	}
	if statuses(r) != "interrupted:interrupted interrupted:interrupted interrupted:interrupted" || r.Exit != 1 {
		t.Errorf("%s, exit %d", statuses(r), r.Exit)
	}
	for _, i := range r.Items {
		if strings.Contains(i.Message, "no space") {
			t.Errorf("told of %s: %s", i.Item, i.Message)
		}
	}
}

// checked is a kind with a step after the publication that refuses.
type checked struct{ enginetest.Kind }

func (c checked) Steps(env step.Env, j *spec.Job, i step.Item) ([]step.Step, error) {
	steps, err := c.Kind.Steps(env, j, i)
	return append(steps, step.Step{Name: "check", Needs: []string{"publish"}, Run: func(context.Context, step.Input) (step.Output, error) {
		return step.Output{}, &step.Refusal{Class: "too-late", Message: "m", Err: io.ErrUnexpectedEOF}
	}}), err
}

func TestAFailureAfterThePublicationSaysSo(t *testing.T) {
	f := world(t, "one")
	r, err := engine.New(enginetest.Env(f), checked{kind("one")}).Run(context.Background(), job(), engine.Options{})
	if err != nil || statuses(r) != "failed:too-late" || r.Exit != 3 || len(r.Items[0].Outputs) != 1 {
		t.Errorf("%s, exit %d, %v", statuses(r), r.Exit, err)
	}
	if !strings.Contains(r.Items[0].Message, "unexpected EOF") {
		t.Errorf("the cause is lost: %s", r.Items[0].Message)
	}
}
