package compress_test

import (
	"fmt"
	"regexp"
	"strings"

	st "github.com/precis-dev/precis/jobs/internal/sessiontest"
)

// Authors that write as much as they may, and sessions of any length.

// proseOf is what of a summary goes into a session: all but the comment at its head
// and the coverage lines.
func proseOf(answer string) string {
	_, text, _ := strings.Cut(answer, "-->\n")
	before, rest, _ := strings.Cut(text, "\n### Mandatory Evidence Coverage\n")
	_, after, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(before + "\n## " + after)
}

var firstShown = regexp.MustCompile(`Seen among others \[([LH]\d+)`)

// padded is a good summary of some characters, filled up with lines of a filler. One
// that is longer anyway stays as it is.
func padded(c call, filler string, chars int) string {
	return filledUp(good(c), filler, chars, runesOf(proseOf(good(c)))+1)
}

// filledUp adds lines to a text of so many characters until it has as many as wanted.
func filledUp(text, filler string, chars, have int) string {
	cite := " [" + firstShown.FindStringSubmatch(text)[1] + "]\n"
	const begin, longest = "- a ", 300
	head, tail, _ := strings.Cut(text, "\n## Timeline and Supersessions\n")
	var b strings.Builder
	least := runesOf(begin + cite)
	for room := chars - have; room >= least; {
		line := min(room, longest)
		if rest := room - line; rest > 0 && rest < least {
			line -= least - rest
		}
		b.WriteString(begin + firstRunes(filler, line-least) + cite)
		room -= line
	}
	return strings.TrimRight(head, "\n") + "\n" + b.String() + "\n## Timeline and Supersessions\n" + tail
}

// firstRunes are so many characters of a text that goes on and on.
func firstRunes(text string, n int) string {
	return string([]rune(strings.Repeat(text, 1+n/max(1, runesOf(text))))[:n])
}

func runesOf(text string) int { return len([]rune(text)) }

// fillers are texts of all densities. None begins or ends with white space.
var fillers = map[string]string{
	"words":       "ebb-and-flood-",
	"han":         "灯台守候潮水",
	"symbols":     "⚓🌊",
	"quotes":      `"`,
	"backslashes": `\`,
}

// upTo writes as much as the prompt allows, and less if the checker asks for it.
func upTo(filler string) func(c call) string {
	return func(c call) string {
		chars := c.maxChars()
		for _, r := range c.reports {
			chars = shortened(chars, r)
		}
		return padded(c, filler, chars)
	}
}

var tooLong = regexp.MustCompile(`has (\d+) (characters|estimated tokens|bytes); the limit is (\d+)`)

// shortened is how long a summary may be of which the checker said that it was too
// long: its share less, and a little more, for what is not filler does not shrink.
func shortened(chars int, report string) int {
	for _, m := range tooLong.FindAllStringSubmatch(report, -1) {
		var has, limit int
		_, _ = fmt.Sscan(m[1]+" "+m[3], &has, &limit)
		over := chars * (has - limit) / has
		chars -= over + over/4 + 20
	}
	return chars
}

// talk is a session of turns whose texts have some characters.
func talk(turns, chars int) []byte {
	var b st.Builder
	parent := ""
	for i := range turns {
		u, a := fmt.Sprint("u", i), fmt.Sprint("a", i)
		b.User(u, parent, firstRunes(fmt.Sprintf("Request %d of the person, in words. ", i), chars)+".")
		b.Assistant(a, u, "m"+a, st.Text(firstRunes(fmt.Sprintf("Answer %d of the agent, in words. ", i), chars)+"."))
		parent = a
	}
	b.LastPrompt(parent)
	return b.Bytes()
}
