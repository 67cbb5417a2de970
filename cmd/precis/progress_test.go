package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/precis-dev/precis/engine/event"
)

// TestLinesOfManyItems: small items of a large run have no line, large ones have,
// but no more than a terminal holds; few items have one each.
func TestLinesOfManyItems(t *testing.T) {
	for _, test := range []struct {
		items int
		bytes int64
		want  int
	}{{10000, 20 << 10, 0}, {10000, largeItem, mostBars}, {manyItems, 20 << 10, manyItems}, {1, 20 << 10, 1}} {
		w := (&cli{errOut: io.Discard, bars: true}).watch()
		w.Emit(event.RunStarted{Items: test.items, Bytes: int64(test.items) * test.bytes})
		begun := min(test.items, 50)
		for i := range begun {
			w.Emit(event.ItemStarted{Item: fmt.Sprint(i), Label: "s.jsonl", Bytes: test.bytes})
		}
		if len(w.items) != test.want {
			t.Errorf("%d items of %d bytes: %d lines, want %d", test.items, test.bytes, len(w.items), test.want)
		}
		for i := range begun {
			w.Emit(event.ItemFinished{ID: fmt.Sprint(i), Bytes: test.bytes})
		}
		if len(w.items) > 0 || w.whole != nil && w.whole.bytesDone.Load() != int64(begun)*test.bytes {
			t.Errorf("%d items of %d bytes: %d lines are left", test.items, test.bytes, len(w.items))
		}
		w.stop()
	}
}

// TestLineOfAnAuthor: what the steps before did is no progress of the author, of
// whom only the time is told.
func TestLineOfAnAuthor(t *testing.T) {
	w := (&cli{errOut: io.Discard, bars: true}).watch()
	defer w.stop()
	w.Emit(event.RunStarted{Items: 1})
	w.Emit(event.ItemStarted{Item: "s", Label: "s.jsonl"})
	for _, test := range []struct {
		step, note  string
		done, total int64
	}{{"read", "50 %", 1, 2}, {"author-12", "0s", 0, 0}, {"merge", "", 0, 0}, {"author", "0s", 0, 0}, {"author", "0s", 3, 8}} {
		w.Emit(event.StepStarted{Item: "s", Step: test.step})
		if test.total > 0 {
			w.Emit(event.Progress{Item: "s", Step: test.step, Done: test.done, Total: test.total})
		}
		l := w.items["s"]
		if note := l.note(test.step); note != test.note || l.done.Load() != test.done || l.total.Load() != test.total {
			t.Errorf("%s: %q, %d of %d, want %v", test.step, note, l.done.Load(), l.total.Load(), test)
		}
	}
}

func TestSpent(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1900 * time.Millisecond: "1s", 99 * time.Second: "99s", 100 * time.Second: "1m", 99 * time.Minute: "99m", 150 * time.Minute: "2h",
	} {
		if got := spent(d); got != want {
			t.Errorf("spent(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestTimeLeft(t *testing.T) {
	tests := []struct {
		share float64
		spent time.Duration
		want  string
	}{
		{0, time.Minute, ""}, // nothing to go by
		{1, time.Minute, ""},
		{0.999, time.Second, "1s left"},
		{0.5, 40 * time.Second, "40s left"},
		{0.25, time.Minute, "3m left"},
		{0.01, 2 * time.Minute, "3h left"},
	}
	for _, test := range tests {
		if got := timeLeft(test.share, test.spent); got != test.want {
			t.Errorf("timeLeft(%v, %v) = %q, want %q", test.share, test.spent, got, test.want)
		}
	}
}

func TestAmount(t *testing.T) {
	for _, test := range []struct {
		n, total int64
		want     string
	}{
		{0, 240e6, "0 of 240 MB"}, {120e6, 240e6, "120 of 240 MB"}, {107e6, 1.3e9, "107 MB of 1.3 GB"},
	} {
		if got := amount(test.n, test.total); got != test.want {
			t.Errorf("amount(%d, %d) = %q, want %q", test.n, test.total, got, test.want)
		}
	}
}

// TestWholeText: a line never wraps, and what there is no room for is left out, the
// bytes before the name.
func TestWholeText(t *testing.T) {
	p := progress{items: 1234, itemsTotal: 10000, bytes: 50e6, bytesTotal: 200e6}
	for width, want := range map[int]string{
		80: "████░░░░░░░░░░░░  1,234 of 10,000  50 of 200 MB  30s left  3f2a9c1e-0…8000.jsonl",
		60: "███░░░░░░░░░  1,234 of 10,000  30s left  3f2a9c1e-…000.jsonl",
		30: "█░░░░░  1,234 of 10,000  30s l",
	} {
		got := wholeText(width, p, 10*time.Second, "3f2a9c1e-0001-4000-8000.jsonl")
		if got != want || textWidth(got) > width {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	if got, want := wholeText(80, progress{items: 1, itemsTotal: 4}, 10*time.Second, ""), "████░░░░░░░░░░░░  1 of 4  30s left"; got != want {
		t.Errorf("without bytes and name: %q, want %q", got, want)
	}
}

func TestItemText(t *testing.T) {
	for want, got := range map[string]string{
		"████████░░░░░░░░   50 %  read      灯籠.jsonl":   itemText(80, false, 0.5, "50 %", "", "灯籠.jsonl"),
		"  ████████████████         fold      灯籠.jsonl": itemText(80, true, 1.5, "", "fold", "灯籠.jsonl"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
