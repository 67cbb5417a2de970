package main

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/precis-dev/precis/engine/event"
)

// patience is how long nothing is shown: what is done by then needs no bar.
const patience = time.Second

// watcher shows what is under way as bars, one a session. It is an [event.Sink];
// on what is no terminal, and with --quiet, it shows nothing.
type watcher struct {
	container *mpb.Progress
	timer     *time.Timer

	mu   sync.Mutex
	bars map[string]*bars
}

// bars is a session's bar and the step it is at.
type bars struct {
	*mpb.Bar
	step atomic.Value // read by the bar's own goroutine
}

// watch begins to wait. A log on the same terminal and bars would write over
// each other, so --verbose has no bars.
func (c *cli) watch() *watcher {
	if !c.bars || c.quiet || c.verbose {
		return &watcher{}
	}
	begin := make(chan any)
	return &watcher{
		container: mpb.New(mpb.WithOutput(c.errOut), mpb.WithRenderDelay(begin)),
		timer:     time.AfterFunc(patience, func() { close(begin) }),
		bars:      map[string]*bars{},
	}
}

// stop takes the bars away.
func (w *watcher) stop() {
	if w.container != nil {
		w.timer.Stop()
		w.container.Shutdown()
	}
}

// file watches a single file: its progress, and its end.
func (w *watcher) file(path string) (progress func(done, total int64), done func()) {
	w.Emit(event.ItemStarted{Item: path, Label: path})
	return func(done, total int64) { w.Emit(event.Progress{Item: path, Step: "read", Done: done, Total: total}) },
		func() { w.Emit(event.ItemFinished{ID: path}) }
}

// Emit shows an event.
func (w *watcher) Emit(e event.Event) {
	if w.container == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case event.ItemStarted:
		w.bars[e.Item] = w.add(e.Label)
	case event.StepStarted:
		if b := w.bars[e.Item]; b != nil {
			b.step.Store(e.Step)
		}
	case event.Progress:
		if b := w.bars[e.Item]; b != nil {
			b.step.Store(e.Step)
			b.SetTotal(e.Total, false)
			b.SetCurrent(e.Done)
		}
	case event.ItemFinished:
		if b := w.bars[e.ID]; b != nil {
			b.Abort(true)
			delete(w.bars, e.ID)
		}
	}
}

const labelColumns = 36

func (w *watcher) add(label string) *bars {
	b := &bars{}
	name := shorten(visible(filepath.Base(label)), labelColumns)
	b.Bar = w.container.New(0, mpb.BarStyle().Lbound("").Rbound("").Filler("█").Tip("█").Padding("░"),
		mpb.BarFillerTrim(),
		mpb.BarWidth(24),
		mpb.PrependDecorators(decor.Name(name+pad(name, labelColumns)+"  ")),
		mpb.AppendDecorators(decor.Percentage(decor.WC{W: 6}), decor.Any(func(decor.Statistics) string {
			step, _ := b.step.Load().(string)
			return "  " + step
		})))
	return b
}
