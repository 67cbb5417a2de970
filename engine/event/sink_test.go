package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/precis-dev/precis/engine/event"
	"github.com/precis-dev/precis/engine/step"
)

func TestLines(t *testing.T) {
	sizes := &step.Sizes{Before: step.Size{Bytes: 9, Records: 2, Tokens: 3}, After: step.Size{Bytes: 4}}
	item := event.Item{Item: "i", Session: "s.jsonl", Status: "failed", Class: "c", Message: "m", Next: "n", Line: 3,
		Output: "o", SHA256: "1", Source: "2", Sizes: sizes, Receipt: "r"}
	const text = `{"item":"i","session":"s.jsonl","status":"failed","class":"c","message":"m","next":"n","line":3,"output":"o","sha256":"1","source":"2",` +
		`"sizes":{"before":{"bytes":9,"records":2,"tokens":3},"after":{"bytes":4,"records":0,"tokens":0}},"receipt":"r"}`
	for want, e := range map[string]event.Event{
		`{"event":"run-started","run":"r","kind":"compress","items":2,"bytes":7}`:                     event.RunStarted{Run: "r", Kind: "compress", Items: 2, Bytes: 7},
		`{"event":"item-started","item":"i","session":"s","label":"l","bytes":0,"steps":4}`:           event.ItemStarted{Item: "i", Session: "s", Label: "l", Steps: 4},
		`{"event":"step-started","item":"i","step":"s"}`:                                              event.StepStarted{Item: "i", Step: "s"},
		`{"event":"progress","item":"i","step":"s","done":1,"total":2}`:                               event.Progress{Item: "i", Step: "s", Done: 1, Total: 2},
		`{"event":"step-finished","item":"i","step":"s"}`:                                             event.StepFinished{Item: "i", Step: "s"},
		`{"event":"item-finished","id":"i","bytes":7,"item":"i","session":"s","status":"done"}`:       event.ItemFinished{ID: "i", Bytes: 7, Item: event.Item{Item: "i", Session: "s", Status: "done"}},
		`{"event":"run","run":"r","exit":1,"items":[` + text + `]}`:                                   event.Run{Run: "r", Exit: 1, Items: []event.Item{item}},
		`{"event":"run","run":"","exit":2,"class":"no-sessions","message":"m","next":"n","items":[]}`: event.Run{Exit: 2, Class: "no-sessions", Message: "m", Next: "n", Items: []event.Item{}},
	} {
		var b bytes.Buffer
		l := event.NewLines(&b)
		l.Emit(e)
		if l.Err() != nil || b.String() != want+"\n" {
			t.Errorf("got  %swant %s\n%v", b.String(), want, l.Err())
		}
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errors.New("broken pipe") }

func TestLinesKeepTheFirstError(t *testing.T) {
	w := &broken{}
	l := event.NewLines(w)
	l.Emit(event.StepStarted{})
	l.Emit(event.StepStarted{})
	if l.Err() == nil || w.writes != 1 {
		t.Errorf("%d writes, %v", w.writes, l.Err())
	}
}

func TestLinesAreWholeUnderConcurrency(t *testing.T) {
	var b bytes.Buffer
	l := event.NewLines(&b)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				l.Emit(event.Progress{Item: "i", Done: 1})
			}
		})
	}
	wg.Wait()
	lines := bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))
	for _, line := range lines {
		if !json.Valid(line) {
			t.Fatalf("not JSON: %s", line)
		}
	}
	if len(lines) != 400 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestDiscardTakesEverything(t *testing.T) {
	var s event.Sink = event.Discard{}
	s.Emit(event.Run{})
	s.Emit(nil)
}
