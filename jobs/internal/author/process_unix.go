//go:build unix

package author

import (
	"os/exec"
	"syscall"
)

// alone gives the program a session of its own: no terminal to ask or to paint,
// and a group that ends with it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
}

// killGroup ends the program's group, which outlives it.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
