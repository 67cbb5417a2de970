package modelsummary

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// ordered are the headings whose order is fixed: the title, then the sections.
var ordered = append([]string{Title}, Sections[:]...)

// Places of headings that are not in ordered.
const (
	noHead       = -2
	extraHead    = -1
	coverageHead = len(Sections) + 1
)

// required maps each required heading to its place.
var required = func() map[string]int {
	m := map[string]int{CoverageHeading: coverageHead}
	for i, h := range ordered {
		m[h] = i
	}
	return m
}()

// near maps required headings without signs and case to their place.
var near = func() map[string]int {
	m := map[string]int{}
	for h, i := range required {
		m[plain(h)] = i
	}
	return m
}()

// afterCoverage is the place of the section behind the coverage subsection.
var afterCoverage = required[EvidenceSection] + 1

func headingAt(place int) string {
	if place == coverageHead {
		return CoverageHeading
	}
	return ordered[place]
}

// head is a heading of the text.
type head struct {
	line, place, level int
	exact              bool
}

// plain is a heading's letters in lower case, one space between words, without a
// number before them.
func plain(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if len(words) > 1 && strings.Trim(words[0], "0123456789") == "" {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// readHead reads a line that is a heading, or means to be one that is required.
func readHead(i int, text string, under bool) (head, bool) {
	if place, ok := required[text]; ok && !under {
		return head{i, place, headingLevel(text), true}, true
	}
	level, bold := headingLevel(text), strings.HasPrefix(text, "**")
	if under {
		level = 2
	}
	if level == 0 && !bold {
		return head{}, false
	}
	place, ok := near[plain(text)]
	if !ok {
		place = extraHead
	}
	return head{line: i, place: place, level: level}, level > 0 || ok
}

// outline holds the headings to their wording, number and order, and gives every
// line its section.
func (c *checker) outline() {
	seen := c.wording()
	c.order(seen)
	c.place()
}

// wording settles what each heading stands for and returns the first one of each
// place, in the text's order. One that only resembles a required heading stands for
// it unless the heading itself is there.
func (c *checker) wording() []*head {
	exact := map[int]bool{}
	for _, h := range c.heads {
		exact[h.place] = exact[h.place] || h.exact
	}
	var first []*head
	seen := map[int]bool{}
	for i := range c.heads {
		h := &c.heads[i]
		switch {
		case h.place == extraHead:
			continue
		case !h.exact && (exact[h.place] || seen[h.place]):
			c.needless(h)
			continue
		case seen[h.place]:
			c.add(HeadingRepeated, h.line, "this heading stands here a second time", "keep one, and all its text under it")
			continue
		case !h.exact:
			c.add(HeadingForm, h.line, "this heading is not written letter for letter", "write: "+headingAt(h.place))
		}
		seen[h.place] = true
		if h.place != coverageHead {
			first = append(first, h)
		}
	}
	return first
}

// needless settles a heading whose place another one has. Bold words are none then.
func (c *checker) needless(h *head) {
	if h.place = extraHead; h.level == 0 {
		h.place = noHead
		c.lines[h.line].kind = prose
	}
}

// order reports headings that are missing, renamed, moved or not wanted.
func (c *checker) order(first []*head) {
	at := c.moved(first)
	for from := 0; from < len(ordered); from++ {
		to := from
		for to < len(ordered) && !slices.ContainsFunc(first, func(h *head) bool { return h.place == to }) {
			to++
		}
		if to > from {
			c.gap(from, to, at)
			from = to
		}
	}
	for _, h := range c.heads {
		if h.place == extraHead {
			c.add(HeadingExtra, h.line, "a heading that the pack does not ask for", `write it as a line of text; a # that begins no heading is written \#`)
		}
	}
}

// moved reports headings out of order, as few as possible, and returns the others by
// place.
func (c *checker) moved(first []*head) map[int]*head {
	at := map[int]*head{}
	for _, h := range longest(first) {
		at[h.place] = h
	}
	for _, h := range first {
		if at[h.place] == nil {
			fix := "move it, with its text, to the beginning"
			if h.place > 0 {
				fix = "move it, with its text, behind " + headingAt(h.place-1)
			}
			c.add(HeadingOrder, h.line, "this heading stands out of order", fix)
		}
	}
	return at
}

// gap reports a run of missing headings: as renamed if as many others of their level
// stand in their place.
func (c *checker) gap(from, to int, at map[int]*head) {
	start, end := -1, c.last()+1
	if h := at[from-1]; h != nil {
		start = h.line
	}
	if h := at[to]; h != nil {
		end = h.line
	}
	var others []*head
	for i := range c.heads {
		h := &c.heads[i]
		if h.place == extraHead && h.line > start && h.line < end && h.level == headingLevel(ordered[from]) {
			others = append(others, h)
		}
	}
	if len(others) != to-from {
		c.missing(from, to, min(end, c.last()))
		return
	}
	for i, h := range others {
		h.place = from + i
		c.add(HeadingRenamed, h.line, "another heading stands where a required one belongs", "write: "+ordered[h.place])
	}
}

func (c *checker) missing(from, to, line int) {
	var names []string
	for _, h := range ordered[from:to] {
		names = append(names, "`"+h+"`")
	}
	where := "at the beginning"
	if from > 0 {
		where = "behind `" + ordered[from-1] + "`"
	}
	c.lack(HeadingMissing, line, fmt.Sprintf("%s missing: %s", plural(to-from, "heading"), strings.Join(names, ", ")),
		"put it "+where+", letter for letter, in this order; each section cites an anchor")
}

// longest is the longest part of the headings that stands in order.
func longest(heads []*head) []*head {
	var best []*head
	ends := make([][]*head, len(heads)) // longest run that ends here
	for i, h := range heads {
		for j := range i {
			if heads[j].place < h.place && len(ends[j]) > len(ends[i]) {
				ends[i] = ends[j]
			}
		}
		ends[i] = append(slices.Clip(ends[i]), h)
		if len(ends[i]) > len(best) {
			best = ends[i]
		}
	}
	return best
}

// place gives every line its section, and marks the coverage subsection: from its
// heading to the next one.
func (c *checker) place() {
	section, block, next := -1, false, 0
	for i := range c.lines {
		l := &c.lines[i]
		if next < len(c.heads) && c.heads[next].line == i {
			h := c.heads[next]
			next++
			block = h.place == coverageHead || block && h.place == noHead
			if h.place > 0 && h.place < coverageHead {
				section = h.place - 1
			}
		}
		l.section, l.block = section, block
	}
	if !slices.ContainsFunc(c.heads, func(h head) bool { return h.place == afterCoverage }) {
		c.endBlock()
	}
}

// endBlock ends the coverage subsection with its last coverage line: what follows is
// of the section whose heading is missing.
func (c *checker) endBlock() {
	for i := len(c.lines) - 1; i >= 0 && !(c.lines[i].block && (looksCovered(c.lines[i].text) || c.lines[i].kind == heading)); i-- {
		c.lines[i].block = false
	}
}
