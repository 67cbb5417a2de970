// Package finding is one thing wrong with a file, as a value.
package finding

import (
	"cmp"
	"slices"
)

// Severity says what a finding means for the person.
type Severity string

// Severities, worst first.
const (
	Error   Severity = "error"   // the session does not resume, or not whole
	Warning Severity = "warning" // it does, but not as one would think
	Note    Severity = "note"    // worth knowing
)

// Finding is one thing wrong. Its texts never hold transcript content, but for the
// words of its turns.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Line     int      `json:"line,omitempty"` // physical, from 1
	Byte     int64    `json:"byte,omitempty"` // offset in the file, from 0
	Path     string   `json:"path,omitempty"` // JSON path within the record
	ID       string   `json:"id,omitempty"`   // of the record
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"` // what to do about it
	// Turns are what the person loses by it.
	Turns []Turn `json:"turns,omitempty"`
}

// Turn is the record that begins a turn of the conversation. Its first words are
// for the person who looks at the file, and no part of the JSON.
type Turn struct {
	ID    string `json:"id"`
	Line  int    `json:"line"`
	Words string `json:"-"`
}

// Sort orders findings by place, then by rule.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Byte, b.Byte), cmp.Compare(a.Rule, b.Rule))
	})
}

// HasErrors reports whether any finding is an error.
func HasErrors(fs []Finding) bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Severity == Error })
}
