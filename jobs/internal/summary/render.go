package summary

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// section is a part of the text that can be drawn in the room it gets.
type section struct {
	title string
	share int // claim on the room, relative to the other sections drawn
	draw  func(room int) string
}

// Text writes the summary of what was added so far. It can be called at any
// time and changes nothing. With more entries it grows up to the budget,
// except where a later entry settles what an earlier one left open.
func (b *Builder) Text(f Facts) string {
	f = b.masked(f)
	if w := b.markRules(); w.marked.count > 0 {
		if text := b.write(f, &w); w.intact {
			return text
		}
	}
	return b.write(f, &wholeRules{})
}

// write lays out the sections. The rules come before the history, which refers
// to those on display.
func (b *Builder) write(f Facts, w *wholeRules) string {
	head := b.header(f)
	sections := []section{
		{"The session", 12, func(room int) string { return b.drawSession(f, room) }},
		{"Where it stands", 30, func(room int) string { return b.drawState(f, room) }},
		{"What the user asked to keep to", 10, func(room int) string { return b.drawRules(w, room) }},
		{"Decisions, in order", 10, b.choicesSection()},
		{"Handoff", 10, func(room int) string { return drawHandoff(f.Handoff, room) }},
		{"Earlier summary", 24, b.drawPrior},
		{"Requests and outcomes, in order", 32, func(room int) string { return b.drawHistory(w, room) }},
		{"Findings", 6, func(room int) string { return drawItems(b.findings, room) }},
		{"Last plan", 5, b.drawOldPlan},
		{"Files", 6, b.filesSection(f)},
		{"Checks and commits", 5, b.drawChecks},
		{"Failures", 4, b.drawFaults},
		{"Left open at the time", 3, func(room int) string { return drawItems(b.open, room) }},
	}
	return head + compose(sections, b.budget-runes(head), "## ")
}

func (b *Builder) masked(f Facts) Facts {
	for _, s := range []*string{&f.Title, &f.Cwd, &f.Branch, &f.Model} {
		*s = safe(flat(b.clean(*s)))
	}
	lines := make([]string, len(f.Handoff))
	for i, l := range f.Handoff {
		lines[i] = safe(flat(b.clean(l)))
	}
	f.Handoff = lines
	return f
}

// unbounded is more room than anything needs. What is drawn in it is drawn
// whole, without a search for what to leave out.
const unbounded = 1 << 24

// compose draws the sections that have something to say. The room is shared
// out in proportion; what one does not need goes to the others, in the order
// of their place.
func compose(sections []section, room int, mark string) string {
	needs, shares := make([]int, len(sections)), 0
	for i, s := range sections {
		if needs[i] = min(runes(titled(s, mark, unbounded)), room); needs[i] > 0 {
			shares += s.share
		}
	}
	rooms, left := make([]int, len(sections)), room
	for i, s := range sections {
		if needs[i] > 0 {
			rooms[i] = min(needs[i], room*s.share/shares)
			left -= rooms[i]
		}
	}
	for i := range sections {
		more := min(left, needs[i]-rooms[i])
		rooms[i] += more
		left -= more
	}
	var b strings.Builder
	for i, s := range sections {
		text := titled(s, mark, rooms[i]+left)
		left += rooms[i] - runes(text)
		b.WriteString(text)
	}
	return b.String()
}

// titled draws a section with its title and the blank line before it.
func titled(s section, mark string, room int) string {
	title := "\n" + mark + s.title + "\n"
	if s.title == "" {
		title = ""
	}
	if room <= runes(title) {
		return ""
	}
	body := s.draw(room - runes(title))
	if body == "" {
		return ""
	}
	return title + body
}

// header says what the text is, of which records, and how to read it.
func (b *Builder) header(f Facts) string {
	var s strings.Builder
	s.WriteString("*Summary by precis, made without a model (layout " + Version + ")")
	if last := cmp.Or(f.Last, b.span.last); last > 0 {
		fmt.Fprintf(&s, " of records L%d–L%d", cmp.Or(f.First, b.span.first), last)
		if f.Records > 0 {
			s.WriteString(" (" + plural(f.Records, "record"))
			if f.Tokens > 0 {
				s.WriteString(", about " + strconv.Itoa(f.Tokens) + " tokens")
			}
			s.WriteString(")")
		}
		s.WriteString(period(cmp.Or(f.FirstTime, b.times[0]), cmp.Or(f.LastTime, b.times[1])))
	}
	s.WriteString(". [L…] is the number of a record in the original session file")
	if f.SourcePrefix != "" {
		s.WriteString(" (SHA-256 " + reduce(safe(flat(f.SourcePrefix)), 64) + "…)")
	}
	if len(f.Handoff) > 0 {
		s.WriteString(", [H…] of a line of the handoff")
	}
	s.WriteString(". “…” behind it are the user's exact words, the rest is quoted from the assistant or counted; " + omitted + " marks what was left out.*\n")
	return s.String()
}

func period(first, last string) string {
	first, last = reduce(minute(first), 40), reduce(minute(last), 40)
	switch {
	case first == "" || first == last:
		return after(", ", last)
	case len(first) > 10 && len(last) > 10 && first[:10] == last[:10]:
		return ", " + first + "–" + last[11:]
	}
	return ", " + first + " – " + last
}

// minute cuts an ISO time to minutes, as "2025-01-02 15:04".
func minute(t string) string {
	t = safe(flat(t))
	if len(t) >= 16 && t[10] == 'T' {
		return t[:10] + " " + t[11:16]
	}
	return t
}

// drawItems lists items with their anchors.
func drawItems(s shelf, room int) string {
	return fit(s, room, listed)
}

func listed(kept []item, lost span) string {
	var out strings.Builder
	out.Grow(total(kept))
	for _, it := range kept {
		writeItem(&out, it, "")
	}
	return out.String() + leftOut(lost)
}

// writeItem writes the line of an item, with a note behind its anchor.
func writeItem(out *strings.Builder, it item, note string) {
	for _, s := range []string{"- ", both(it.n, it.to), note, " ", it.text, "\n"} {
		out.WriteString(s)
	}
}

// leftOut says how much a list leaves out and where it was.
func leftOut(lost span) string {
	if lost.count == 0 {
		return ""
	}
	return "- " + strconv.Itoa(lost.count) + " more left out " + lost.cite() + "\n"
}

func drawHandoff(lines []string, room int) string {
	s := shelf{}
	for i, l := range lines {
		if l != "" {
			s.items = append(s.items, item{seq: i, n: i + 1, weight: 4, text: reduce(l, longest)})
		}
	}
	return fit(s, room, func(kept []item, lost span) string {
		var out []string
		for _, it := range kept {
			out = append(out, "[H"+strconv.Itoa(it.n)+"] "+it.text)
		}
		text := bullet(out)
		if lost.count > 0 {
			text += fmt.Sprintf("- %s left out [H%d–H%d]\n", plural(lost.count, "more line"), lost.first, lost.last)
		}
		return text
	})
}

// drawPrior quotes the newest earlier summary.
func (b *Builder) drawPrior(room int) string {
	p := b.prior
	if p.n == 0 {
		return ""
	}
	intro := anchor(p.n, p.n) + " the newest summary of what came before it"
	if p.older.count > 0 {
		intro += "; " + plural(p.older.count, "older one") + " " + p.older.cite()
	}
	if strings.Contains(p.text, "[p.") {
		intro += "; [p.L…] are record numbers of the file that it was made from"
	}
	intro += ":\n"
	return after(intro, p.quote(room-runes(intro), weighPrior))
}
