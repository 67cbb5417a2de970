package summary

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// omitted marks where a quotation leaves something out.
const omitted = "[…]"

// anchorLike is text that could be taken for one of our anchors.
var anchorLike = regexp.MustCompile(`\[([LH][0-9])`)

// clientTag is an opening or closing tag that clients give a meaning to.
var clientTag = regexp.MustCompile(`<(/?(?:` + strings.Join(injectedTags, "|") + `|command-name|command-args|bash-input|summary|analysis)\b)`)

// safe makes a quoted text unable to pass for a part of the summary or of the
// client's own markup. Readers of Markdown see the same characters.
func safe(s string) string {
	s = strings.ReplaceAll(s, "-->", "--&gt;")
	if strings.Contains(s, "<") {
		s = strings.ReplaceAll(s, "<!--", "&lt;!--")
		s = clientTag.ReplaceAllString(s, "&lt;$1")
	}
	if !strings.Contains(s, "[L") && !strings.Contains(s, "[H") {
		return s
	}
	return anchorLike.ReplaceAllString(s, `[\$1`)
}

// reduce shortens a text to at most limit code points, at the end of a clause
// where there is one and else between words, and marks it.
func reduce(s string, limit int) string {
	if len(s) <= limit || runes(s) <= limit {
		return s
	}
	head := firstRunes(s, max(limit-runes(omitted)-1, 1))
	clause := strings.LastIndexAny(head, ",;:，；：、،–—")
	space := strings.LastIndexFunc(head, unicode.IsSpace)
	switch {
	case clause > len(head)/2:
		head = head[:clause]
	case space > len(head)/3:
		head = head[:space]
	}
	return strings.TrimRight(head, " ,;:") + " " + omitted
}

// firstRunes returns the first n code points of a text that has more.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// anchor is how a record, or a range of them, is cited.
func anchor(n, to int) string {
	if to <= n {
		return "[L" + strconv.Itoa(n) + "]"
	}
	return "[L" + strconv.Itoa(n) + "–L" + strconv.Itoa(to) + "]"
}

// cite is the anchor of a span.
func (s span) cite() string { return anchor(s.first, s.last) }

// both cites two records apart.
func both(n, again int) string {
	if again <= n {
		return anchor(n, n)
	}
	return "[L" + strconv.Itoa(n) + ", L" + strconv.Itoa(again) + "]"
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// ticked puts a text into a code span.
func ticked(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }

// bullet writes a list of whole lines.
func bullet(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("- ")
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}
