package journal

import "fmt"

// Problem is what is wrong with a journal.
type Problem string

// The problems.
const (
	Syntax         Problem = "syntax"
	UnknownVersion Problem = "unknown-version"
	UnknownType    Problem = "unknown-type"
	BadSum         Problem = "checksum"
	BadSequence    Problem = "sequence"
	BadParent      Problem = "parent"
	BadOrder       Problem = "order" // the entry cannot follow the ones before
)

// Error is a journal that cannot be read, and where.
type Error struct {
	File    string
	Line    int   // from 1
	Byte    int64 // of the line's first byte, from 0
	Problem Problem
	Detail  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: byte %d: journal %s: %s", e.File, e.Line, e.Byte, e.Problem, e.Detail)
}

// fault is an Error before its place is known.
type fault struct {
	problem Problem
	detail  string
}
