package summary

import (
	"regexp"
	"strings"
)

// outcome is what is told of a result.
type outcome struct {
	ok     bool
	detail string // counts, or the first telling line of an error
}

var (
	ansi     = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
	exitCode = regexp.MustCompile(`^(?:Error: )?Exit code (\d+)$`)
	fileLine = regexp.MustCompile(`^\S+\.\w+[:(]\d+`)
)

// judge tells the outcome of a call. A check that was piped through another
// command ends well and still says in its output that it failed.
func judge(e Entry, c command) outcome {
	text := e.Text
	if strings.Contains(text, "\x1b") {
		text = ansi.ReplaceAllString(text, "")
	}
	counts, failed := "", false
	if c.class == "test" {
		counts, failed = testCounts(text)
	}
	switch {
	case e.IsError && counts != "":
		return outcome{false, counts}
	case e.IsError:
		return outcome{false, firstError(bothEnds(text))}
	}
	return outcome{!failed, counts}
}

// look bounds how much of either end of a failed call's output is searched
// for what went wrong, in bytes.
const look = 4 << 10

// bothEnds returns the beginning and the end of a long text.
func bothEnds(text string) string {
	if len(text) <= 2*look {
		return text
	}
	head, tail := beginning(text, look), text[len(text)-look:]
	return head + "\n" + tail[strings.IndexByte(tail, '\n')+1:]
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
		} else if r := rankError(line); r > rank {
			first, rank = line, r
		}
	}
	first = safe(reduce(strings.NewReplacer("<tool_use_error>", "", "</tool_use_error>", "").Replace(first), 160))
	if exit != "" && first != "" {
		return exit + ": " + first
	}
	return exit + first
}

// rankError rates a line of an error by how well it says what went wrong.
func rankError(line string) int {
	if len(line) < 3 || strings.HasPrefix(line, "Traceback") {
		return 0
	}
	says := namesError(line)
	word, _, _ := strings.Cut(line, " ")
	switch {
	case !says && (unit{text: line}).machine():
		return 0
	case strings.Contains(word, ".") && fileLine.MatchString(line):
		return 3
	case says:
		return 2
	}
	return 1
}

// errorWords tell an error where they stand as words; the first ones may also
// end a longer word, as names of error types do.
var errorWords = []string{
	"error", "exception",
	"fatal", "failed", "failure", "panic", "denied", "not found", "no such", "cannot", "invalid", "undefined",
}

func namesError(line string) bool {
	line = strings.ToLower(line)
	for i, w := range errorWords {
		for rest := line; ; {
			before, after, found := strings.Cut(rest, w)
			if !found {
				break
			}
			begins := before == "" && len(rest) == len(line) || before != "" && !isWordByte(before[len(before)-1])
			if (begins || i < 2) && (after == "" || !isWordByte(after[0])) {
				return true
			}
			rest = after
		}
	}
	return false
}
