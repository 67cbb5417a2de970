package summary

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// command is what is understood of a shell command line.
type command struct {
	key     string // the telling part, in one line
	head    string // the words of key that gave it its class
	class   string // of the list of commands: test, build, commit, …; may be empty
	subject string // of a commit
	touched []touch
}

var (
	heredoc    = regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=\S*$`)
	redirect   = regexp.MustCompile(`(?:^|\s)>>?\s*([^\s&|;<>()]+)`)
	messageArg = regexp.MustCompile(`(?s)\s(?:-m|-am|--message)[ =]?\s*(?:"\$\(cat <<-?\s*['"]?\w+['"]?\n\s*([^\n]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')`)
)

// classOrder is which class a line with several commands goes by.
var classOrder = []string{"commit", "test", "build", "lint", "land", "", "quiet"}

// parseCommand finds the telling part of a command line. It knows enough of
// the shell to split it, no more.
func parseCommand(l *lexicon, line string) command {
	c := command{class: "quiet"}
	rank := len(classOrder)
	plain := withoutHeredocs(line)
	for _, segment := range segments(plain) {
		args := strings.Fields(segment)
		for len(args) > 0 && (isAssignment(args[0]) || isWrapper(args[0])) {
			args = args[1:]
		}
		if len(args) == 0 {
			continue
		}
		class, head := classOf(l, args)
		if r := indexOf(classOrder, class); r < rank {
			rank, c.class, c.head, c.key = r, class, head, strings.TrimSuffix(strings.Join(args, " "), " 2>&1")
		}
		c.touched = append(c.touched, shellTouches(args, segment)...)
	}
	if c.key == "" {
		c.key = flat(plain)
	}
	c.key = strings.Clone(reduce(c.key, 100))
	if c.class == "commit" {
		c.subject = subject(line)
	}
	return c
}

func isAssignment(word string) bool {
	return strings.Contains(word, "=") && assignment.MatchString(word)
}

func isWrapper(word string) bool {
	switch word {
	case "sudo", "time", "env", "nohup", "npx", "bunx", "command", "exec", "then", "do", "(", "{", "!", "if", "timeout":
		return true
	}
	return word != "" && strings.Trim(word, "0123456789s") == ""
}

// classOf looks up the first words of a command, longest first.
func classOf(l *lexicon, args []string) (class, head string) {
	start := append([]string{path.Base(args[0])}, args[1:min(len(args), 4)]...)
	if start[0] == "git" && len(args) > 3 && args[1] == "-C" {
		start = append([]string{"git"}, args[3:min(len(args), 6)]...)
	}
	first := strings.Join(start, " ")
	for n := len(start); n > 0; n-- {
		if class, ok := l.commands[first]; ok {
			return class, first
		}
		if base, kind, ok := strings.Cut(first, ":"); ok && n > 1 && !strings.Contains(kind, " ") {
			if class, ok := l.commands[base]; ok {
				return class, first
			}
		}
		first = first[:max(strings.LastIndexByte(first, ' '), 0)]
	}
	return "", ""
}

func (c command) isCheck() bool { return c.class == "test" || c.class == "build" || c.class == "lint" }

func indexOf(list []string, s string) int {
	for i, v := range list {
		if v == s {
			return i
		}
	}
	return len(list)
}

// withoutHeredocs drops the bodies of here documents.
func withoutHeredocs(line string) string {
	if !strings.Contains(line, "<<") {
		return line
	}
	var out []string
	end := ""
	for l := range strings.SplitSeq(line, "\n") {
		if end != "" {
			if strings.TrimSpace(l) == end {
				end = ""
			}
			continue
		}
		if m := heredoc.FindStringSubmatch(l); m != nil {
			end = m[1]
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// segments splits a command line at its operators outside of quotes.
func segments(line string) []string {
	var out []string
	start, quote := 0, byte(0)
	cut := func(i int) {
		if s := strings.TrimSpace(line[start:i]); s != "" && s[0] != '#' {
			out = append(out, s)
		}
		start = i + 1
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '|', c == ';', c == '\n', c == '&' && !fileDescriptor(line, i):
			cut(i)
		}
	}
	cut(len(line))
	return out
}

// fileDescriptor reports the & of 2>&1 or &>file.
func fileDescriptor(line string, i int) bool {
	return i > 0 && line[i-1] == '>' || i+1 < len(line) && line[i+1] == '>'
}

// subject returns the first line of the message of a commit.
func subject(line string) string {
	m := messageArg.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	text := strings.TrimSpace(m[1] + m[2] + m[3])
	first, _, _ := strings.Cut(text, "\n")
	return reduce(flat(first), 160)
}

// shellTouches finds the files that a simple command obviously changes.
func shellTouches(args []string, segment string) []touch {
	var out []touch
	operands := operandsOf(args)
	head := args[0]
	if head == "git" && len(args) > 1 && (args[1] == "mv" || args[1] == "rm") {
		head, operands = args[1], operandsOf(args[1:])
	}
	switch {
	case head == "rm":
		for _, o := range operands {
			out = append(out, touch{o, deletes})
		}
	case head == "mv" && len(operands) == 2:
		out = append(out, touch{operands[0], moves}, touch{operands[1], creates})
	case head == "cp" && len(operands) == 2:
		out = append(out, touch{operands[1], creates})
	case head == "touch" || head == "tee":
		for _, o := range operands {
			out = append(out, touch{o, writes})
		}
	}
	if target := redirected(segment); target != "" && (head != "echo" || strings.Contains(target, ".")) {
		out = append(out, touch{target, writes})
	}
	return slices.DeleteFunc(out, func(t touch) bool { return !isPath(t.path) })
}

// redirected returns the file that output of a simple command goes to.
func redirected(segment string) string {
	if !strings.Contains(segment, ">") {
		return ""
	}
	m := redirect.FindStringSubmatch(segment)
	if m == nil {
		return ""
	}
	return m[1]
}

func operandsOf(args []string) []string {
	var out []string
	for _, a := range args[1:] {
		if !strings.HasPrefix(a, "-") && !strings.ContainsAny(a, "<>") {
			out = append(out, strings.Trim(a, `"'`))
		}
	}
	return out
}

// isPath leaves out what only the shell could resolve, devices and scratch.
func isPath(s string) bool {
	return s != "" && !strings.ContainsAny(s, "*?$`{}()[]\"'=\\;,") &&
		!strings.HasPrefix(s, "/dev/") && !strings.HasPrefix(s, "/tmp/") && !strings.HasPrefix(s, "&")
}
