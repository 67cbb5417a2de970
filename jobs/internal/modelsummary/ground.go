package modelsummary

import "strings"

// grounding reports lines and code that nothing supports.
func (c *checker) grounding() {
	for i := 0; i < len(c.lines); i++ {
		switch l := &c.lines[i]; {
		case l.kind == fence || l.kind == code:
			end := c.endOfCode(i)
			c.supported(i, end)
			i = end - 1
		case l.kind == prose && !l.block && !l.cites && !l.wrong:
			c.uncited(i)
		}
	}
}

func (c *checker) uncited(i int) {
	text := c.lines[i].text
	if text == Unknown || !substantive(text) || c.isHeader(i) {
		return
	}
	if strings.Contains(text, strings.TrimSuffix(Unknown, ".")) {
		c.add(UnknownForm, i, "the sentence for what is unknown is not the whole line",
			"leave nothing but: "+Unknown)
		return
	}
	message := "this line cites nothing"
	if names := c.names(text); len(names) > 0 {
		message = names[0].String() + " reads as part of a name here, so this line cites nothing"
	}
	c.add(LineUncited, i, message, "end it with the anchors it rests on, as [L12]; every line needs its own, so do not wrap lines")
}

// names are the tokens of a line that would cite if they stood in brackets.
func (c *checker) names(text string) []token {
	_, names := cite(text, c.shows)
	var out []token
	for _, t := range names {
		if t.form && c.shows(t.anchor) {
			out = append(out, t)
		}
	}
	return out
}

// endOfCode is the line after the code that a fence at i opens.
func (c *checker) endOfCode(i int) int {
	for i++; i < len(c.lines) && c.lines[i].kind == code; i++ {
	}
	if i < len(c.lines) && c.lines[i].kind == fence {
		i++
	}
	return i
}

// supported reports code without a citing line before or after it.
func (c *checker) supported(from, to int) {
	before, after := from-1, to
	for before >= 0 && c.lines[before].kind == blank {
		before--
	}
	for after < len(c.lines) && c.lines[after].kind == blank {
		after++
	}
	says := false
	for _, l := range c.lines[from:to] {
		says = says || l.kind == code && substantive(l.text)
	}
	if says && !c.carries(before) && !c.carries(after) {
		c.add(CodeUncited, from, "no line before or after this code cites anything",
			"say in a line before it where it is from, as: Command run [L12]:")
	}
	for i := from; i < to; i++ {
		c.lines[i].cites = true // to more code behind it
	}
}

// carries reports whether a line supports the code beside it, or was reported itself.
func (c *checker) carries(i int) bool {
	return i >= 0 && i < len(c.lines) && (c.lines[i].cites || c.lines[i].wrong)
}

// sectionsCite reports sections without a citation. One that is missing is not asked.
func (c *checker) sectionsCite() {
	for _, h := range c.heads {
		s := h.place - 1
		if s < 0 || s >= len(Sections) || c.sections[s] {
			continue
		}
		c.sections[s] = true
		p := c.add(SectionUncited, h.line, "this section cites nothing",
			"cite at least one anchor in it, also where nothing is known")
		p.Quote = Sections[s]
	}
}
