package journal

import (
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys/applog"
)

// Type names the kind of an entry. The set is closed within a version.
type Type string

// The types.
const (
	TypeRunOpened    Type = "run-opened"
	TypeItemOpened   Type = "item-opened"
	TypeStepStarted  Type = "step-started"
	TypeStepFinished Type = "step-finished"
	TypeStepFailed   Type = "step-failed"
	TypeItemFinished Type = "item-finished"
	TypeRunFinished  Type = "run-finished"
)

// Body is what an entry says: a pointer to one of the types below.
type Body interface {
	Type() Type
	// fold applies the entry to the state or says why it cannot follow.
	fold(*State) error
}

// RunOpened is the first entry.
type RunOpened struct {
	Run        string       `json:"run"`
	Kind       string       `json:"kind"`
	Job        string       `json:"job"` // digest of the canonical job
	Until      string       `json:"until,omitempty"`
	Durability applog.Level `json:"durability"`
	Owner      applog.Owner `json:"owner"`
}

// ItemOpened spawns an item.
type ItemOpened struct {
	Item   string `json:"item"`
	Source string `json:"source"`
	Label  string `json:"label"`
}

// StepStarted comes before the step does anything; for an effect it is the
// intent.
type StepStarted struct {
	Item       string          `json:"item"`
	Step       string          `json:"step"`
	Effect     bool            `json:"effect,omitempty"`
	Key        string          `json:"key"`
	Components plan.Components `json:"components"`
}

// StepFinished comes after everything in it is durable and verified.
type StepFinished struct {
	Item      string                   `json:"item"`
	Step      string                   `json:"step"`
	Artifacts map[string]step.Artifact `json:"artifacts,omitempty"`
	Published []step.Published         `json:"published,omitempty"`
	Facts     map[string]any           `json:"facts,omitempty"`
}

// StepFailed ends an attempt that left no result. Published lists what it put
// into the world all the same.
type StepFailed struct {
	Item      string           `json:"item"`
	Step      string           `json:"step"`
	Published []step.Published `json:"published,omitempty"`
	Outcome
}

// ItemFinished is the result of an item. An interrupted item has none.
type ItemFinished struct {
	Item string `json:"item"`
	Outcome
}

// Outcome is how something ended.
type Outcome struct {
	Status  step.Status `json:"status"`
	Class   string      `json:"class,omitempty"`
	Message string      `json:"message,omitempty"`
	Place   step.Place  `json:"place,omitzero"`
	Next    string      `json:"next,omitempty"`
	Skip    bool        `json:"skip,omitempty"` // refused, and no failure of the run
}

// RunFinished is the last entry. An interrupted run has none.
type RunFinished struct {
	Exit int `json:"exit"`
}

// Type of the entry.
func (*RunOpened) Type() Type { return TypeRunOpened }

// Type of the entry.
func (*ItemOpened) Type() Type { return TypeItemOpened }

// Type of the entry.
func (*StepStarted) Type() Type { return TypeStepStarted }

// Type of the entry.
func (*StepFinished) Type() Type { return TypeStepFinished }

// Type of the entry.
func (*StepFailed) Type() Type { return TypeStepFailed }

// Type of the entry.
func (*ItemFinished) Type() Type { return TypeItemFinished }

// Type of the entry.
func (*RunFinished) Type() Type { return TypeRunFinished }

func newBody(t Type) (Body, bool) {
	switch t {
	case TypeRunOpened:
		return &RunOpened{}, true
	case TypeItemOpened:
		return &ItemOpened{}, true
	case TypeStepStarted:
		return &StepStarted{}, true
	case TypeStepFinished:
		return &StepFinished{}, true
	case TypeStepFailed:
		return &StepFailed{}, true
	case TypeItemFinished:
		return &ItemFinished{}, true
	case TypeRunFinished:
		return &RunFinished{}, true
	}
	return nil, false
}
