// Package patch edits single members of a record and leaves every other byte as
// it is: no record is ever decoded and written again.
package patch

import (
	"bytes"
	"fmt"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

// Set gives a member of the object a new value, already encoded. Where the key
// occurs more than once the last one, which counts, is changed; where it does
// not occur it is added behind the last member.
func Set(object []byte, key string, value []byte) ([]byte, error) {
	v, err := jsonspan.Parse(object)
	if err != nil || v.Kind != jsonspan.Object {
		return nil, fmt.Errorf("set %s: not a JSON object", key)
	}
	var at, last *jsonspan.Member
	for m := range v.Members() {
		if last = &m; m.Key == key {
			at = last
		}
	}
	if at != nil {
		return splice(object, v, at.Start, at.End, value), nil
	}
	member := append(append(jsonspan.Quote(nil, key), ':'), value...)
	end := len(v.Raw) - 1
	if last != nil {
		end, member = last.End, append([]byte{','}, member...)
	}
	return splice(object, v, end, end, member), nil
}

// Remove takes a member out with one of its commas, every copy of it: an earlier
// one would count where the last is gone.
func Remove(object []byte, key string) ([]byte, error) {
	v, err := jsonspan.Parse(object)
	if err != nil || v.Kind != jsonspan.Object {
		return nil, fmt.Errorf("remove %s: not a JSON object", key)
	}
	for v.Get(key).Kind != jsonspan.Invalid {
		object = removeLast(object, v, key)
		if v, err = jsonspan.Parse(object); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// removeLast removes the last member with the key; there is one.
func removeLast(object []byte, v jsonspan.Value, key string) []byte {
	var members []jsonspan.Member
	at := 0
	for m := range v.Members() {
		if m.Key == key {
			at = len(members)
		}
		members = append(members, m)
	}
	switch {
	case at+1 < len(members):
		return splice(object, v, members[at].KeyStart, members[at+1].KeyStart, nil)
	case at > 0:
		return splice(object, v, members[at-1].End, members[at].End, nil)
	}
	return splice(object, v, members[at].KeyStart, members[at].End, nil)
}

// splice replaces bytes of v, which lies within object.
func splice(object []byte, v jsonspan.Value, start, end int, with []byte) []byte {
	base := bytes.Index(object, v.Raw)
	return bytes.Join([][]byte{object[:base+start], with, object[base+end:]}, nil)
}
