//go:build !unix

package fsys

import "errors"

// Alive is not offered by this system.
func (osFS) Alive(int) (bool, error) { return false, errors.ErrUnsupported }
