//go:build !linux

package fsys

import (
	"errors"
	"os"
)

// Exchange is not offered by this system.
func (osFS) Exchange(a, b string) error {
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: errors.ErrUnsupported}
}
