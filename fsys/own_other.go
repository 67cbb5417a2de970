//go:build !unix

package fsys

import (
	"errors"
	"os"
)

// Owned reports that the file is there: this system has no owner by number, and
// what a user may read here is taken for the user's own.
func (osFS) Owned(name string) (bool, error) {
	_, err := os.Stat(name)
	return err == nil, err
}

// IDs are not known on this system.
func (osFS) IDs(string) (uid, gid int, err error) { return 0, 0, errors.ErrUnsupported }
