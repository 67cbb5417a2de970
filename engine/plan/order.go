package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis/engine/step"
)

// CycleError is a ring of needs. The path starts and ends with the same step.
type CycleError struct{ Path []string }

func (e *CycleError) Error() string {
	return "steps need each other: " + strings.Join(e.Path, " -> ")
}

// UnknownStepError names a step that the graph does not have.
type UnknownStepError struct {
	Step string
	By   string // the step that needs it; "" for a caller's request
}

func (e *UnknownStepError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("there is no step %q", e.Step)
	}
	return fmt.Sprintf("step %q needs %q, which does not exist", e.By, e.Step)
}

// DuplicateError is a name that two steps have.
type DuplicateError struct{ Step string }

func (e *DuplicateError) Error() string { return fmt.Sprintf("two steps are called %q", e.Step) }

// Order sorts steps so that each comes after those it needs, and otherwise keeps
// their order.
func Order(steps []step.Step) ([]step.Step, error) {
	g := graph{steps: steps, index: map[string]int{}, done: make([]bool, len(steps))}
	for i, s := range steps {
		if _, ok := g.index[s.Name]; ok {
			return nil, &DuplicateError{s.Name}
		}
		g.index[s.Name] = i
	}
	for i := range steps {
		if err := g.visit(i); err != nil {
			return nil, err
		}
	}
	return g.order, nil
}

// Until keeps of ordered steps the named one and those it needs, directly or
// not.
func Until(ordered []step.Step, name string) ([]step.Step, error) {
	wanted := map[string]bool{name: true}
	var kept []step.Step
	for _, s := range slices.Backward(ordered) {
		if !wanted[s.Name] {
			continue
		}
		kept = append(kept, s)
		for _, need := range s.Needs {
			wanted[need] = true
		}
	}
	if len(kept) == 0 {
		return nil, &UnknownStepError{Step: name}
	}
	slices.Reverse(kept)
	return kept, nil
}

// Insert puts steps in front of others, which are ordered: they come from the step
// name, and who needs that one needs them too.
func Insert(ordered []step.Step, name string, more []step.Step) ([]step.Step, error) {
	if len(more) == 0 {
		return ordered, nil
	}
	names := make([]string, len(more))
	for i, s := range more {
		if slices.Contains(names[:i], s.Name) {
			return nil, &DuplicateError{s.Name}
		}
		names[i] = s.Name
	}
	out := slices.Clone(more)
	for _, s := range ordered {
		if slices.Contains(names, s.Name) {
			return nil, &DuplicateError{s.Name}
		}
		if slices.Contains(s.Needs, name) {
			s.Needs = append(slices.Clone(s.Needs), names...)
		}
		out = append(out, s)
	}
	return out, nil
}

// graph is a depth-first walk over the needs.
type graph struct {
	steps []step.Step
	index map[string]int
	done  []bool
	path  []int // being visited
	order []step.Step
}

func (g *graph) visit(i int) error {
	if at := slices.Index(g.path, i); at >= 0 {
		return g.cycle(append(g.path[at:], i))
	}
	if g.done[i] {
		return nil
	}
	g.path = append(g.path, i)
	for _, need := range g.steps[i].Needs {
		j, ok := g.index[need]
		if !ok {
			return &UnknownStepError{Step: need, By: g.steps[i].Name}
		}
		if err := g.visit(j); err != nil {
			return err
		}
	}
	g.path = g.path[:len(g.path)-1]
	g.done[i] = true
	g.order = append(g.order, g.steps[i])
	return nil
}

func (g *graph) cycle(path []int) error {
	e := &CycleError{}
	for _, i := range path {
		e.Path = append(e.Path, g.steps[i].Name)
	}
	return e
}
