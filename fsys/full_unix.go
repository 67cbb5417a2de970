//go:build unix

package fsys

import (
	"errors"
	"syscall"
)

// IsFull tells an error of a disk, or a quota, that has no room left.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
