//go:build unix

package fsys

import (
	"os"
	"syscall"
)

// Owned reports that the file belongs to the user who runs the program.
func (osFS) Owned(name string) (bool, error) {
	info, err := os.Stat(name)
	if err != nil {
		return false, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid(), nil
}
