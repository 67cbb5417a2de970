//go:build !linux

package fsys

import "errors"

// OpenBy is not offered by this system.
func (osFS) OpenBy(string) ([]int, error) { return nil, errors.ErrUnsupported }

// Started is not offered by this system.
func (osFS) Started(int) (string, error) { return "", errors.ErrUnsupported }
