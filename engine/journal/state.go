package journal

import (
	"errors"
	"fmt"

	"github.com/precis-dev/precis/engine/step"
)

// State is what a journal says, up to some entry.
type State struct {
	Run      *RunOpened // nil before the first entry
	Items    []*Item    // in the order in which they were opened
	Finished *RunFinished

	byID map[string]*Item
}

// Item is one item of the run.
type Item struct {
	ItemOpened
	Steps  []*Step  // in the order in which they were first started
	Result *Outcome // nil until the item is finished
}

// Step is the last attempt at a step.
type Step struct {
	StepStarted
	Phase     Phase
	Artifacts map[string]step.Artifact
	Published []step.Published
	Facts     map[string]any
	Failure   *Outcome
}

// Phase is how far a step came.
type Phase string

// The phases. A step that stays started was interrupted, and what it did is not
// known.
const (
	Started  Phase = "started"
	Finished Phase = "finished"
	Failed   Phase = "failed"
)

// Fold gives the state after entries that follow each other.
func Fold(entries []Entry) (State, error) {
	var s State
	for _, e := range entries {
		if err := s.apply(e.Body); err != nil {
			return State{}, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
	}
	return s, nil
}

// Item finds an item by its id, nil when there is none.
func (s *State) Item(id string) *Item { return s.byID[id] }

// Step finds a step by its name, nil when it was never started.
func (i *Item) Step(name string) *Step {
	for _, s := range i.Steps {
		if s.Step == name {
			return s
		}
	}
	return nil
}

// apply checks what every entry has to keep to, then the entry itself.
func (s *State) apply(b Body) error {
	_, opens := b.(*RunOpened)
	switch {
	case opens && s.Run != nil:
		return errors.New("the run is open already")
	case !opens && s.Run == nil:
		return errors.New("the run is not open")
	case s.Finished != nil:
		return errors.New("the run is finished")
	}
	return b.fold(s)
}

func (b *RunOpened) fold(s *State) error {
	s.Run = b
	s.byID = map[string]*Item{}
	return nil
}

func (b *ItemOpened) fold(s *State) error {
	if s.byID[b.Item] != nil {
		return fmt.Errorf("item %q is open already", b.Item)
	}
	i := &Item{ItemOpened: *b}
	s.Items = append(s.Items, i)
	s.byID[b.Item] = i
	return nil
}

// open finds an item that may still change.
func (s *State) open(id string) (*Item, error) {
	i := s.byID[id]
	switch {
	case i == nil:
		return nil, fmt.Errorf("item %q is not open", id)
	case i.Result != nil:
		return nil, fmt.Errorf("item %q is finished", id)
	}
	return i, nil
}

func (b *StepStarted) fold(s *State) error {
	i, err := s.open(b.Item)
	if err != nil {
		return err
	}
	st := i.Step(b.Step)
	if st == nil {
		st = &Step{}
		i.Steps = append(i.Steps, st)
	} else if st.Phase == Finished {
		return fmt.Errorf("step %q of item %q is finished", b.Step, b.Item)
	}
	*st = Step{StepStarted: *b, Phase: Started}
	return nil
}

// running finds a step that was started and not ended.
func (s *State) running(item, name string) (*Step, error) {
	i, err := s.open(item)
	if err != nil {
		return nil, err
	}
	st := i.Step(name)
	if st == nil || st.Phase != Started {
		return nil, fmt.Errorf("step %q of item %q is not under way", name, item)
	}
	return st, nil
}

func (b *StepFinished) fold(s *State) error {
	st, err := s.running(b.Item, b.Step)
	if err != nil {
		return err
	}
	st.Phase = Finished
	st.Artifacts, st.Published, st.Facts = b.Artifacts, b.Published, b.Facts
	return nil
}

func (b *StepFailed) fold(s *State) error {
	st, err := s.running(b.Item, b.Step)
	if err != nil {
		return err
	}
	st.Phase = Failed
	st.Published, st.Failure = b.Published, &b.Outcome
	return nil
}

func (b *ItemFinished) fold(s *State) error {
	i, err := s.open(b.Item)
	if err != nil {
		return err
	}
	good := b.Status == step.Done || b.Status == step.UpToDate
	for _, st := range i.Steps {
		if st.Phase == Started || good && st.Phase == Failed {
			return fmt.Errorf("item %q cannot end as %s: step %q is %s", b.Item, b.Status, st.Step, st.Phase)
		}
	}
	if !good && b.Status != step.Refused && b.Status != step.Failed {
		return fmt.Errorf("item %q cannot end as %q", b.Item, b.Status)
	}
	i.Result = &b.Outcome
	return nil
}

func (b *RunFinished) fold(s *State) error {
	for _, i := range s.Items {
		if i.Result == nil {
			return fmt.Errorf("the run cannot end: item %q is not finished", i.ItemOpened.Item)
		}
	}
	s.Finished = b
	return nil
}
