package summary

import "strings"

// place says where in the conversation a text of the model stands.
type place uint8

const (
	aside        place = iota // between two calls
	beforeChange              // right before a file is changed
	final                     // closes a turn
	thought                   // reasoning
)

// pasted is from how many code points on a request is taken to hold foreign
// text, of which only the frame is the person's.
const pasted = 1500

// mineRequest takes the person's standing instructions, choices, corrections
// and open points out of a request. If it consists of instructions alone, it
// returns their number, else 0.
func (b *Builder) mineRequest(p passage, afterAnswer bool) (rules uint8) {
	if p.text[0] == '/' || p.text[0] == '!' {
		return 0
	}
	us := statements(p.text)
	long := runes(p.text) > pasted
	for i, u := range us {
		frame := i < 3 || i >= len(us)-2
		if i > maxUnits || long && !frame || !u.prose() || runes(u.text) > longest {
			continue
		}
		sense := b.words.read(u.text)
		cues := sense.says
		if cues == 0 {
			continue
		}
		it := item{n: p.n, text: "“" + safe(u.text) + "”"}
		switch {
		case i == 0 && afterAnswer && sense.opens&denies != 0 && runes(u.text) >= 12:
			b.keep(&b.rules, it, 6)
			rules++
		case u.asks(), sense.opens&interrogates != 0:
		case cues&obliges != 0:
			b.keep(&b.rules, it, 5)
			rules++
		case cues&limits != 0 && !long && runes(u.text) <= 160:
			b.keep(&b.rules, it, 3)
			rules++
		case cues&(decides|replaces) != 0 && !long && telling(u):
			b.keep(&b.choices, it, 8)
		case cues&leavesOpen != 0:
			b.keep(&b.open, it, 4+b.turns)
		}
	}
	if int(rules) < len(us) {
		return 0
	}
	return rules
}

func (b *Builder) keep(s *shelf, it item, weight int) {
	it.seq, it.weight = b.next(), weight
	s.put(it)
}

// mine takes decisions and findings out of the model's words in the middle of
// its work.
func (b *Builder) mine(p passage, at place) {
	if !b.promises(p.text, at) {
		return
	}
	us := statements(p.text)
	for i, u := range us {
		if shelf, weight := b.judge(u, at, at == thought && i >= len(us)-3); shelf != nil {
			b.keep(shelf, item{n: p.n, text: told(u)}, weight)
		}
	}
}

// promises reports that a statement of a text may be worth its place on a
// shelf: would be, if all that speaks for it stood in one sentence. Most texts
// are done with here, without being split.
func (b *Builder) promises(text string, at place) bool {
	says := b.words.cues(text)
	if says&(decides|explains) == 0 {
		return false
	}
	bold := strings.Contains(text, "**") || strings.Contains(text, "__")
	v := value(says, count(bold, at == thought, at == beforeChange))
	missing := bar(at) - max(v.decision, v.finding)
	return missing <= 0 || missing == 1 && exact(text)
}

// told is what the model said; it cannot pass for a quotation of the person.
func told(u unit) string {
	if rest, ok := strings.CutPrefix(u.text, "“"); ok {
		return safe(`"` + rest)
	}
	return safe(u.text)
}

// prose reports a unit that can stand as a statement.
func (u unit) prose() bool {
	return (u.kind == paragraph || u.kind == listItem) && !u.leadIn() && !u.machine()
}

// telling reports a unit long enough to mean something out of its context and
// short enough to be quoted.
func telling(u unit) bool {
	const least = 30
	if size := len(u.text); size < least || size >= 4*least && size <= longest {
		return size >= least // however many bytes its characters have
	}
	n := runes(u.text)
	if n >= least {
		return n <= longest
	}
	for _, r := range u.text {
		if wide(r) {
			n += 2
		}
	}
	return n >= least
}

// judge finds the shelf for a unit of the model's words, or none. Its words
// count, and so do its form and its place: the bar is higher where a model
// thinks aloud, lower before a change and at the end of a turn. What closes a
// turn is in the history anyway and moves out of it only as a decision or an
// open point.
func (b *Builder) judge(u unit, at place, concludes bool) (*shelf, int) {
	if u.kind != paragraph && u.kind != listItem || !telling(u) {
		return nil, 0
	}
	sense := b.words.read(u.text)
	if sense.says&(decides|explains|leavesOpen) == 0 || u.asks() || !u.prose() {
		return nil, 0
	}
	score := count(exact(u.text), u.emphatic(), concludes, at == final, at == beforeChange)
	if sense.opens&announces != 0 {
		score -= 2
	}
	v := value(sense.says, score)
	switch {
	case v.decision >= bar(at) && sense.says&decides != 0:
		return &b.choices, v.decision
	case at == final && v.open >= bar(at) && sense.says&leavesOpen != 0:
		return &b.open, score + b.turns
	case at != final && v.finding >= bar(at) && sense.says&explains != 0:
		return &b.findings, v.finding
	}
	return nil, 0
}

// worth is how much speaks for a statement as one thing or another.
type worth struct{ decision, open, finding int }

// value weighs the words of a statement on top of what its form scores.
func value(says cue, score int) worth {
	has := func(c cue) int { return count(says&c != 0) }
	return worth{
		decision: score + 3*has(decides) + 2*has(replaces),
		open:     score + 3*has(leavesOpen),
		finding:  score + 3*has(explains) + has(fails) + has(replaces),
	}
}

// bar is what a statement must be worth to be kept.
func bar(at place) int {
	if at == thought {
		return 6
	}
	return 4
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
