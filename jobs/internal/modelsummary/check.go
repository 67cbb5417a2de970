package modelsummary

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Summary is what later steps need of an accepted summary.
type Summary struct {
	Meta     Header
	Prose    string // the text without metadata comment and coverage subsection
	Coverage []Coverage
	Records  []int // cited, ascending, each once
	Handoff  []int // handoff lines cited, likewise
}

// Coverage is one line of the coverage subsection.
type Coverage struct {
	Line    int // in the checked text
	Record  int
	Excerpt string
}

// checker carries one check.
type checker struct {
	*Expect
	text     string
	lines    []line
	heads    []head
	searched int // line before which nothing closes a comment
	problems []Problem
	list     []Coverage
	covered  map[int]bool // records whose coverage line stands or was reported
	cited    map[anchor]bool
	sections [len(Sections)]bool // that cite something
	lacks    map[int]bool        // records whose coverage line was reported as missing
}

// Check checks a summary against its pack. It gives the summary's parts, or
// everything that is wrong with it, by line.
func Check(text []byte, e Expect) (*Summary, []Problem) {
	whole := strings.TrimPrefix(string(text), "\ufeff")
	c := &checker{
		Expect: &e, text: whole, lines: split(whole),
		covered: map[int]bool{}, cited: map[anchor]bool{}, lacks: map[int]bool{},
	}
	e.Summary = slices.Sorted(slices.Values(e.Summary))
	c.check()
	if len(c.problems) > 0 {
		sortProblems(c.problems)
		return nil, c.problems
	}
	return c.summary(), nil
}

func (c *checker) check() {
	first := slices.IndexFunc(c.lines, func(l line) bool { return l.kind != blank })
	if first < 0 {
		c.add(Empty, 0, "the text is empty", "write the summary that the pack asks for")
		return
	}
	marker := c.findMarker()
	if marker < 0 && !c.anyHeading() {
		c.add(NoSummary, first, "this text has neither the metadata comment nor any required heading",
			"give nothing but the summary, in the form that the pack shows")
		return
	}
	c.encoding()
	c.controls()
	c.metadata(first, marker)
	c.body()
	c.outline()
	c.coverageLines()
	c.citations()
	c.noAccess()
	c.grounding()
	c.sectionsCite()
	c.required()
	c.tooShort()
	c.tooLong()
}

// findMarker is the first line of a metadata comment of any version, -1 without one.
func (c *checker) findMarker() int {
	return slices.IndexFunc(c.lines, func(l line) bool { return isMarker(l.text) })
}

func isMarker(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), markerName) }

func (c *checker) anyHeading() bool {
	return slices.ContainsFunc(c.lines, func(l line) bool { _, ok := required[l.text]; return ok })
}

// add reports something about a line; at counts from 0.
func (c *checker) add(rule string, at int, message, fix string) *Problem {
	c.problems = append(c.problems, Problem{
		Rule: rule, Line: at + 1, Message: message, Fix: fix, Quote: quote(c.lines[at].text),
	})
	return &c.problems[len(c.problems)-1]
}

// lack reports something that is not there but should be at a line.
func (c *checker) lack(rule string, at int, message, fix string) *Problem {
	p := c.add(rule, at, message, fix)
	p.Quote = ""
	return p
}

func (c *checker) reported(rules ...string) bool {
	return slices.ContainsFunc(c.problems, func(p Problem) bool { return slices.Contains(rules, p.Rule) })
}

// controls reports characters that do something to who reads them, such as escapes of
// a terminal.
func (c *checker) controls() {
	for i, l := range c.lines {
		if at := strings.IndexFunc(l.raw, control); at >= 0 {
			p := c.add(Control, i, "a control character", "remove it")
			p.Column = utf8.RuneCountInString(l.raw[:at]) + 1
		}
	}
}

func control(r rune) bool { return r < ' ' && r != '\t' }

func (c *checker) encoding() {
	at, n := -1, 0
	for i, l := range c.lines {
		if !utf8.ValidString(l.raw) {
			if n++; at < 0 {
				at = i
			}
		}
	}
	if n > 0 {
		c.add(Encoding, at, fmt.Sprintf("bytes that are no UTF-8, in %s", plural(n, "line")), "write the text in UTF-8")
	}
}

// last is the last line that is not blank.
func (c *checker) last() int {
	for i := len(c.lines) - 1; i > 0; i-- {
		if !isBlank(c.lines[i].text) {
			return i
		}
	}
	return 0
}

// summary takes an accepted text apart.
func (c *checker) summary() *Summary {
	s := &Summary{Meta: c.Header, Coverage: c.list, Prose: c.prose()}
	for a := range c.cited {
		if a.Handoff {
			s.Handoff = append(s.Handoff, a.N)
		} else {
			s.Records = append(s.Records, a.N)
		}
	}
	slices.Sort(s.Records)
	slices.Sort(s.Handoff)
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
