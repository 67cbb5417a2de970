package modelsummary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/jsonspan"
)

const (
	supportMark    = " support_text_json="
	dispositionEnd = " disposition=covered"
	coverageForm   = `- L42 support_text_json="an exact excerpt of the record" disposition=covered`
)

// looksCovered reports whether a line begins as a coverage line does.
func looksCovered(text string) bool {
	_, rest, ok := coverageNumber(text)
	return ok && strings.HasPrefix(rest, supportMark)
}

// coverageNumber reads "- L42" off the beginning.
func coverageNumber(text string) (n int, rest string, ok bool) {
	digits, ok := strings.CutPrefix(text, "- L")
	if !ok {
		return 0, "", false
	}
	rest = strings.TrimLeft(digits, "0123456789")
	digits = digits[:len(digits)-len(rest)]
	n, err := strconv.Atoi(digits)
	return n, rest, err == nil && digits[0] != '0' && len(digits) <= 9
}

// coverageLines checks the coverage subsection and what looks like a line of it.
func (c *checker) coverageLines() {
	named := c.coveragePlace()
	for i := 0; i < len(c.lines); i++ {
		switch l := &c.lines[i]; {
		case l.kind == heading || l.kind == blank || l.kind == metadata:
		case l.block && c.others(i) > 0:
			n := c.others(i)
			c.amongCoverage(i, n)
			i += n - 1
		case l.block:
			c.coverageLine(i)
		case l.kind == coverage:
			if named {
				c.add(CoverageOutside, i, "a coverage line outside of its subsection", "move it under "+CoverageHeading)
			}
			c.coverageLine(i)
		}
	}
	c.uncovered(named || len(c.covered) > 0)
}

// others counts the lines from i on that have nothing of a coverage line.
func (c *checker) others(i int) int {
	n := 0
	for _, l := range c.lines[i:] {
		if _, _, ok := coverageNumber(l.text); ok || strings.Contains(l.text, supportMark) || !l.block || l.kind == heading {
			break
		}
		n++
	}
	for n > 0 && c.lines[i+n-1].kind == blank {
		n--
	}
	return n
}

// amongCoverage reports n lines of text in the subsection. A divider or a fence says
// nothing.
func (c *checker) amongCoverage(i, n int) {
	if slices.ContainsFunc(c.lines[i:i+n], func(l line) bool { return !isFence(l.text) && substantive(l.text) }) {
		c.add(CoverageForm, i, plural(n, "line")+" that cannot stand among the coverage lines",
			"move text above "+CoverageHeading+"; a coverage line is: "+coverageForm)
	}
}

// coveragePlace reports whether the subsection is there, and whether it is where it
// should be.
func (c *checker) coveragePlace() bool {
	at, evidence := -1, -1
	for _, h := range c.heads {
		switch {
		case h.place == coverageHead && at < 0:
			at = h.line
		case h.place > 0 && h.place < coverageHead && ordered[h.place] == EvidenceSection:
			evidence = h.line
		}
	}
	const fix = "put " + CoverageHeading + " once at the end of " + EvidenceSection
	switch {
	case at < 0 && evidence < 0:
		c.lack(CoverageMissing, c.last(), "the coverage subsection is missing", fix)
	case at < 0:
		c.lack(CoverageMissing, evidence, "the coverage subsection is missing", fix)
	case evidence >= 0 && (c.lines[at].section < 0 || Sections[c.lines[at].section] != EvidenceSection):
		c.add(CoverageMisplaced, at, "the coverage subsection stands in another section", fix)
	}
	return at >= 0
}

// coverageLine reads one line and checks what it claims.
func (c *checker) coverageLine(i int) {
	n, excerpt, fault := parseCoverage(c.lines[i].text)
	source, wanted := c.Claims[n]
	switch {
	case n > 0 && !wanted:
		c.add(CoverageUnknown, i, fmt.Sprintf("L%d asks for no coverage line", n), "remove it; the records are those under Required Claim Support")
		return
	case n > 0 && c.covered[n]:
		c.add(CoverageTwice, i, fmt.Sprintf("L%d has a coverage line already", n), "keep one")
		return
	}
	if n > 0 {
		c.covered[n] = true
		c.book(i, anchor{N: n})
	}
	if fault != "" {
		c.add(CoverageForm, i, fault, "write it as: "+coverageForm)
		return
	}
	c.support(i, n, excerpt, source)
	c.list = append(c.list, Coverage{Line: i + 1, Record: n, Excerpt: excerpt})
}

// parseCoverage reads a coverage line. The number is there also where the rest is at
// fault, if it could be read.
func parseCoverage(text string) (n int, excerpt, fault string) {
	n, rest, ok := coverageNumber(text)
	if !ok {
		return misspelt(text), "", "its anchor is not as - L42"
	}
	value, ok := strings.CutPrefix(rest, supportMark)
	if !ok {
		return n, "", "the anchor is not followed by" + supportMark
	}
	s := jsonspan.Scanner{Data: []byte(value)}
	if !strings.HasPrefix(value, `"`) {
		return n, "", "the excerpt is no JSON string: it does not begin with a quotation mark"
	}
	sp, err := s.String()
	if err != nil {
		return n, "", "the excerpt is no JSON string: " + err.Reason
	}
	if value[s.Pos:] != dispositionEnd {
		return n, "", "the excerpt is not followed by" + dispositionEnd + " and the line's end"
	}
	return n, jsonspan.Unquote(sp.Of(s.Data)), ""
}

// misspelt is the number that a line with another beginning means, 0 without one.
func misspelt(text string) int {
	before, _, _ := strings.Cut(text, supportMark)
	n, _ := strconv.Atoi(strings.TrimLeft(before, " \t-*+L0"))
	return n
}

// support holds an excerpt to its record: a part of it that tells something.
func (c *checker) support(i, n int, excerpt, source string) {
	least := min(MinSupport, utf8.RuneCountInString(strings.TrimSpace(source)))
	rule, what := "", ""
	switch {
	case isBlank(excerpt) || !substantive(excerpt) && substantive(source):
		rule, what = SupportBlank, "says nothing"
	case !strings.Contains(source, excerpt):
		rule, what = SupportForeign, "is not in its record"+difference(excerpt, source)
	case utf8.RuneCountInString(strings.TrimSpace(excerpt)) < least:
		rule, what = SupportShort, "is too short"
	default:
		return
	}
	c.add(rule, i, fmt.Sprintf("the excerpt for L%d %s", n, what),
		fmt.Sprintf("copy at least %s of L%d's full_text_json, letter for letter", plural(least, "character"), n))
}

// difference says where an excerpt departs from its record, if it nearly fits.
func difference(excerpt, source string) string {
	if strings.Contains(alike(source), alike(excerpt)) {
		return ", though it differs only in case, white space, quotation marks or dashes"
	}
	part := ""
	for _, cut := range []string{"...", "…"} {
		for _, p := range strings.Split(excerpt, cut) {
			if len(p) < len(excerpt) && len(p) > len(part) {
				part = p
			}
		}
	}
	if part = strings.TrimSpace(part); part != "" && strings.Contains(source, part) {
		return ", though a part of it is: leave nothing out within an excerpt"
	}
	return ""
}

var folded = strings.NewReplacer(
	"“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "’", "'", "‘", "'", "`", "'", "–", "-", "—", "-", "…", "...",
)

// alike makes texts equal that differ in typography only.
func alike(s string) string {
	return strings.Join(strings.Fields(folded.Replace(strings.ToLower(s))), " ")
}

// uncovered collects the records without a coverage line and reports them as one
// problem, unless the whole subsection is missing.
func (c *checker) uncovered(report bool) {
	var missing []anchor
	for n := range c.Claims {
		if !c.covered[n] {
			c.lacks[n] = true
			missing = append(missing, anchor{N: n})
		}
	}
	if len(missing) == 0 || !report {
		return
	}
	at := c.last()
	for _, h := range c.heads {
		if h.place == coverageHead {
			at = h.line
			break
		}
	}
	c.anchors(CoverageLacks, at, plural(len(missing), "record")+" without a coverage line", "add one line for each: "+coverageForm, missing)
}
