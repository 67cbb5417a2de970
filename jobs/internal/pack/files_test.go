package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
)

var (
	repository = os.DirFS("../../..")
	golden     = os.DirFS("testdata")
)

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
