package modelsummary

import (
	"slices"
	"strings"
)

// metadata checks the leading comment line by line and takes it out of the body,
// with whatever stands before it.
func (c *checker) metadata(first, marker int) {
	const copyIt = "begin with the comment under Required Output Metadata, copied letter for letter"
	if marker < 0 {
		c.lack(MetadataMissing, first, "the text does not begin with the metadata comment", copyIt)
		return
	}
	if marker > first {
		c.before(first, marker)
	}
	end, closed := c.endOfComment(marker)
	c.mark(marker, end, metadata)
	if !closed {
		c.add(MetadataUnclosed, marker, "the metadata comment is not closed", "end it with a line --> of its own")
	}
	if got := c.lines[marker].text; got != Marker {
		c.add(MetadataVersion, marker, "this is not the first line of a v11 comment", "write: "+Marker)
	}
	if got := c.lines[end-1].text; closed && end-1 > marker && got != "-->" {
		c.add(MetadataForm, end-1, "the comment does not end with a line of its own", "write: -->")
	}
	c.values(marker+1, end)
	for i := end; i < len(c.lines); i++ {
		if isMarker(c.lines[i].text) {
			c.add(MetadataAgain, i, "a second metadata comment", "remove it; the first one is enough")
			stop, _ := c.endOfComment(i)
			c.mark(i, stop, comment)
			i = stop - 1
		}
	}
}

// before reports text in front of the comment. A fence around the whole text has a
// last line too.
func (c *checker) before(first, marker int) {
	message, fix := "text stands before the metadata comment", "remove what stands before it"
	open, _ := fenceMark(c.lines[first].text)
	wrapped := open != ""
	if wrapped {
		message, fix = "the summary stands in a code fence", "give the text itself, without a fence around it"
	}
	c.add(MetadataFirst, first, message, fix)
	if slices.ContainsFunc(c.lines[:marker], func(l line) bool { _, ok := required[l.text]; return ok }) {
		return
	}
	c.mark(first, marker, metadata)
	if last := c.last(); wrapped && c.lines[last].text == open {
		c.lines[last].kind = metadata
	}
}

func (c *checker) mark(from, to int, k kind) {
	for i := from; i < to; i++ {
		c.lines[i].kind = k
	}
}

// endOfComment is the line after a metadata comment, which may not reach past a
// heading or the next one. One that is not closed ends with the last line that can be of it.
func (c *checker) endOfComment(marker int) (end int, closed bool) {
	end = marker + 1
	for i := marker; i < len(c.lines); i++ {
		if i > marker && (headingLevel(c.lines[i].text) > 0 || isMarker(c.lines[i].text)) {
			break
		}
		if strings.Contains(c.lines[i].text, "-->") {
			return i + 1, true
		}
		if key, _, _ := strings.Cut(c.lines[i].text, ":"); i == end && c.headerKey(strings.TrimSpace(key)) {
			end++
		}
	}
	return end, false
}

func (c *checker) headerKey(key string) bool {
	return slices.ContainsFunc(c.Header.lines(), func(l headerLine) bool { return l.key == key })
}

// values compares the comment's lines with the pack's.
func (c *checker) values(from, to int) {
	want := c.Header.lines()
	seen := map[string]bool{}
	before, moved := len(c.problems), -1
	for i := from; i < to; i++ {
		text := c.lines[i].text
		if i == to-1 {
			text = strings.TrimRight(strings.TrimSuffix(text, "-->"), " \t")
			if text == "" {
				break
			}
		}
		key := c.value(i, text, want, seen)
		if n := len(seen) - 1; moved < 0 && n >= 0 && want[n].key != key {
			moved = i
		}
	}
	if c.lacksLines(from-1, want, seen); moved >= 0 && len(c.problems) == before {
		c.add(MetadataOrder, moved, "the lines of the metadata comment stand in another order", "copy them in the pack's order")
	}
}

func (c *checker) lacksLines(at int, want []headerLine, seen map[string]bool) {
	var missing []string
	for _, l := range want {
		if !seen[l.key] {
			missing = append(missing, l.String())
		}
	}
	if len(missing) > 0 {
		c.lack(MetadataLacks, at, plural(len(missing), "line")+" of the metadata comment missing", "add: "+strings.Join(missing, " / "))
	}
}

// value checks one line of the comment and returns its key.
func (c *checker) value(i int, text string, want []headerLine, seen map[string]bool) string {
	key, value, _ := strings.Cut(text, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	k := slices.IndexFunc(want, func(l headerLine) bool { return l.key == key })
	switch {
	case text == "":
		c.add(MetadataForm, i, "a blank line in the metadata comment", "remove it")
	case k < 0:
		c.add(MetadataUnknown, i, "the pack's comment has no such line", "remove it")
	case seen[key]:
		c.add(MetadataRepeated, i, key+" stands twice in the comment", "keep one: "+want[k].String())
	case value != want[k].value:
		c.add(MetadataValue, i, key+" is not the pack's", "write: "+want[k].String())
	case text != want[k].String():
		c.add(MetadataForm, i, key+" is not written letter for letter", "write: "+want[k].String())
	}
	if k >= 0 {
		seen[key] = true
	}
	return key
}
