package summary

import (
	"regexp"
	"strconv"
	"strings"
)

// outcome is what is told of a result.
type outcome struct {
	ok     bool
	detail string // counts, or the first telling line of an error
}

var (
	ansi      = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
	exitCode  = regexp.MustCompile(`^(?:Error: )?Exit code (\d+)$`)
	passCount = regexp.MustCompile(`(?i)\b(\d+) (?:passed|passing|pass|tests? passed)\b|\bpass (\d+)\b`)
	failCount = regexp.MustCompile(`(?i)\b(\d+) (?:failed|failing|failures?|tests? failed)\b|\bfail (\d+)\b`)
	goOK      = regexp.MustCompile(`(?m)^ok\s+\S+`)
	goFail    = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^FAIL\s+(\S+)`)
	fileLine  = regexp.MustCompile(`^\S+\.\w+[:(]\d+`)
	errorLine = regexp.MustCompile(`(?i)(?:error|exception)\b|\b(?:fatal|failed|failure|panic|denied|not found|no such|cannot|invalid|undefined)\b`)
)

// judge tells the outcome of a call. A check that was piped through another
// command ends well and still says in its output that it failed.
func judge(e Entry, c command) outcome {
	text := ansi.ReplaceAllString(e.Text, "")
	counts, failed := "", false
	if c.class == "test" {
		counts, failed = testCounts(text)
	}
	switch {
	case e.IsError && counts != "":
		return outcome{false, counts}
	case e.IsError:
		return outcome{false, firstError(text)}
	}
	return outcome{!failed, counts}
}

// testCounts reads the totals that test runners print.
func testCounts(text string) (string, bool) {
	passed, failed := largest(passCount, text), largest(failCount, text)
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

// goCounts reads what go test prints: the packages that passed and the first
// tests that did not.
func goCounts(text string) (string, bool) {
	passed := len(goOK.FindAllString(text, -1))
	var failed []string
	for _, m := range goFail.FindAllStringSubmatch(text, -1) {
		failed = append(failed, m[1]+m[2])
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

// largest returns the greatest number that a count form finds, or -1.
func largest(form *regexp.Regexp, text string) int {
	most := -1
	for _, m := range form.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1] + m[2]); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// firstError returns the line that says best what went wrong: the first that
// names a place in a file, else an error, else the first with words.
func firstError(text string) string {
	exit, first, rank := "", "", 0
	for line := range strings.SplitSeq(text, "\n") {
		if at := strings.LastIndexByte(line, '\r'); at >= 0 {
			line = line[at+1:]
		}
		line = flat(line)
		if m := exitCode.FindStringSubmatch(line); m != nil {
			exit = "exit " + m[1]
			continue
		}
		if len(line) < 3 || strings.HasPrefix(line, "Traceback") || (unit{text: line}).machine() && !errorLine.MatchString(line) {
			continue
		}
		r := 1
		if errorLine.MatchString(line) {
			r = 2
		}
		if fileLine.MatchString(line) {
			r = 3
		}
		if r > rank {
			first, rank = line, r
		}
	}
	first = safe(reduce(strings.NewReplacer("<tool_use_error>", "", "</tool_use_error>", "").Replace(first), 160))
	if exit != "" && first != "" {
		return exit + ": " + first
	}
	return exit + first
}
