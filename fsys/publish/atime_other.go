//go:build !linux

package publish

import (
	"io/fs"
	"time"
)

// accessTime is that of the last change: systems differ in how they tell it.
func accessTime(info fs.FileInfo) time.Time { return info.ModTime() }
