package summary

import (
	"slices"
	"strings"
)

// part says what an item is in the history of a turn.
type part uint8

const (
	alone    part = iota // not in the history
	asked                // question of the model that the request answers
	wanted               // request
	marked               // request that is a rule as a whole
	above                // request that stands as a whole among the rules
	stopped              // the person interrupted
	refused              // the person turned a tool call down
	noted                // note
	answered             // outcome in the model's words
	counted              // outcome as a tally, where there are no words
)

// turn is a request and what was done for it up to the next one.
type turn struct {
	id          int
	request     request
	answer      passage // the model's last words
	settled     bool    // no call came after answer
	tally       tally
	interrupted int // record of the interruption
	refusals    []item
}

// request is what the person asked for.
type request struct {
	passage
	question string // of the answer before it
	asker    int    // record of that answer
	rules    uint8  // how many rules it consists of, see item
}

// maxUnits bounds how much of one text can enter the history.
const maxUnits = 60

// addPrompt begins a turn if the person said something.
func (b *Builder) addPrompt(e Entry) {
	if e.Meta || e.Synthetic {
		return
	}
	heard := hear(e.Text)
	switch {
	case heard.prior:
		b.addPrior(e)
		return
	case heard.interrupted:
		b.cur.interrupted = e.N
		return
	case heard.said == "":
		return
	}
	asker, question := b.cur.openQuestion()
	after := b.cur.answer
	b.closeTurn()
	b.turns++
	b.cur = turn{id: b.turns, request: request{passage: passage{e.N, heard.said}, question: question, asker: asker}}
	if b.first.n == 0 && b.prior.n == 0 {
		b.first = b.cur.request
	}
	rules := b.mineRequest(b.cur.request.passage, after.n > 0)
	if b.cur.request.n != b.first.n { // that one has its place on top
		b.cur.request.rules = rules
	}
}

// openQuestion returns the question that an answer ended with.
func (t *turn) openQuestion() (int, string) {
	if !t.settled {
		return 0, ""
	}
	if !strings.Contains(t.answer.text, "?") && plain(t.answer.text) {
		return 0, ""
	}
	const near = 3
	last := lastStatements(t.answer.text, near)
	for _, s := range slices.Backward(last[max(0, len(last)-near):]) {
		if (unit{text: s}).asks() && runes(s) <= longest {
			return t.answer.n, s
		}
	}
	return 0, ""
}

// addAnswer keeps the model's words until it is known whether they end the
// turn or go on to a call.
func (b *Builder) addAnswer(e Entry) {
	text := strings.TrimSpace(e.Text)
	if e.Synthetic {
		if !strings.HasPrefix(text, "No response requested") {
			b.trouble.add(e.N)
		}
		return
	}
	if e.Meta || text == "" {
		return
	}
	if b.cur.settled && b.cur.answer.n > 0 {
		b.mine(b.cur.answer, aside)
	}
	b.cur.answer, b.cur.settled = passage{e.N, text}, true
}

// addThinking mines reasoning; it is never an outcome.
func (b *Builder) addThinking(e Entry) {
	b.mine(passage{e.N, e.Text}, thought)
}

// leaveAnswer is called when a call follows: what was said announced work
// and was not the end.
func (b *Builder) leaveAnswer(changes bool) {
	if b.cur.settled {
		place := aside
		if changes {
			place = beforeChange
		}
		b.mine(b.cur.answer, place)
		b.cur.settled = false
	}
}

// addNote gives a note a line in the history.
func (b *Builder) addNote(e Entry) {
	us := units(e.Text)
	if e.Meta || e.Synthetic || len(us) == 0 {
		return
	}
	b.history.put(item{seq: b.next(), n: e.N, weight: 8, turn: b.cur.id, part: noted, text: reduce(safe(us[0].text), 160), of: 1})
}

// closeTurn moves the current turn into the history.
func (b *Builder) closeTurn() {
	t := b.cur
	if t.id == 0 && t.answer.n == 0 && t.tally.calls == 0 {
		return
	}
	b.recordRequest(t)
	for _, it := range t.refusals {
		it.seq = b.next()
		b.history.put(it)
	}
	if t.interrupted > 0 {
		b.history.put(item{seq: b.next(), n: t.interrupted, weight: 10, turn: t.id, part: stopped, of: 1})
	}
	if !b.recordAnswer(t) && t.tally.calls > 0 {
		b.history.put(item{
			seq: b.next(), n: t.tally.span.first, to: t.tally.span.last, weight: 10,
			turn: t.id, part: counted, text: t.tally.String(), of: 1,
		})
	}
	b.cur = turn{id: t.id}
}

// recordRequest files a request. Every request keeps a short line before any
// keeps a long one.
func (b *Builder) recordRequest(t turn) {
	r := t.request
	if r.n == 0 {
		return
	}
	if r.asker > 0 {
		b.history.put(item{seq: b.next(), n: r.asker, weight: 20, turn: t.id, part: asked, text: safe(r.question), of: 1})
	}
	us := units(r.text)
	weights := weighRequest(us)
	for i, u := range us {
		seq, leads := b.next(), i == 0 || i == 1 && us[0].machine()
		if !leads && (i > maxUnits || weights[i] < 2 || runes(u.text) > longest) {
			continue
		}
		it := item{seq: seq, n: r.n, weight: weights[i], turn: t.id, part: wanted, rules: r.rules, text: safe(u.text), at: i, of: len(us)}
		if u.kind == listItem && u.first && isDigit(u.mark[0]) {
			it.text = u.mark + it.text
		}
		if leads {
			it.text, it.weight = reduce(it.text, 200), 200
		}
		b.history.put(it)
	}
}

// takeOut returns the units of an answer without headings, decisions and open
// points; the latter go to their shelves.
func (b *Builder) takeOut(p passage) []unit {
	us := units(p.text)
	rest := us[:0]
	for i, u := range us {
		if shelf, weight := b.judge(u, final, false); shelf != nil && i > 0 {
			b.keep(shelf, item{n: p.n, text: told(u)}, weight)
		} else if u.kind != heading {
			rest = append(rest, u)
		}
	}
	return rest
}

// recordAnswer files what closed a turn, its decisions and open points apart,
// and reports whether there was anything.
func (b *Builder) recordAnswer(t turn) bool {
	if t.answer.n == 0 || !t.settled {
		return false
	}
	us := b.takeOut(t.answer)
	weights := weighAnswer(us)
	some := false
	for i, u := range us {
		if i > maxUnits || u.kind == code {
			continue
		}
		it := item{seq: b.next(), n: t.answer.n, weight: weights[i], turn: t.id, part: answered, text: safe(u.text), at: i, of: len(us)}
		if runes(it.text) > longest {
			if i > 0 {
				continue
			}
			it.text = reduce(it.text, 240)
		}
		if u.kind == listItem && u.first || u.kind == row {
			it.text = "• " + it.text
		}
		b.history.put(it)
		some = true
	}
	return some
}
