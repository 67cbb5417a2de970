package journal

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// State is what a journal says, up to some entry.
type State struct {
	Run      *RunOpened // nil before the first entry
	Opened   time.Time
	Resumed  []RunResumed
	Items    []*Item // in the order in which they were opened
	Finished *RunFinished
	Ended    time.Time // the last entry's time

	byID map[string]*Item
	at   time.Time // of the entry that is applied
}

// Item is one item of the run.
type Item struct {
	ItemOpened
	Steps     []*Step  // in the order in which they were first started; none once it is finished
	Result    *Outcome // nil until the item is finished
	Same      string   // the run that has the steps of an item that was up to date
	Published []step.Published
	Restored  []step.Published
	Sizes     *step.Sizes
}

// Step is the last attempt at a step.
type Step struct {
	StepStarted
	Phase     Phase
	Began     time.Time // zero for a step of an earlier run
	Ended     time.Time
	Kept      map[string]step.Artifact // by all attempts
	Done      plan.Done                // of a finished step
	Published []step.Published         // by a finished or failed step
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

// Item finds an item by its id, nil when there is none.
func (s *State) Item(id string) *Item { return s.byID[id] }

// Left says why an open item was left open: nil for one that is finished, that
// was interrupted, or that was not come to.
func (i *Item) Left() *Outcome {
	var left *Outcome
	for _, st := range i.Steps {
		switch {
		case st.Phase == Started, st.Phase == Failed && !st.Failure.Open:
			return nil
		case st.Phase == Failed && left == nil:
			left = st.Failure
		}
	}
	if i.Result != nil {
		return nil
	}
	return left
}

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
func (s *State) apply(e Entry) error {
	_, opens := e.Body.(*RunOpened)
	_, restores := e.Body.(*ItemRestored)
	switch {
	case opens && s.Run != nil:
		return errors.New("the run is open already")
	case !opens && s.Run == nil:
		return errors.New("the run is not open")
	case s.Finished != nil && !restores:
		return errors.New("the run is finished")
	}
	s.at = e.Time
	if err := e.Body.fold(s); err != nil {
		return err
	}
	s.Ended = e.Time
	return nil
}

func (b *RunOpened) fold(s *State) error {
	s.Run, s.Opened = b, s.at
	s.byID = map[string]*Item{}
	return nil
}

func (b *RunResumed) fold(s *State) error {
	s.Resumed = append(s.Resumed, *b)
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
	st, err := i.attempt(b.Step)
	if err != nil {
		return err
	}
	*st = Step{StepStarted: *b, Phase: Started, Began: s.at, Kept: st.Kept}
	return nil
}

func (b *StepKept) fold(s *State) error {
	_, st, err := s.running(b.Item, b.Step)
	if err != nil {
		return err
	}
	if st.Kept == nil {
		st.Kept = map[string]step.Artifact{}
	}
	maps.Copy(st.Kept, b.Artifacts)
	return nil
}

// attempt finds the place of a step that may still change, or makes it.
func (i *Item) attempt(name string) (*Step, error) {
	st := i.Step(name)
	switch {
	case st == nil:
		st = &Step{}
		i.Steps = append(i.Steps, st)
	case st.Phase == Finished:
		return nil, fmt.Errorf("step %q of item %q is finished", name, i.ItemOpened.Item)
	}
	return st, nil
}

// running finds a step that was started and not ended.
func (s *State) running(item, name string) (*Item, *Step, error) {
	i, err := s.open(item)
	if err != nil {
		return nil, nil, err
	}
	st := i.Step(name)
	if st == nil || st.Phase != Started {
		return nil, nil, fmt.Errorf("step %q of item %q is not under way", name, item)
	}
	return i, st, nil
}

func (b *StepFinished) fold(s *State) error {
	if b.Home != "" {
		return b.reuse(s)
	}
	i, st, err := s.running(b.Item, b.Step)
	if err != nil {
		return err
	}
	st.Phase, st.Ended, st.Done = Finished, s.at, b.Done
	st.Published = b.Published
	i.left(b.Done)
	return nil
}

// reuse enters a step that another run finished, also in place of an attempt of
// this run that came to nothing.
func (b *StepFinished) reuse(s *State) error {
	i, err := s.open(b.Item)
	if err != nil {
		return err
	}
	st, err := i.attempt(b.Step)
	if err != nil {
		return err
	}
	*st = Step{
		StepStarted: StepStarted{Item: b.Item, Step: b.Step}, Phase: Finished, Ended: s.at, Done: b.Done, Published: b.Published,
	}
	i.left(b.Done)
	return nil
}

func (i *Item) left(d plan.Done) {
	i.Published = append(i.Published, d.Published...)
	if d.Sizes != nil {
		i.Sizes = d.Sizes
	}
}

func (b *StepFailed) fold(s *State) error {
	i, st, err := s.running(b.Item, b.Step)
	if err != nil {
		return err
	}
	st.Phase, st.Ended = Failed, s.at
	st.Published, st.Failure = b.Published, &b.Outcome
	i.Published = append(i.Published, b.Published...)
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
	if !good && b.Status != step.Refused && b.Status != step.Failed || b.Open {
		return fmt.Errorf("item %q cannot end as %q", b.Item, b.Status)
	}
	i.Result, i.Same = &b.Outcome, b.Same
	return nil
}

// release forgets the steps of an item that the entry finished, once each, if not
// nil, has seen them.
func (s *State) release(b Body, each func(*Item) error) (err error) {
	end, ok := b.(*ItemFinished)
	if !ok {
		return nil
	}
	i := s.byID[end.Item]
	if each != nil {
		err = each(i)
	}
	i.Steps = nil
	return err
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

func (b *ItemRestored) fold(s *State) error {
	i := s.byID[b.Item]
	if i == nil || i.Result == nil {
		return fmt.Errorf("item %q is not finished", b.Item)
	}
	i.Restored = append(i.Restored, b.Published...)
	return nil
}
