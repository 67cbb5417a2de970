//go:build unix

package fsys

import (
	"errors"
	"os"
	"syscall"
)

// Alive sends no signal, which kill(2) does to every process there is. Numbers
// below 1 would mean groups of processes.
func (osFS) Alive(pid int) (bool, error) {
	if pid < 1 {
		return false, nil
	}
	err := syscall.Kill(pid, 0)
	switch {
	case err == nil, errors.Is(err, syscall.EPERM):
		return true, nil
	case errors.Is(err, syscall.ESRCH):
		return false, nil
	}
	return false, os.NewSyscallError("kill", err)
}
