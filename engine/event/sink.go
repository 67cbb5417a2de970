package event

import (
	"encoding/json"
	"io"
	"sync"
)

// Sink takes events. It is called from several goroutines at once, and never
// makes a run fail.
type Sink interface{ Emit(Event) }

// Discard is the sink that drops everything.
type Discard struct{}

// Emit does nothing.
func (Discard) Emit(Event) {}

// Lines is a sink that writes each event as a line of JSON, its name under
// "event".
type Lines struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewLines writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Emit writes one line, unless an earlier one could not be written.
func (l *Lines) Emit(e Event) {
	line, err := marshal(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	if l.err == nil {
		_, l.err = l.w.Write(line)
	}
}

// Err is the first error; lines after it are missing.
func (l *Lines) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// marshal puts the name before the event's own members, of which each has some.
func marshal(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(e.name())
	if err != nil {
		return nil, err
	}
	line := append([]byte(`{"event":`), name...)
	line = append(append(line, ','), body[1:]...)
	return append(line, '\n'), nil
}
