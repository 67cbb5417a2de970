package main

import (
	"fmt"
	"strings"
	"time"
)

// progress is how far a run has come.
type progress struct {
	items, itemsTotal int64
	bytes, bytesTotal int64 // 0 where they are not known
}

// share is by bytes, which say more of the time that is left.
func (p progress) share() float64 {
	if p.bytesTotal > 0 {
		return min(share(p.bytes, p.bytesTotal), 1)
	}
	return min(share(p.items, p.itemsTotal), 1)
}

// gauge is a bar with the rest of its cells filled in.
func gauge(share float64, cells int) string {
	full := int(share * float64(cells))
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full)
}

// gaugeCells is how long a bar is on a terminal of this width.
func gaugeCells(width int) int { return min(max(width/5, 6), 24) }

// leastName is how much of a name is worth showing.
const leastName = 10

// wholeText is the line of a run: its bar, items, bytes, the time that is left and
// an item that is under way. What there is no room for is left out, the bytes
// before the name.
func wholeText(width int, p progress, spent time.Duration, name string) string {
	head := gauge(p.share(), gaugeCells(width)) + "  " + count(p.items) + " of " + count(p.itemsTotal)
	left := timeLeft(p.share(), spent)
	bytes := ""
	if p.bytesTotal > 0 {
		bytes = amount(p.bytes, p.bytesTotal)
	}
	line := join(head, bytes, left)
	if name != "" && textWidth(line)+2+leastName > width {
		line = join(head, left)
	}
	if room := width - textWidth(line) - 2; name != "" && room >= leastName {
		line = join(line, shorten(name, room))
	}
	return clip(line, width)
}

// itemText is the line of one item; the note is "" while its step does not tell how
// far it is.
func itemText(width int, indent bool, done float64, note, step, name string) string {
	if step == "" {
		step = "read"
	}
	head := fmt.Sprintf("%s  %5s  %-8s", gauge(min(done, 1), gaugeCells(width)), note, step)
	if indent {
		head = "  " + head
	}
	return clip(join(head, shorten(name, max(width-textWidth(head)-2, leastName))), width)
}

func percentOf(done, total int64) int { return int(min(share(done, total), 1) * 100) }

// join puts texts beside each other, without those that are empty.
func join(texts ...string) string {
	var parts []string
	for _, t := range texts {
		if t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "  ")
}

// clip cuts a line at the edge: one that wraps cannot be drawn over.
func clip(line string, width int) string { return wide.Truncate(line, width, "") }

// amount is a number of bytes of a total, with their unit once.
func amount(n, total int64) string {
	of, unit, _ := strings.Cut(size(total), " ")
	part, partUnit, _ := strings.Cut(size(n), " ")
	if unit != partUnit && n > 0 {
		part += " " + partUnit
	}
	return part + " of " + of + " " + unit
}

// spent is a time in a few columns.
func spent(d time.Duration) string {
	const few = 100
	switch {
	case d < few*time.Second:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < few*time.Minute:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh", int(d.Hours()))
}

// timeLeft is an estimate from the time spent on a share, once there is something
// to go by.
func timeLeft(share float64, spent time.Duration) string {
	if share <= 0 || share >= 1 {
		return ""
	}
	const precise = 2 * time.Minute
	switch left := time.Duration(float64(spent) * (1 - share) / share); {
	case left < precise:
		return fmt.Sprintf("%ds left", max(1, int(left.Seconds())))
	case left < precise*60:
		return fmt.Sprintf("%dm left", int(left.Minutes()))
	default:
		return fmt.Sprintf("%dh left", int(left.Hours()))
	}
}
