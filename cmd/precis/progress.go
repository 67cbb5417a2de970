package main

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/precis-dev/precis/engine/event"
)

const (
	// patience is how long nothing is shown: what is done by then needs no bar.
	patience = time.Second

	// largeItem is from how many bytes an item has a bar among many.
	largeItem = 4 << 20

	// mostBars is how many items have a bar at once.
	mostBars = 8
)

// watcher shows what is under way: a line for a run of several items, and one for
// each item that takes its time. It is an [event.Sink]; on what is no terminal, and
// with --quiet, it shows nothing. Events only change numbers, which the lines show
// when they are drawn, so that ten thousand small items cost nothing.
type watcher struct {
	container *mpb.Progress
	timer     *time.Timer

	mu    sync.Mutex
	whole *wholeLine // nil until the run begins, and for one item
	items map[string]*itemLine
	few   bool // each item has a line
}

// watch begins to wait. A log on the same terminal and bars would write over
// each other, so --verbose has no bars; --json tells progress itself.
func (c *cli) watch() *watcher {
	if !c.bars || c.quiet || c.verbose || c.json {
		return &watcher{}
	}
	begin := make(chan any)
	return &watcher{
		container: mpb.New(mpb.WithOutput(c.errOut), mpb.WithRenderDelay(begin)),
		timer:     time.AfterFunc(patience, func() { close(begin) }),
		items:     map[string]*itemLine{},
		few:       true,
	}
}

// stop takes the lines away.
func (w *watcher) stop() {
	if w.container == nil {
		return
	}
	if w.timer.Stop() { // nothing was drawn
		w.container.Shutdown()
		return
	}
	w.mu.Lock()
	for _, l := range w.items {
		l.bar.Abort(true)
	}
	if w.whole != nil {
		w.whole.bar.Abort(true)
	}
	w.items, w.whole = nil, nil
	w.mu.Unlock()
	w.container.Wait() // draws once more, without them
}

// file watches a single file: its progress, and its end.
func (w *watcher) file(path string) (progress func(done, total int64), done func()) {
	w.Emit(event.ItemStarted{Item: path, Label: path})
	return func(done, total int64) { w.Emit(event.Progress{Item: path, Step: "read", Done: done, Total: total}) },
		func() { w.Emit(event.ItemFinished{ID: path}) }
}

// Emit takes an event into account.
func (w *watcher) Emit(e event.Event) {
	if w.container == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case event.RunStarted:
		w.run(e)
	case event.ItemStarted:
		w.started(e)
	case event.StepStarted:
		if l := w.items[e.Item]; l != nil {
			l.begin(e.Step)
		}
	case event.Progress:
		if l := w.items[e.Item]; l != nil {
			l.step.Store(e.Step)
			l.counted.Store(true)
			l.done.Store(e.Done)
			l.total.Store(e.Total)
		}
	case event.ItemFinished:
		w.finished(e)
	}
}

func (w *watcher) run(e event.RunStarted) {
	w.few = e.Items <= manyItems
	if e.Items > 1 && w.whole == nil {
		l := &wholeLine{items: e.Items, bytes: e.Bytes, began: time.Now(), lone: !w.few}
		if l.bar = w.add(l.draw, mpb.BarPriority(-1)); l.bar != nil {
			w.whole = l
		}
	}
}

// add begins a line; nil when there is no more drawing.
func (w *watcher) add(draw mpb.BarFillerFunc, options ...mpb.BarOption) *mpb.Bar {
	bar, err := w.container.Add(0, draw, append(options, mpb.BarFillerTrim())...)
	if err != nil {
		return nil
	}
	return bar
}

func (w *watcher) started(e event.ItemStarted) {
	name := visible(filepath.Base(e.Label))
	if w.whole != nil {
		w.whole.name.Store(name)
	}
	if w.items != nil && (w.few || e.Bytes >= largeItem) && len(w.items) < mostBars {
		l := &itemLine{name: name, indent: w.whole != nil}
		if l.bar = w.add(l.draw); l.bar != nil {
			w.items[e.Item] = l
		}
	}
}

func (w *watcher) finished(e event.ItemFinished) {
	if l := w.items[e.ID]; l != nil {
		l.bar.Abort(true)
		delete(w.items, e.ID)
	}
	if w.whole != nil {
		w.whole.itemsDone.Add(1)
		w.whole.bytesDone.Add(e.Bytes)
	}
}

// wholeLine is the line of a run of several items.
type wholeLine struct {
	bar       *mpb.Bar
	items     int
	bytes     int64 // 0 where it is not known
	began     time.Time
	lone      bool // small items have no lines of their own, so one is named here
	itemsDone atomic.Int64
	bytesDone atomic.Int64
	name      atomic.Value
}

func (l *wholeLine) draw(w io.Writer, s decor.Statistics) error {
	name, _ := l.name.Load().(string)
	if !l.lone {
		name = ""
	}
	text := wholeText(s.AvailableWidth, progress{
		items: l.itemsDone.Load(), itemsTotal: int64(l.items), bytes: l.bytesDone.Load(), bytesTotal: l.bytes,
	}, time.Since(l.began), name)
	_, err := io.WriteString(w, text)
	return err
}

// itemLine is the line of one item.
type itemLine struct {
	bar         *mpb.Bar
	name        string
	indent      bool
	step        atomic.Value
	counted     atomic.Bool // the step tells how far it is
	done, total atomic.Int64
	began       atomic.Value // when the step did
}

// begin begins a step. What is asked for is not there yet, however far the steps
// before it came.
func (l *itemLine) begin(step string) {
	l.step.Store(step)
	l.began.Store(time.Now())
	l.counted.Store(false)
	if asks(step) {
		l.done.Store(0)
		l.total.Store(0)
	}
}

// note is how far a step is, or how long the author is at it: nobody knows how much
// he will write.
func (l *itemLine) note(step string) string {
	began, _ := l.began.Load().(time.Time)
	switch {
	case asks(step):
		return spent(time.Since(began))
	case l.counted.Load():
		return fmt.Sprintf("%d %%", percentOf(l.done.Load(), l.total.Load()))
	}
	return ""
}

func (l *itemLine) draw(w io.Writer, s decor.Statistics) error {
	step, _ := l.step.Load().(string)
	_, err := io.WriteString(w, itemText(s.AvailableWidth, l.indent, share(l.done.Load(), l.total.Load()), l.note(step), step, l.name))
	return err
}
