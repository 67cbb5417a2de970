//go:build unix

package fsys

import (
	"errors"
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

// IDs are those of the file a name leads to.
func (osFS) IDs(name string) (uid, gid int, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	return int(st.Uid), int(st.Gid), nil
}
