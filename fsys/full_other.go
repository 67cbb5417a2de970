//go:build !unix

package fsys

import (
	"errors"
	"syscall"
)

// IsFull tells an error of a disk that has no room left.
func IsFull(err error) bool {
	const diskFull, handleDiskFull = syscall.Errno(112), syscall.Errno(39) // ERROR_DISK_FULL, ERROR_HANDLE_DISK_FULL
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, diskFull) || errors.Is(err, handleDiskFull)
}
