package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
)

// reportName is the artifact that is for people.
const reportName = "report"

// add takes what a finished step left into the result.
func (i *ItemResult) add(d plan.Done, run string) {
	i.Outputs = append(i.Outputs, d.Published...)
	for _, o := range d.Observed {
		if o.Name == "source" {
			i.Source = o.SHA256
		}
	}
	if d.Sizes != nil {
		i.Sizes = d.Sizes
	}
	if a, ok := d.Artifacts[reportName]; ok {
		i.Report, i.Home = a, run
		if d.Home != "" {
			i.Home = d.Home
		}
	}
}

// keep turns what an earlier run published into what this one found.
func (i *ItemResult) keep() {
	i.Outputs = slices.DeleteFunc(i.Outputs, func(p step.Published) bool { return !p.Result() })
	for n := range i.Outputs {
		i.Outputs[n].Op, i.Outputs[n].Old = step.Keep, nil
	}
}

func (i *ItemResult) set(o journal.Outcome) {
	i.Status, i.Class, i.Message, i.Place, i.Next, i.Skip, i.Open = o.Status, o.Class, o.Message, o.Place, o.Next, o.Skip, o.Open
}

func (i ItemResult) event() event.Item {
	e := event.Item{
		Item: i.Item, Session: i.Session, Status: i.Status, Class: i.Class, Message: i.Message, Next: i.Next,
		Line: i.Place.Line, Open: i.Open, Source: i.Source, Sizes: i.Sizes, Receipt: i.Receipt, Outputs: i.Outputs,
	}
	if len(i.Outputs) > 0 {
		e.Output, e.SHA256 = i.Outputs[0].Path, i.Outputs[0].SHA256
	}
	return e
}

func (r Result) event(ctx context.Context, err error) event.Run {
	e := event.Run{Run: r.Run, Exit: r.Exit, Items: []event.Item{}, Effects: r.Effects}
	for _, i := range r.Items {
		e.Items = append(e.Items, i.event())
	}
	if err != nil {
		o := outcome(ctx, err)
		if halted := new(haltError); errors.As(err, &halted) {
			o = halted.outcome()
		}
		e.Class, e.Message, e.Next = o.Class, o.Message, o.Next
	}
	return e
}
