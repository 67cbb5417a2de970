package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
)

var (
	testdata = os.DirFS("../../../testdata/sessions")
	golden   = os.DirFS(".")
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
