package modelsummary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// anchor names a record or a handoff line of the pack.
type anchor struct {
	Handoff bool
	N       int
}

func (a anchor) String() string {
	if a.Handoff {
		return "H" + strconv.Itoa(a.N)
	}
	return "L" + strconv.Itoa(a.N)
}

// token is something in a line that has an anchor's form.
type token struct {
	anchor
	at, end int
	form    bool // spelled as the pack spells it
	code    bool // within a code span
}

// citation is a token that cites. A firm one is an error if the pack does not show
// it.
type citation struct {
	token
	firm bool
}

// cite finds the citations of a line; the package's comment says what is one. names
// are the tokens that are none, but would be in brackets.
func cite(s string, shows func(anchor) bool) (cites []citation, names []token) {
	tokens := findTokens(s)
	for i := 0; i < len(tokens); {
		end := chain(s, tokens, i)
		group := tokens[i:end]
		inBrackets, upper := bracketed(s, group)
		switch {
		case inBrackets || group[0].code:
			cites = append(cites, firm(s, group, upper)...)
		case !opens(s, group[0].at):
			end = i + 1
			names = append(names, group[0])
		case continues(s[group[len(group)-1].end:]):
			names = append(names, group...)
		case slices.ContainsFunc(group, func(t token) bool { return t.form && shows(t.anchor) }):
			cites = append(cites, firm(s, group, token{})...)
		}
		i = end
	}
	return cites, names
}

// firm makes tokens citations, with the end of a short range if there is one. In code
// they are not firm, and none unless the code is nothing else.
func firm(s string, group []token, upper token) []citation {
	var out []citation
	code := group[0].code
	if code && !wholeSpan(s, group) {
		return nil
	}
	for _, t := range group {
		out = append(out, citation{t, !code})
	}
	if upper.end > 0 {
		out = append(out, citation{upper, !code})
	}
	return out
}

// findTokens finds L or H with digits behind it that no letter, digit or underscore
// of ASCII touches.
func findTokens(s string) []token {
	var out []token
	var code [][2]int
	for i := 0; i+1 < len(s); i++ {
		if s[i] != 'L' && s[i] != 'H' || !isDigit(s[i+1]) || i > 0 && isWord(s[i-1]) {
			continue
		}
		end := i + 1
		for end < len(s) && isDigit(s[end]) {
			end++
		}
		if end < len(s) && isWord(s[end]) {
			continue
		}
		if code == nil {
			code = append(spans(s), [2]int{len(s), len(s)})
		}
		out = append(out, newToken(s, i, end, within(code, i)))
		i = end - 1
	}
	return out
}

func newToken(s string, at, end int, code bool) token {
	n, err := strconv.Atoi(s[at+1 : end])
	if err != nil || end-at > 10 {
		n = 0
	}
	return token{anchor{s[at] == 'H', n}, at, end, s[at+1] != '0', code}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWord(b byte) bool {
	return isDigit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

// markup may stand around a token without meaning anything.
const markup = " \t*`"

// chain is the end of the tokens that are joined to the ith.
func chain(s string, tokens []token, i int) int {
	for i++; i < len(tokens) && tokens[i].code == tokens[i-1].code && joins(s[tokens[i-1].end:tokens[i].at]); i++ {
	}
	return i
}

// joins reports whether what stands between two tokens makes them one list.
func joins(between string) bool {
	word := strings.Trim(between, markup+",;/&+-–—~…、，；·和")
	return utf8.RuneCountInString(word) <= 3 && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
}

const (
	openers = "([{（［【〔"
	closers = ")]}）］】〕"
)

// bracketed reports whether a bracket pair holds nothing but these tokens. Its last
// may be a range whose end has no letter: L3-7.
func bracketed(s string, group []token) (ok bool, upper token) {
	last := group[len(group)-1]
	before := strings.TrimRight(s[:group[0].at], markup)
	after := strings.TrimLeft(s[last.end:], markup)
	if r, rest := shortRange(after); rest != after {
		at := last.end + strings.Index(s[last.end:], r)
		upper = newToken(s[last.at:last.at+1]+r, 0, 1+len(r), false)
		upper.at, upper.end = at, at+len(r)
		after = rest
	}
	o, _ := utf8.DecodeLastRuneInString(before)
	c, _ := utf8.DecodeRuneInString(after)
	return strings.ContainsRune(openers, o) && strings.ContainsRune(closers, c), upper
}

// shortRange cuts a dash and digits off the beginning.
func shortRange(s string) (digits, rest string) {
	d := strings.TrimLeft(s, "-–—")
	rest = strings.TrimLeft(d, "0123456789")
	if len(d) == len(s) || len(rest) == len(d) || rest != "" && isWord(rest[0]) {
		return "", s
	}
	return d[:len(d)-len(rest)], strings.TrimLeft(rest, markup)
}

// wholeSpan reports whether a code span holds nothing but these tokens.
func wholeSpan(s string, group []token) bool {
	const around = " \t()[]"
	return strings.HasSuffix(strings.TrimRight(s[:group[0].at], around), "`") &&
		strings.HasPrefix(strings.TrimLeft(s[group[len(group)-1].end:], around), "`")
}

// opens reports whether a remark may begin at a place: not within a word, a path or
// a link.
func opens(s string, at int) bool {
	return at == 0 || strings.IndexByte(`#/\.-=:@$+%&~'`, s[at-1]) < 0
}

// continues reports whether what follows a token makes it part of a name.
func continues(after string) bool {
	if after == "" {
		return false
	}
	switch sign, n := utf8.DecodeRuneInString(after); {
	case sign == ':': // a label's, unless of a place in a file
		return len(after) > 1 && isDigit(after[1])
	case strings.ContainsRune(`-'’./\=#+%`, sign):
		return startsWord(after[n:])
	}
	return startsWord(strings.TrimLeft(after, markup))
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// citations books what every line cites and reports what the pack does not show.
func (c *checker) citations() {
	for i := range c.lines {
		l := &c.lines[i]
		if l.kind != prose || l.block {
			continue
		}
		cites, _ := cite(l.text, c.shows)
		for _, ct := range cites {
			if ct.form && c.shows(ct.anchor) {
				c.book(i, ct.anchor)
			} else if ct.firm {
				c.badAnchor(i, ct.token)
			}
		}
	}
}

func (c *checker) book(i int, a anchor) {
	l := &c.lines[i]
	if l.cites = true; l.section >= 0 {
		c.sections[l.section] = true
	}
	c.cited[a] = true
}

// badAnchor reports an anchor that is cited but not shown.
func (c *checker) badAnchor(i int, t token) {
	l := &c.lines[i]
	l.wrong = true
	name := t.String()
	if !t.form || t.N == 0 {
		name = l.text[t.at:t.end]
	}
	if len(name) > 20 {
		name = name[:20] + "…"
	}
	rule, why := c.whyBad(t)
	p := c.add(rule, i, name+why, "cite an anchor that the pack shows; what is no citation does not stand in brackets of its own")
	p.Column = utf8.RuneCountInString(l.text[:t.at]) + 1
}

// whyBad is the rule that an anchor breaks and what is said of it.
func (c *checker) whyBad(t token) (rule, why string) {
	_, inSummary := slices.BinarySearch(c.Summary, t.N)
	switch {
	case !t.form:
		return AnchorForm, " has a zero in front"
	case t.Handoff && c.HandoffLines == 0:
		return AnchorRange, ": the pack has no handoff lines"
	case t.Handoff:
		return AnchorRange, fmt.Sprintf(": the handoff lines are H1 to H%d", c.HandoffLines)
	case t.N < 1 || t.N > c.Records:
		return AnchorRange, fmt.Sprintf(": the session's records are L1 to L%d", c.Records)
	case !inSummary:
		return AnchorKept, " is no record that this summary stands for"
	}
	return AnchorHidden, " is not shown in the pack"
}
