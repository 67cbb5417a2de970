//go:build unix

package author

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childOf runs a command that starts a child and tells its number.
func childOf(t *testing.T, ctx context.Context, what string, told func()) (int, Exit, error) {
	var said strings.Builder
	exit, err := Run(ctx, Process{
		Args:   self(t, what),
		Stdout: func(p []byte) error { said.Write(p); told(); return nil },
		Stderr: func([]byte) error { return nil },
	})
	pid, bad := strconv.Atoi(strings.TrimSpace(said.String()))
	if bad != nil {
		t.Fatal(bad)
	}
	return pid, exit, err
}

// gone waits until a process has ended. As an orphan it may not be buried, and is
// then a zombie for as long as its new parent takes.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 100 {
		if syscall.Kill(pid, 0) == syscall.ESRCH || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

func TestRunKillsTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	start := time.Now()
	pid, _, err := childOf(t, ctx, "family", cancel)
	if err != context.Canceled || time.Since(start) > 10*time.Second {
		t.Errorf("%v", err)
	}
	gone(t, pid)
}

func TestRunEndsWhatHoldsTheOutput(t *testing.T) {
	t.Parallel()
	pid, exit, err := childOf(t, t.Context(), "orphan", func() {})
	if !exit.Held || err != nil {
		t.Errorf("%+v, %v", exit, err)
	}
	gone(t, pid)
	_, err = (&output{}).text(exit, nil)
	refused(t, err, OutputHeld)
}

func TestRunGivesNoTerminal(t *testing.T) {
	a, err := commandAuthor(newFakes(), "", time.Minute, self(t, "terminal")...).Write(t.Context(), prompt())
	if err != nil || a.Text != "none" {
		t.Errorf("%q, %v", a.Text, err)
	}
}

func zombie(pid int) bool {
	var state strings.Builder
	_, err := Run(context.Background(), Process{
		Args:   []string{"ps", "-o", "stat=", "-p", strconv.Itoa(pid)},
		Stdout: func(p []byte) error { state.Write(p); return nil },
		Stderr: func([]byte) error { return nil },
	})
	return err == nil && strings.HasPrefix(state.String(), "Z")
}
