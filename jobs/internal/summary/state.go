package summary

import (
	"strconv"
	"strings"
)

// drawSession says what the session is about.
func (b *Builder) drawSession(f Facts, room int) string {
	var lines []string
	if f.Title != "" {
		lines = append(lines, "Title: "+reduce(f.Title, 200))
	}
	var place []string
	for _, p := range []struct{ name, value string }{{"folder", f.Cwd}, {"branch", f.Branch}, {"model", f.Model}} {
		if p.value != "" {
			place = append(place, p.name+" "+ticked(reduce(p.value, 120)))
		}
	}
	if len(place) > 0 {
		lines = append(lines, strings.Join(place, ", "))
	}
	text := bullet(lines)
	if runes(text) > room {
		text = ""
	}
	if b.first.n == 0 || b.first.n == b.cur.request.n {
		return text
	}
	intro := "- First request " + anchor(b.first.n, b.first.n) + ":\n"
	quoted := b.first.quote(room-runes(text)-runes(intro), weighRequest)
	return text + after(intro, quoted)
}

// drawState says what was being done at the cut.
func (b *Builder) drawState(f Facts, room int) string {
	return compose([]section{
		{"", 40, b.drawLatest},
		{"", 45, func(room int) string { return b.drawDone(f, room) }},
		{"", 25, b.drawPlan},
		{"", 15, b.drawTodos},
		{"", 10, b.drawUncured},
		{"", 10, b.drawLastChecks},
	}, room, "")
}

func (b *Builder) drawLatest(room int) string {
	r := b.cur.request
	if r.n == 0 {
		return ""
	}
	intro := "**Latest request** " + anchor(r.n, r.n)
	if r.n == b.first.n { // more may follow behind the cut
		intro = "**First and so far only request** " + anchor(r.n, r.n)
	}
	if r.asker > 0 {
		question := "the assistant had asked " + anchor(r.asker, r.asker) + ": " + safe(r.question)
		if runes(question) < room/3 {
			intro += ", " + question
		}
	}
	intro += "\n"
	return after(intro, r.quote(room-runes(intro), weighRequest))
}

// drawDone quotes the last words of the assistant in the current turn.
func (b *Builder) drawDone(f Facts, room int) string {
	t := b.cur
	work := ""
	if t.tally.calls > 0 {
		work = "**Work** " + t.tally.span.cite() + ": " + t.tally.String() + b.changedIn(f, t.tally.span) + "\n"
	}
	if t.interrupted > 0 {
		work += "**The user interrupted it** " + anchor(t.interrupted, t.interrupted) + "\n"
	}
	for _, it := range t.refusals {
		work += "**The user refused** " + anchor(it.n, it.n) + " " + it.text + "\n"
	}
	if runes(work) > room {
		work = ""
	}
	if t.answer.n == 0 {
		return work
	}
	intro := "**Answer** " + anchor(t.answer.n, t.answer.n) + "\n"
	if !t.settled || t.answer.announces() {
		intro = "**Last words before the cut** " + anchor(t.answer.n, t.answer.n) + "\n"
	}
	quoted := t.answer.quote(room-runes(work)-runes(intro), weighAnswer)
	return work + after(intro, quoted)
}

// changedIn names the files that were changed in a stretch of records.
func (b *Builder) changedIn(f Facts, s span) string {
	var names []string
	for _, p := range b.files.changed() {
		if p.at < s.first || len(names) == 6 {
			break
		}
		names = append(names, short(p.path, f.Cwd))
	}
	if len(names) == 0 {
		return ""
	}
	return "; last changed " + strings.Join(names, ", ")
}

// drawPlan quotes the plan that the current work follows.
func (b *Builder) drawPlan(room int) string {
	if b.plan.n < b.cur.request.n {
		return ""
	}
	intro := "**Plan, approved** " + anchor(b.plan.n, b.plan.n) + "\n"
	return after(intro, b.plan.quote(room-runes(intro), weighAnswer))
}

// drawOldPlan quotes, in short, a plan of an earlier turn.
func (b *Builder) drawOldPlan(room int) string {
	if b.plan.n == 0 || b.plan.n >= b.cur.request.n {
		return ""
	}
	intro := "Approved in an earlier turn " + anchor(b.plan.n, b.plan.n) + ":\n"
	return after(intro, b.plan.quote(min(room, b.budget/8)-runes(intro), weighAnswer))
}

func (b *Builder) drawTodos(room int) string {
	s := shelf{}
	done := 0
	for i, t := range b.todos.tasks {
		if t.status == "completed" || t.status == "deleted" || t.status == "cancelled" {
			done++
			continue
		}
		text := reduce(safe(flat(t.text)), longest)
		if t.status != "pending" {
			text += " (" + strings.ReplaceAll(safe(flat(t.status)), "_", " ") + ")"
		}
		s.items = append(s.items, item{seq: i, n: t.n, weight: 4, text: text})
	}
	if len(s.items) == 0 {
		return ""
	}
	intro := "**Open tasks** " + anchor(b.todos.at, b.todos.at)
	if done > 0 {
		intro += ", " + strconv.Itoa(done) + " more done"
	}
	intro += "\n"
	return after(intro, fit(s, room-runes(intro), func(kept []item, lost span) string {
		var lines []string
		for _, it := range kept {
			lines = append(lines, it.text)
		}
		return bullet(lines) + leftOut(lost)
	}))
}

// after is an introduction with its body, nothing without one.
func after(intro, body string) string {
	if body == "" {
		return ""
	}
	return intro + body
}

// pressing reports a failure that still matters at the cut: of a check, or in
// the current turn.
func (b *Builder) pressing(v fault) bool {
	return v.cured == 0 && (v.check || v.last >= b.cur.request.n)
}

// drawUncured lists what failed and has not been seen to work since, but for
// what the last checks tell already.
func (b *Builder) drawUncured(room int) string {
	newest := b.checks.newest()
	s := b.faultItems(func(v fault) bool {
		for _, d := range newest {
			if v.check && d.key == v.what && !d.value.last.ok {
				return false
			}
		}
		return b.pressing(v)
	})
	if len(s.items) == 0 {
		return ""
	}
	intro := "**Failed and not seen to work since**\n"
	return after(intro, drawItems(s, room-runes(intro)))
}

// drawLastChecks gives the newest test, build and lint.
func (b *Builder) drawLastChecks(room int) string {
	newest := b.checks.newest()
	var lines []string
	for _, class := range []string{"test", "build", "lint"} {
		if d := newest[class]; d != nil {
			lines = append(lines, class+" "+checkLine(d))
		}
	}
	text := after("**Last checks**\n", bullet(lines))
	if runes(text) > room {
		return ""
	}
	return text
}

func checkLine(d *dated[run]) string {
	return anchor(d.value.n, d.value.n) + " " + ticked(safe(d.key)) + ": " + d.value.told()
}
