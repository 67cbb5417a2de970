// Package journal is the record of one run: what was begun and what is known to
// be finished, in the order in which it was written.
//
// A journal is an append-only log of JSON lines (package applog). A line is one
// commit: the entries that became durable together.
//
//	{"v":2,"seq":N,"parent":"...","entries":[{"type":"...","time":"...","body":{...}},...],"sum":"..."}
//
// seq counts lines from 1; parent is the SHA-256 of the line before, without
// newline, and empty in the first; sum is the SHA-256 of the line's bytes up to
// the comma before "sum". A line has exactly one spelling: whatever does not
// encode back to the same bytes is refused.
//
// Invariants: entries are durable when Commit returns, and those of one line
// survive together or not at all. Only entries that the state so far allows are
// written, and only such are read. A step or item that is finished stays finished.
// Every prefix of a journal is a journal.
//
// A torn tail is no error; it was never acknowledged. Anything else that is
// wrong, an unknown version or type too, is an *[Error] with file, line and byte,
// and leaves the file untouched.
//
// A journal holds names, digests, counts and messages: no text of a transcript
// and no secret. It does not say how a run is continued.
package journal
