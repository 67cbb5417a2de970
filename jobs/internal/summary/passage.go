package summary

import "strings"

// passage is a text of the conversation that is quoted at some length.
type passage struct {
	n    int
	text string
}

// requestRoom is after how many code points a request is rather something
// pasted into it than the person's own words.
const requestRoom = 900

// weighRequest rates the units of a request by their place and form.
func weighRequest(us []unit) []int {
	before := 0
	return rate(us, func(i int, u unit) int {
		before += runes(u.text)
		switch {
		case u.machine(), u.kind == code, u.kind == row, before > requestRoom && !u.last:
			return 1
		case i < 3, u.last:
			return 12
		case u.asks():
			return 8
		case i < 12:
			return 5
		}
		return 2
	})
}

// weighAnswer rates the units of an answer: its lead, its end, and what
// stands at the head of a list item.
func weighAnswer(us []unit) []int {
	return rate(us, func(i int, u unit) int {
		switch {
		case u.kind == code:
			return 1
		case i == 0:
			return 60
		case u.kind == row:
			return 2
		case u.last && u.kind != listItem, u.emphatic() && u.kind == listItem:
			return 6
		case u.kind == listItem && u.depth > 1:
			return 2
		}
		return max(3, 6-i/4)
	})
}

// weighPrior rates the units of an earlier summary: its beginning says what
// the work is about, its end where it stood.
func weighPrior(us []unit) []int {
	return rate(us, func(i int, u unit) int {
		w := 4
		switch {
		case u.kind == code:
			return 1
		case u.depth >= 2 || !u.first:
			w = 2
		}
		if i < len(us)/8 || i >= len(us)*3/4 {
			w *= 3
		}
		return w
	})
}

func rate(us []unit, weigh func(int, unit) int) []int {
	out := make([]int, len(us))
	for i, u := range us {
		out[i] = weigh(i, u)
	}
	return out
}

// announces reports a text that ends by announcing what comes next.
func (p passage) announces() bool {
	us := units(p.text)
	return len(us) > 0 && us[len(us)-1].leadIn()
}

// quote renders as much of the passage as has room, in a block quotation.
// If not even one unit has room, the first is reduced.
func (p passage) quote(room int, weigh func([]unit) []int) string {
	us := units(p.text)
	if len(us) == 0 {
		return ""
	}
	weights := weigh(us)
	shelf := shelf{}
	for i, u := range us {
		if runes(u.text) <= 2*longest {
			shelf.items = append(shelf.items, item{seq: i, n: p.n, weight: weights[i], text: u.mark + u.text})
		}
	}
	text := fit(shelf, room, func(kept []item, _ span) string { return blockquote(us, withoutBareHeads(us, kept)) })
	if strings.Trim(text, "> \n"+omitted) == "" {
		text = "> " + reduce(safe(us[0].text), room-8) + "\n"
	}
	if runes(text) > room {
		return ""
	}
	return text
}

// withoutBareHeads drops headings and lead-ins under which nothing was kept.
func withoutBareHeads(us []unit, kept []item) []item {
	var out []item
	for i, it := range kept {
		u := us[it.seq]
		head := u.kind == heading || u.leadIn()
		bare := i+1 == len(kept) || kept[i+1].seq != it.seq+1
		if head && bare && it.seq+1 < len(us) {
			continue
		}
		out = append(out, it)
	}
	return out
}

// blockquote lays out the kept units with their marks, and says where units
// are missing.
func blockquote(us []unit, kept []item) string {
	var b strings.Builder
	prev := -1
	for _, it := range kept {
		u := us[it.seq]
		gap := it.seq != prev+1
		same := prev >= 0 && us[prev].block == u.block
		switch {
		case same && gap:
			b.WriteString(" " + omitted + " ")
		case same:
			b.WriteByte(' ')
		default:
			if gap {
				b.WriteString(gapLine(prev))
			} else if prev >= 0 {
				b.WriteByte('\n')
			}
			b.WriteString("> " + strings.Repeat(" ", min(u.depth, 6)) + lineMark(u))
		}
		b.WriteString(safe(u.text))
		prev = it.seq
	}
	if prev >= 0 {
		b.WriteByte('\n')
	}
	if prev < len(us)-1 {
		b.WriteString("> " + omitted + "\n")
	}
	return b.String()
}

func gapLine(prev int) string {
	if prev < 0 {
		return "> " + omitted + "\n"
	}
	return " " + omitted + "\n"
}

// lineMark is the mark of the block that a unit begins.
func lineMark(u unit) string {
	if u.first || u.kind == heading {
		return u.mark
	}
	return strings.Repeat(" ", len(u.mark))
}
