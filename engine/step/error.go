package step

import (
	"fmt"
	"strings"
)

// Status is how an item ended.
type Status string

// The statuses of an item (and, as the worst of its items, of a run).
const (
	Done        Status = "done"
	UpToDate    Status = "up-to-date"
	WouldRun    Status = "would-run" // of a plan only
	Refused     Status = "refused"
	Failed      Status = "failed"
	Waiting     Status = "waiting"
	Interrupted Status = "interrupted"
)

// Place is a position in a file. Zero members are unknown.
type Place struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // physical line, from 1
	// Column is the character of the line, from 1, in files that people write.
	Column int    `json:"column,omitempty"`
	Byte   int64  `json:"byte,omitempty"` // offset in the file, from 0
	Path   string `json:"path,omitempty"` // JSON path within the line's record
}

func (p Place) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Column > 0 {
		fmt.Fprintf(&b, ":%d", p.Column)
	}
	if p.Path != "" {
		fmt.Fprintf(&b, " %s", p.Path)
	}
	return strings.TrimPrefix(b.String(), ":")
}

// Refusal is an error that a person can act on: what class of trouble it is,
// where it is, and what to do next. A refusal has written nothing outside the
// state directory. Its text never holds transcript content or a secret.
type Refusal struct {
	Class   string `json:"class"` // kebab-case, stable
	Message string `json:"message"`
	Place   Place  `json:"place,omitzero"`
	Next    string `json:"next,omitempty"` // one line: the next step for the person
	// Skip says that there is nothing to work on: the item is not done, and its run
	// is none the worse for it.
	Skip bool `json:"skip,omitempty"`
	// Open leaves the item open with this status, [Waiting] or [Failed]: a resume
	// takes the step up again. Empty for a refusal that ends the item.
	Open Status `json:"open,omitempty"`
	// Resume are the arguments that the resume takes of an item that is left open; nil
	// where to resume is not the next step.
	Resume []string `json:"-"`
	Err    error    `json:"-"`
}

func (r *Refusal) Error() string {
	s := r.Class + ": " + r.Message
	if at := r.Place.String(); at != "" {
		s = at + ": " + s
	}
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

func (r *Refusal) Unwrap() error { return r.Err }
