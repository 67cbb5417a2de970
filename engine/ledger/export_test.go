package ledger

import "testing"

// SetLittle sets the size from which a ledger is tidied, until the test ends.
func SetLittle(t testing.TB, n int64) {
	was := little
	little = n
	t.Cleanup(func() { little = was })
}
