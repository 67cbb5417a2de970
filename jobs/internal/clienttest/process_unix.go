//go:build unix

package clienttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownGroup makes cmd lead a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a process group (0 for none) and whatever else the client started,
// at once and for good. The client gives its tools groups of their own.
func (c *Client) kill(group int) {
	if group > 0 {
		_ = syscall.Kill(-group, syscall.SIGKILL) // it may have ended by itself
	}
	endAll(c.mark())
}

// endAll ends all processes that have an entry with this prefix in their
// environment. They may be starting others.
func endAll(prefix string) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		pids := processes(prefix)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// processes are the processes with such an entry. Where there is no /proc, none
// is found, and the group has to do.
func processes(prefix string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		environ, err := os.ReadFile(f)
		if err != nil || !strings.Contains("\x00"+string(environ), "\x00"+prefix) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
