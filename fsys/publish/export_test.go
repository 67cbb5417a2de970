package publish

import "time"

// SetLinger sets how long an exchange that was undone is waited for.
func SetLinger(d time.Duration) (before time.Duration) {
	before, linger = linger, d
	return before
}
