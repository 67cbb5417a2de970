package summary

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawItemsOf(t *rapid.T) []item {
	var items []item
	seq := 0
	for range rapid.IntRange(0, 60).Draw(t, "items") {
		seq += rapid.IntRange(1, 9).Draw(t, "step")
		items = append(items, item{
			seq: seq, n: seq, weight: rapid.IntRange(1, 20).Draw(t, "weight"),
			text: strings.Repeat("x", rapid.IntRange(1, 80).Draw(t, "size")),
		})
	}
	return items
}

func TestThin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := drawItemsOf(t)
		room := rapid.IntRange(0, 3000).Draw(t, "room")
		kept, lost := thin(items, room)
		if total(kept) > room {
			t.Fatalf("kept %d in a room of %d", total(kept), room)
		}
		if len(kept)+lost.count != len(items) {
			t.Fatalf("%d kept and %d lost of %d", len(kept), lost.count, len(items))
		}
		for i := 1; i < len(kept); i++ {
			if kept[i-1].seq >= kept[i].seq {
				t.Fatal("order changed")
			}
		}
	})
}

func TestThinIsEven(t *testing.T) {
	var items []item
	for i := range 100 {
		items = append(items, item{seq: i + 1, n: i + 1, weight: 3, text: "same"})
	}
	kept, lost := thin(items, total(items)/4)
	if len(kept) != 25 {
		t.Fatalf("%d kept, want 25", len(kept))
	}
	for i := 1; i < len(kept); i++ {
		if gap := kept[i].seq - kept[i-1].seq; gap > 12 {
			t.Errorf("nothing kept between %d and %d", kept[i-1].seq, kept[i].seq)
		}
	}
	if lost.first > 3 || lost.last < 98 {
		t.Errorf("lost %+v, want nearly the whole range", lost)
	}
}

func TestThinKeepsTheImportant(t *testing.T) {
	var items []item
	for i := range 50 {
		items = append(items, item{seq: i + 1, n: i + 1, weight: 1 + 99*(i%10/9), text: "same"})
	}
	kept, _ := thin(items, total(items)/5)
	heavy := 0
	for _, it := range kept {
		if it.weight == 100 {
			heavy++
		}
	}
	if heavy != 5 {
		t.Errorf("%d of 5 important items kept", heavy)
	}
}

func TestShelfIsBounded(t *testing.T) {
	s := shelf{limit: 2000}
	for i := range 20000 {
		s.put(item{seq: i + 1, n: i + 1, weight: 1 + i%7, text: strings.Repeat("y", 1+i%50) + string(rune('a'+i%26))})
		if s.cost > 2*s.limit || len(s.known) > len(s.items) {
			t.Fatalf("after %d items: cost %d, %d keys for %d items", i, s.cost, len(s.known), len(s.items))
		}
	}
	if got := len(s.items) + s.lost.count; got > 20000 || s.lost.count == 0 {
		t.Errorf("%d items accounted for", got)
	}
}

func TestShelfJoinsTheSameText(t *testing.T) {
	s := shelf{limit: 1000}
	s.put(item{seq: 1, n: 3, weight: 2, text: "Never push."})
	s.put(item{seq: 2, n: 9, weight: 5, text: "never push."})
	if len(s.items) != 1 || both(s.items[0].n, s.items[0].to) != "[L3, L9]" || s.items[0].weight != 5 {
		t.Errorf("items = %+v", s.items)
	}
}
