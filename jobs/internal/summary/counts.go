package summary

import (
	"slices"
	"strconv"
	"strings"
)

// testCounts reads the totals that test runners print. It goes by a few
// literals instead of regular expressions, as output of tests is long.
func testCounts(text string) (string, bool) {
	passed := largest(text, countForm{"pass", []string{"pass", "passed", "passing"}, "passed"})
	failed := largest(text, countForm{"fail", []string{"failed", "failing", "failure", "failures"}, "failed"})
	if passed < 0 && failed < 0 {
		return goCounts(text)
	}
	s := ""
	if failed > 0 {
		s = strconv.Itoa(failed) + " failed"
	}
	if passed >= 0 {
		s = strings.TrimPrefix(s+", "+strconv.Itoa(passed)+" passed", ", ")
	}
	return s, failed > 0
}

// countForm is how runners write one count: "3 passed", "3 tests passed",
// "pass 3".
type countForm struct {
	before  string   // a number may follow this word
	after   []string // a number may stand right before these
	ofTests string   // the one that "tests" may precede
}

// largest returns the greatest number that a count form finds, or -1.
func largest(text string, form countForm) int {
	most := -1
	stem := form.before[1:] // the first letter may be a capital
	for at := 0; ; {
		next := strings.Index(text[at:], stem)
		if next < 0 {
			return most
		}
		if at += next; at > 0 {
			most = max(most, form.at(text, at-1))
		}
		at += len(stem)
	}
}

// at returns the number that belongs to the word at a place in the text, or
// -1 if that is none of the form's.
func (f countForm) at(text string, at int) int {
	end := at
	for end < len(text) && isWordByte(text[end]) {
		end++
	}
	if at > 0 && isWordByte(text[at-1]) {
		return -1
	}
	word := strings.ToLower(text[at:end])
	if n := numberBefore(text[:at]); n >= 0 && slices.Contains(f.after, word) {
		return n
	}
	if word == f.ofTests {
		for _, noun := range []string{"tests ", "test ", "Tests ", "Test "} {
			if rest, ok := strings.CutSuffix(text[:at], noun); ok {
				return numberBefore(rest)
			}
		}
	}
	if word == f.before {
		return numberAfter(text[end:])
	}
	return -1
}

// numberBefore returns the number that a text ends with, a space after it, or
// -1.
func numberBefore(text string) int {
	text, ok := strings.CutSuffix(text, " ")
	if !ok {
		return -1
	}
	start := len(text)
	for start > 0 && isDigit(text[start-1]) {
		start--
	}
	if start > 0 && isWordByte(text[start-1]) {
		return -1
	}
	return number(text[start:])
}

// numberAfter returns the number that a text begins with, a space before it,
// or -1.
func numberAfter(text string) int {
	text, ok := strings.CutPrefix(text, " ")
	if !ok {
		return -1
	}
	end := 0
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	if end < len(text) && isWordByte(text[end]) {
		return -1
	}
	return number(text[:end])
}

func number(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return -1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWordByte(c byte) bool { return isDigit(c) || c == '_' || traits[c]&letter != 0 }

// goCounts reads what go test prints: the packages that passed, the packages
// that did not and their first tests that did not.
func goCounts(text string) (string, bool) {
	passed := 0
	var failed []string
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "ok\t"):
			passed++
		case strings.HasPrefix(line, "FAIL ") || strings.HasPrefix(line, "FAIL\t"):
			failed = append(failed, firstWord(line[len("FAIL"):])...)
		default:
			if test, ok := strings.CutPrefix(trimStart(line), "--- FAIL: "); ok {
				failed = append(failed, firstWord(test)...)
			}
		}
	}
	switch {
	case len(failed) == 0 && passed == 0:
		return "", false
	case len(failed) == 0:
		return plural(passed, "package") + " ok", false
	}
	s := "FAIL " + safe(reduce(strings.Join(failed[:min(len(failed), 3)], ", "), 160))
	if len(failed) > 3 {
		s += " and " + strconv.Itoa(len(failed)-3) + " more"
	}
	if passed > 0 {
		s += "; " + plural(passed, "package") + " ok"
	}
	return s, true
}

// firstWord returns the first word of a line, if it has one.
func firstWord(line string) []string {
	ws := strings.Fields(line)
	return ws[:min(len(ws), 1)]
}
