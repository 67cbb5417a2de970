package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
)

// brought is what a person brings to a run that is resumed.
type brought struct {
	mu    sync.Mutex
	texts []Brought
	lone  bool // there is one text, and one step that could ask for it
}

func newBrought(texts []Brought, state *journal.State) *brought {
	if len(texts) == 0 {
		return nil
	}
	waits, cut := 0, false
	for _, i := range state.Items {
		cut = cut || i.Result == nil && i.Left() == nil // which of its steps ask is not known
		for _, st := range i.Steps {
			if i.Result == nil && st.Phase == journal.Failed && st.Failure.Open {
				waits++
			}
		}
	}
	return &brought{texts: slices.Clone(texts), lone: len(texts) == 1 && waits == 1 && !cut}
}

// take implements [step.Env.Brought].
func (b *brought) take(mine func([]byte) bool) ([]byte, bool) {
	if b == nil {
		return nil, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, t := range b.texts {
		if b.lone || mine(t.Text) {
			b.texts = slices.Delete(b.texts, i, i+1)
			return t.Text, true
		}
	}
	return nil, false
}

// notAskedFor is the class of a text that nobody takes.
const notAskedFor = "not-asked-for"

// left refuses what nobody took.
func (b *brought) left(run string, next string) error {
	if b == nil || len(b.texts) == 0 {
		return nil
	}
	names := make([]string, len(b.texts))
	for i, t := range b.texts {
		names[i] = t.Name
	}
	return &step.Refusal{
		Class: notAskedFor, Message: "no step that waits asked for " + strings.Join(names, ", "),
		Place: step.Place{File: run}, Next: next,
	}
}
