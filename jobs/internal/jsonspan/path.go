package jsonspan

import (
	"strconv"
)

// PathAt is the JSON path (message.content[0].text) of the innermost value that
// holds the byte at pos, for messages to people. The value must be valid.
func (v Value) PathAt(pos int) string {
	i := 0
	for e := range v.Elements() {
		start := offset(v.Raw, e.Raw)
		if pos >= start && pos < start+len(e.Raw) {
			return join("["+strconv.Itoa(i)+"]", e.PathAt(pos-start))
		}
		i++
	}
	for m := range v.Members() {
		if pos >= m.Start && pos < m.End {
			return join(m.Key, m.PathAt(pos-m.Start))
		}
	}
	return ""
}

// offset is where part, a sub-slice of whole, begins in it.
func offset(whole, part []byte) int { return cap(whole) - cap(part) }

func join(head, tail string) string {
	if tail == "" || tail[0] == '[' {
		return head + tail
	}
	return head + "." + tail
}
