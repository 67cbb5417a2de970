package summary

import (
	"slices"
	"strings"
)

// wholeRules keeps account of the requests of which every sentence is a rule,
// for one writing of the summary. Such a request is quoted once: among the
// rules, to which the history then refers, or in the history with a mark, for
// which the rules then refer to it.
type wholeRules struct {
	marked span         // the requests that the history quotes
	byMark map[int]bool // their records
	shown  map[int]int  // number of rules on display by record
	intact bool         // the history has room for all that are marked
}

// fewRules is how many whole requests may stand among the rules whatever their
// part in all requests.
const fewRules = 5

// briefRule is up to how many code points a request is repeated in the
// history: most are answers, and a reference would save next to nothing.
const briefRule = 40

// markRules finds the requests that had better stay in the history as they
// are: where more than a third of all are rules, a list of them says little
// that their order with the outcomes does not.
func (b *Builder) markRules() wholeRules {
	filed := perRecord(b.rules.items)
	w := wholeRules{byMark: map[int]bool{}}
	requests := b.history.lost.count
	for i, it := range b.history.items {
		if it.part != wanted || it.at > 0 {
			continue
		}
		requests++
		if it.rules > 0 && filed[it.n] == int(it.rules) && complete(b.history.items[i:]) {
			w.marked.add(it.n)
			w.byMark[it.n] = true
		}
	}
	if w.marked.count <= fewRules || 3*w.marked.count <= requests {
		return wholeRules{}
	}
	return w
}

// perRecord counts rules by the records that they are cited from.
func perRecord(rules []item) map[int]int {
	out := make(map[int]int, len(rules))
	for _, it := range rules {
		out[it.n]++
		if it.to > it.n {
			out[it.to]++
		}
	}
	return out
}

// complete reports that the items begin with all of a request, uncut.
func complete(items []item) bool {
	of := items[0].of
	if len(items) < of {
		return false
	}
	for at, it := range items[:of] {
		if it.part != wanted || it.turn != items[0].turn || it.at != at || strings.HasSuffix(it.text, omitted) {
			return false
		}
	}
	return true
}

// drawRules lists instructions, but for those of the requests that are quoted
// above in full or marked in the history.
func (b *Builder) drawRules(w *wholeRules, room int) string {
	s := b.rules
	s.items = slices.DeleteFunc(slices.Clone(s.items), func(it item) bool {
		return it.to == 0 && (w.byMark[it.n] || b.quotedAbove(b.first, it.n) || b.quotedAbove(b.cur.request, it.n))
	})
	note := ""
	if w.marked.count > 0 {
		note = "- " + plural(w.marked.count, "whole request") + " " + w.marked.cite() + ", quoted below in order and marked with " + ruleMark + "\n"
	}
	text, kept := fitted(s, room, func(kept []item, lost span) string { return listed(kept, lost) + note })
	w.shown = perRecord(kept)
	return text
}

// ruleMark stands in the history behind the anchor of a request that is a
// rule.
const ruleMark = "!"

// quotedAbove reports a request so short that its place on top holds it.
func (b *Builder) quotedAbove(r request, n int) bool {
	return r.n == n && runes(r.text) <= b.budget/12
}

// share returns the items of the history with the requests that are on display
// among the rules made references, and those that are marked told apart.
func (w *wholeRules) share(items []item) []item {
	out := make([]item, 0, len(items))
	for _, it := range items {
		switch {
		case it.part != wanted || it.rules == 0:
		case w.byMark[it.n]:
			it.part = marked
		case w.shown[it.n] == int(it.rules) && !(it.of == 1 && runes(it.text) <= briefRule):
			it.part, it.text, it.size = above, "", 0
		}
		out = append(out, it)
	}
	return out
}

// count tells how many items of the history are of a marked request.
func (w *wholeRules) count(items []item) int {
	n := 0
	for _, it := range items {
		n += count(it.part == marked)
	}
	return n
}
