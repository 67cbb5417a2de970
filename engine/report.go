package engine

import (
	"context"
	"maps"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/journal"
	"github.com/precis-dev/precis/engine/step"
)

// add takes what a step left into the result.
func (i *ItemResult) add(out step.Output) {
	i.Outputs = append(i.Outputs, out.Published...)
	maps.Copy(i.Facts, out.Facts)
	if source, ok := out.Facts["source"].(string); ok {
		i.Source = source
	}
}

func (i *ItemResult) set(o journal.Outcome) {
	i.Status, i.Class, i.Message, i.Place, i.Next, i.Skip = o.Status, o.Class, o.Message, o.Place, o.Next, o.Skip
}

func (i ItemResult) event() event.Item {
	e := event.Item{
		Session: i.Session, Status: i.Status, Class: i.Class, Message: i.Message, Next: i.Next,
		Line: i.Place.Line, Source: i.Source,
	}
	e.Receipt, _ = i.Facts["receipt"].(string)
	e.Report, _ = i.Facts["report"].(string)
	if len(i.Outputs) > 0 {
		e.Output, e.SHA256 = i.Outputs[0].Path, i.Outputs[0].SHA256
	}
	return e
}

func (r Result) event(ctx context.Context, err error) event.Run {
	e := event.Run{Run: r.Run, Exit: r.Exit, Items: []event.Item{}}
	for _, i := range r.Items {
		e.Items = append(e.Items, i.event())
	}
	if err != nil {
		o := outcome(ctx, err)
		e.Class, e.Message, e.Next = o.Class, o.Message, o.Next
	}
	return e
}
