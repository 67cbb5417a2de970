// Package event is what a run tells while it goes on: typed events and the sinks
// that take them. Events are for watching; the record is the journal. They hold
// no text of a transcript.
package event

import "github.com/precis-dev/precis/engine/step"

// Event is one of the types of this package.
type Event interface{ name() string }

// RunStarted opens a run.
type RunStarted struct {
	Run   string `json:"run"`
	Kind  string `json:"kind"`
	Items int    `json:"items"`
	Bytes int64  `json:"bytes"` // of all sources
}

// ItemStarted opens an item.
type ItemStarted struct {
	Item    string `json:"item"`
	Session string `json:"session"`
	Label   string `json:"label"`
	Bytes   int64  `json:"bytes"` // of the source
	Steps   int    `json:"steps"`
}

// StepStarted opens a step.
type StepStarted struct {
	Item string `json:"item"`
	Step string `json:"step"`
}

// Progress is bytes done of a step's total.
type Progress struct {
	Item  string `json:"item"`
	Step  string `json:"step"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// StepFinished ends a step that succeeded.
type StepFinished struct {
	Item string `json:"item"`
	Step string `json:"step"`
}

// ItemFinished ends an item.
type ItemFinished struct {
	ID    string `json:"id"`
	Bytes int64  `json:"bytes"` // of the source
	Item
}

// Run is the last event.
type Run struct {
	Run     string `json:"run"`
	Exit    int    `json:"exit"`
	Class   string `json:"class,omitempty"`   // of what ended the run as a whole
	Message string `json:"message,omitempty"` // likewise
	Next    string `json:"next,omitempty"`    // likewise
	Items   []Item `json:"items"`
	// Effects are the files that a dry run would have changed.
	Effects []step.Published `json:"effects,omitempty"`
}

// Item is how an item ended. The output is the first file the item published.
type Item struct {
	Item    string      `json:"item"`
	Session string      `json:"session"`
	Status  step.Status `json:"status"`
	Class   string      `json:"class,omitempty"`
	Message string      `json:"message,omitempty"`
	Next    string      `json:"next,omitempty"`
	Line    int         `json:"line,omitempty"` // physical, from 1
	Open    bool        `json:"open,omitempty"` // resume goes on with it
	Output  string      `json:"output,omitempty"`
	SHA256  string      `json:"sha256,omitempty"` // of the output
	Source  string      `json:"source,omitempty"` // SHA-256 of the source
	Sizes   *step.Sizes `json:"sizes,omitempty"`
	Receipt string      `json:"receipt,omitempty"` // path
	// Outputs are all files that the item changed or found as they should be.
	Outputs []step.Published `json:"outputs,omitempty"`
}

func (RunStarted) name() string   { return "run-started" }
func (ItemStarted) name() string  { return "item-started" }
func (StepStarted) name() string  { return "step-started" }
func (Progress) name() string     { return "progress" }
func (StepFinished) name() string { return "step-finished" }
func (ItemFinished) name() string { return "item-finished" }
func (Run) name() string          { return "run" }
