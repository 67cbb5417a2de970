package modelsummary

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/jobs/internal/tokens"
)

// tooShort is not worth a word where something is missing anyway.
func (c *checker) tooShort() {
	if c.reported(MetadataMissing, MetadataLacks, HeadingMissing, CoverageMissing, CoverageLacks, SectionUncited) {
		return
	}
	n := 0
	for _, l := range c.lines[:c.last()+1] {
		n += utf8.RuneCountInString(l.text) + 1
	}
	if n <= MinChars {
		c.lack(TooShort, c.last(), fmt.Sprintf("the text has fewer than %d characters", MinChars),
			"say more of what the pack shows")
	}
}

// tooLong measures what will be used of the text.
func (c *checker) tooLong() {
	if c.MaxChars == 0 && c.MaxTokens == 0 {
		return
	}
	text := strings.TrimSpace(c.text)
	if !c.Whole {
		text = c.prose()
	}
	c.limit("character", utf8.RuneCountInString(text), c.MaxChars)
	c.limit("estimated token", tokens.Text(text), c.MaxTokens)
}

// limit reports a size beyond a limit. The author is told to spare what the pack
// demands.
func (c *checker) limit(unit string, size, most int) {
	if most == 0 || size <= most {
		return
	}
	what, rest := "the text without comment and coverage lines", "these lines do not count: leave them as they are"
	if c.Whole {
		what, rest = "the text", "all of it counts, but comment, headings and a coverage line for each record must stay"
	}
	over := size - most
	c.lack(TooLong, c.last(), fmt.Sprintf("%s has %s; the limit is %d", what, plural(size, unit), most),
		fmt.Sprintf("shorten it by %s at least, a share of %d%%; %s", plural(over, unit), (100*over+size-1)/size, rest))
}

// prose is the text with LF line ends, without comment and coverage subsection.
// Where they stood one blank line is left. Coverage lines that went astray are not
// counted against their author.
func (c *checker) prose() string {
	var b strings.Builder
	gap := false
	for _, l := range c.lines {
		if l.kind == metadata || l.kind == coverage || l.block {
			gap = true
			continue
		}
		if gap && isBlank(l.text) {
			continue
		}
		if gap && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n\n") {
			b.WriteByte('\n')
		}
		gap = false
		b.WriteString(l.raw + "\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}
