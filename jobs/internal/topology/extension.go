package topology

import (
	"fmt"
	"slices"

	"github.com/precis-dev/precis/jobs/internal/transcript"
)

// extend takes the records after the pointer as the complete closure of the
// leaf's open tool calls: all of them, in a line, nothing else.
func (t *selector) extend() Status {
	if t.o.Extension <= 0 || t.s.Pointer < 0 || t.o.Mode != Pointer {
		return ""
	}
	x, s := t.x, t.s
	after := len(x.Records) - 1 - s.Pointer
	if after == 0 {
		return ""
	}
	if after > t.o.Extension {
		s.fault(x, s.Pointer, ExtensionLimit, fmt.Sprintf("%d records follow the pointer, mode.extension accepts %d", after, t.o.Extension), "raise mode.extension, or 0 to leave them out")
		return ExtensionLimit
	}
	session := x.Records[s.Pointer].Session
	if session == 0 {
		s.fault(x, s.Pointer, SessionMismatch, "the pointer carries no session id, so what follows it cannot be told to belong to it", "set mode.extension to 0")
		return SessionMismatch
	}
	return t.closure(session)
}

func (t *selector) closure(session transcript.Sym) Status {
	x, s := t.x, t.s
	pending := slices.Collect(x.ToolIDs(s.Leaf, transcript.Use))
	for i := s.Pointer + 1; i < len(x.Records); i++ {
		if status, why := t.closes(i, session, pending); status != "" {
			s.fault(x, i, status, why, "set mode.extension to 0 to leave out what follows the pointer")
			return status
		}
		for id := range x.ToolIDs(i, transcript.Result) {
			pending = slices.DeleteFunc(pending, func(p transcript.Sym) bool { return p == id })
		}
		s.Leaf = i
		s.Walk = append(s.Walk, i)
		s.Extended = append(s.Extended, i)
	}
	if len(pending) > 0 {
		s.fault(x, s.Leaf, ExtensionUnsafe, fmt.Sprintf("%d tool calls of the pointer's record stay without a result", len(pending)), "set mode.extension to 0")
		return ExtensionUnsafe
	}
	return ""
}

// closes tells why record i is no part of the closure.
func (t *selector) closes(i int, session transcript.Sym, pending []transcript.Sym) (Status, string) {
	x, r := t.x, &t.x.Records[i]
	switch {
	case r.UUID == 0:
		return ExtensionUnsafe, "a record without uuid follows the pointer"
	case x.Parent(i) != t.s.Leaf:
		return ExtensionBranch, "the record after the pointer does not hang below the one before it"
	case r.Session != session:
		return SessionMismatch, "the record after the pointer belongs to another session"
	case !r.API():
		return ExtensionUnsafe, "unsupported_record_type:" + x.TypeName(i)
	case !resultsOnly(x, i, pending):
		return ExtensionUnsafe, "ordinary_api_message"
	}
	return "", ""
}

// resultsOnly reports a user record of nothing but results for pending calls.
func resultsOnly(x *transcript.Index, i int, pending []transcript.Sym) bool {
	r := &x.Records[i]
	if r.Type != transcript.User || !r.Has(transcript.RoleUser|transcript.ListContent) || r.Has(transcript.OtherBlock) {
		return false
	}
	n := 0
	for id := range x.ToolIDs(i, transcript.Result) {
		if n++; id == 0 || !slices.Contains(pending, id) {
			return false
		}
	}
	return n > 0
}
