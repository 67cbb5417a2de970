package sessiontest

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// A name fills the digits of a uuid that carry neither version nor variant:
// four bytes in the first group, two in the second, six in the last.
const maxName = 12

// ID is the uuid of the record called name: its bytes in hex inside a version
// 4 form, so that the same name is the same uuid in every test, names sort as
// their uuids do, and [Name] reads it back. The empty name is no record and
// gives "". Names are ASCII of at most 12 bytes; a longer one panics.
func ID(name string) string {
	if name == "" {
		return ""
	}
	if len(name) > maxName {
		panic(fmt.Sprintf("sessiontest: name %q has more than %d bytes", name, maxName))
	}
	var b [maxName]byte
	copy(b[:], name)
	return fmt.Sprintf("%x-%x-4000-8000-%x", b[:4], b[4:6], b[6:])
}

// Name is the inverse of [ID]. Any other string comes back as it is.
func Name(id string) string {
	b, err := hex.DecodeString(strings.Replace(strings.Replace(id, "-4000-8000-", "", 1), "-", "", 1))
	if err != nil {
		return id
	}
	name := strings.TrimRight(string(b), "\x00")
	if len(b) != maxName || ID(name) != id {
		return id
	}
	return name
}

// Names maps uuids back to names, for readable comparisons.
func Names(ids []string) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = Name(id)
	}
	return names
}
