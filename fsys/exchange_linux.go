package fsys

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange is renameat2(2) with RENAME_EXCHANGE. A volume that cannot answers
// EINVAL, an old kernel ENOSYS.
func (osFS) Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	return exchangeError(a, b, err, errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS))
}

func exchangeError(a, b string, err error, unsupported bool) error {
	if err == nil {
		return nil
	}
	err = &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	if unsupported {
		err = fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	return err
}
