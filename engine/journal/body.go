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
	TypeRunResumed   Type = "run-resumed"
	TypeItemOpened   Type = "item-opened"
	TypeStepStarted  Type = "step-started"
	TypeStepKept     Type = "step-kept"
	TypeStepFinished Type = "step-finished"
	TypeStepFailed   Type = "step-failed"
	TypeItemFinished Type = "item-finished"
	TypeRunFinished  Type = "run-finished"
	TypeItemRestored Type = "item-restored"
)

// Body is what an entry says: a pointer to one of the types below.
type Body interface {
	Type() Type
	// fold applies the entry to the state or says why it cannot follow.
	fold(*State) error
}

// RunOpened is the first entry.
type RunOpened struct {
	Run           string       `json:"run"`
	Kind          string       `json:"kind"`
	Name          string       `json:"name"` // of the job
	Job           string       `json:"job"`  // digest of the canonical job
	File          string       `json:"file"` // the job file, absolute
	Set           []string     `json:"set,omitempty"`
	Until         string       `json:"until,omitempty"`
	Force         bool         `json:"force,omitempty"`
	SessionClosed bool         `json:"sessionClosed,omitempty"`
	Items         int          `json:"items"` // that follow
	Durability    applog.Level `json:"durability"`
	Owner         applog.Owner `json:"owner"`
}

// RunResumed says that another process went on with the run.
type RunResumed struct {
	Owner applog.Owner `json:"owner"`
}

// ItemOpened spawns an item.
type ItemOpened struct {
	Item   string `json:"item"`
	Source string `json:"source"` // absolute
	Label  string `json:"label"`
}

// StepStarted comes before the step does anything; for an effect it is the intent,
// and durable before the effect begins.
type StepStarted struct {
	Item   string `json:"item"`
	Step   string `json:"step"`
	Effect bool   `json:"effect,omitempty"`
	// Intent is what the effect is about to publish.
	Intent []step.Published `json:"intent,omitempty"`
}

// StepKept says what a step that is under way stored and would not get again.
type StepKept struct {
	Item      string                   `json:"item"`
	Step      string                   `json:"step"`
	Artifacts map[string]step.Artifact `json:"artifacts"`
}

// StepFinished comes after everything in it is durable and verified. A step with
// a home was taken from that other run, and need not have been started.
type StepFinished struct {
	Item string `json:"item"`
	plan.Done
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
	// Same is the run that has the steps of an item that was up to date.
	Same string `json:"same,omitempty"`
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
	Open    bool        `json:"open,omitempty"` // of a step: its item stays open, to be resumed
}

// RunFinished is the last entry of the run's own. An interrupted run has none.
type RunFinished struct {
	Exit int `json:"exit"`
}

// ItemRestored says that the backup of a replaced session was put back.
type ItemRestored struct {
	Item      string           `json:"item"`
	Published []step.Published `json:"published"`
}

// Type of the entry.
func (*RunOpened) Type() Type { return TypeRunOpened }

// Type of the entry.
func (*RunResumed) Type() Type { return TypeRunResumed }

// Type of the entry.
func (*ItemOpened) Type() Type { return TypeItemOpened }

// Type of the entry.
func (*StepStarted) Type() Type { return TypeStepStarted }

// Type of the entry.
func (*StepKept) Type() Type { return TypeStepKept }

// Type of the entry.
func (*StepFinished) Type() Type { return TypeStepFinished }

// Type of the entry.
func (*StepFailed) Type() Type { return TypeStepFailed }

// Type of the entry.
func (*ItemFinished) Type() Type { return TypeItemFinished }

// Type of the entry.
func (*RunFinished) Type() Type { return TypeRunFinished }

// Type of the entry.
func (*ItemRestored) Type() Type { return TypeItemRestored }

func newBody(t Type) (Body, bool) {
	switch t {
	case TypeRunOpened:
		return &RunOpened{}, true
	case TypeRunResumed:
		return &RunResumed{}, true
	case TypeItemOpened:
		return &ItemOpened{}, true
	case TypeStepStarted:
		return &StepStarted{}, true
	case TypeStepKept:
		return &StepKept{}, true
	case TypeStepFinished:
		return &StepFinished{}, true
	case TypeStepFailed:
		return &StepFailed{}, true
	case TypeItemFinished:
		return &ItemFinished{}, true
	case TypeRunFinished:
		return &RunFinished{}, true
	case TypeItemRestored:
		return &ItemRestored{}, true
	}
	return nil, false
}
