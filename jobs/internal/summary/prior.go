package summary

import (
	"regexp"
	"strings"
)

// prior is the newest earlier summary and where the older ones stood.
type prior struct {
	passage
	older span
}

// clientFrame is what clients wrap around a compact summary.
var clientFrame = []*regexp.Regexp{
	regexp.MustCompile(`(?s)<analysis>.*?</analysis>`),
	regexp.MustCompile(`(?s)^\s*` + continued + `[^\n]*\n`),
	regexp.MustCompile(`(?s)^\s*Analysis:\n.*?\n(?:Summary:\n)`),
	regexp.MustCompile(`</?summary>|(?m)^Summary:\n`),
	regexp.MustCompile(`(?m)^(?:Please continue the conversation from where we left|Continue the conversation from where it left off|If you need specific details from before compaction|Recent messages are preserved verbatim)[^\n]*$`),
}

// oldAnchor is an anchor of an earlier summary: it names records of the file
// that summary was made from.
var oldAnchor = regexp.MustCompile(`\[(?:p\.)?([LH][0-9])`)

// addPrior takes the place of the prior summary; the newest is the memory of
// all before it.
func (b *Builder) addPrior(e Entry) {
	text := e.Text
	for _, frame := range clientFrame {
		text = frame.ReplaceAllString(text, "\n")
	}
	text = strings.TrimSpace(oldAnchor.ReplaceAllString(text, "[p.$1"))
	if text == "" {
		return
	}
	if b.prior.n > 0 {
		b.prior.older.add(b.prior.n)
	}
	b.prior.passage = passage{e.N, text}
}
