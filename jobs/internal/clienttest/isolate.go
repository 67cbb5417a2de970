package clienttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

const (
	isolated   = "PRECIS_CLIENTTEST_ISOLATED" // for the process that runs the tests: a folder for its clients
	noLoopback = 97                           // that process's exit code when it cannot do so
)

// Main runs the tests of a package that drives the client, for its TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(clienttest.Main(m)) }
//
// Where the system allows, they run in a process of their own that has only the
// loopback interface, so that no client can reach anything else.
func Main(m *testing.M) int {
	if os.Getenv(isolated) != "" {
		if raiseLoopback() != nil {
			return noLoopback
		}
		return m.Run()
	}
	code, err := runIsolated()
	if err != nil {
		fmt.Fprintln(os.Stderr, "clienttest: the clients are not kept from the network:", err)
		return m.Run()
	}
	return code
}

// runIsolated runs this program again, isolated, and gives its exit code. No
// client outlives it, not even where a test run that took too long broke off.
func runIsolated() (int, error) {
	// The child dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "precis")
	if err != nil {
		return 0, err
	}
	defer sweep(dir)
	err = errors.ErrUnsupported
	for _, attr := range isolations() {
		var code int
		if code, err = runAgain(self, dir, attr); err == nil {
			return code, nil
		}
	}
	return 0, err
}

func sweep(dir string) {
	endAll("HOME=" + dir)
	endAll("TMPDIR=" + dir) // the terminal around a client
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "clienttest:", err)
	}
}

func runAgain(self, dir string, attr *syscall.SysProcAttr) (int, error) {
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), isolated+"="+dir)
	cmd.SysProcAttr = attr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	switch code := cmd.ProcessState.ExitCode(); code {
	case noLoopback:
		return 0, errors.New("the loopback interface cannot be raised")
	case -1:
		return 1, nil // killed: that is a result, too
	default:
		return code, nil
	}
}
