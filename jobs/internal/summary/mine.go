package summary

// place says where in the conversation a text of the model stands.
type place uint8

const (
	aside        place = iota // between two calls
	beforeChange              // right before a file is changed
	final                     // closes a turn
	thought                   // reasoning
)

// mineRequest takes the person's standing instructions, corrections and open
// points out of a request.
func (b *Builder) mineRequest(p passage, afterAnswer bool) {
	us := units(p.text)
	for i, u := range us {
		if i > maxUnits {
			return
		}
		if u.kind == code || u.kind == row || u.kind == heading || u.machine() || runes(u.text) > longest || p.text[0] == '/' {
			continue
		}
		it := item{n: p.n, text: "“" + safe(u.text) + "”"}
		cues := b.words.cues(u.text)
		switch {
		case i == 0 && afterAnswer && b.words.opensWith(u.text, denies) && runes(u.text) >= 12:
			it.weight = 6
		case u.asks():
			continue
		case cues&obliges != 0:
			it.weight = 5
		case cues&leavesOpen != 0:
			b.keep(&b.open, it, 4+b.turns)
			continue
		default:
			continue
		}
		if i > 8 {
			it.weight -= 3
		}
		b.keep(&b.rules, it, it.weight)
	}
}

func (b *Builder) keep(s *shelf, it item, weight int) {
	it.seq, it.weight = b.next(), weight
	s.put(it)
}

// mine takes decisions, findings and open points out of the model's words and
// returns the units it took. The words of a unit count, but so do its place
// and form: no list of terms is needed for a unit that precedes a change.
func (b *Builder) mine(p passage, at place) map[string]bool {
	taken := map[string]bool{}
	us := units(p.text)
	for i, u := range us {
		if u.kind == code || u.kind == row || u.kind == heading || u.leadIn() || u.asks() || u.machine() || !telling(u) {
			continue
		}
		shelf, score := b.judge(u, at, at == thought && i >= len(us)-3)
		if shelf == nil {
			continue
		}
		weight := score
		if shelf == &b.open {
			weight += b.turns
		}
		b.keep(shelf, item{n: p.n, text: safe(u.text)}, weight)
		taken[u.text] = true
	}
	return taken
}

// telling reports a unit long enough to mean something out of its context and
// short enough to be quoted.
func telling(u unit) bool {
	n := runes(u.text)
	for _, r := range u.text {
		if wide(r) {
			n += 2
		}
	}
	return n >= 30 && runes(u.text) <= longest
}

// judge finds the shelf for a unit, or none. Each cue is worth its points; the
// bar is higher where a model thinks aloud.
func (b *Builder) judge(u unit, at place, concludes bool) (*shelf, int) {
	cues := b.words.cues(u.text)
	score := 0
	if u.exact() {
		score++
	}
	if u.emphatic() || concludes {
		score++
	}
	bar := 4
	switch at {
	case final:
		score++
	case beforeChange:
		score++
	case thought:
		bar = 6
	}
	if b.words.opensWith(u.text, announces) {
		score -= 2
	}
	points := func(c cue, n int) int {
		if cues&c != 0 {
			return n
		}
		return 0
	}
	decision := score + points(decides, 3) + points(replaces, 2) + points(obliges, 1)
	finding := score + points(explains, 3) + points(fails, 1)
	open := score + points(leavesOpen, 3)
	switch {
	case decision >= bar && decision >= finding && cues&(decides|replaces) != 0:
		return &b.choices, decision
	case finding >= bar && cues&explains != 0:
		return &b.findings, finding
	case open >= bar && at == final:
		return &b.open, open
	}
	return nil, 0
}
