package author

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Process is a program to run.
type Process struct {
	Args []string // the program first
	Dir  string
	Env  []string
	// Stdin is what the program reads.
	Stdin string
	// Stdout and Stderr take what it writes. An error of theirs ends the program.
	Stdout, Stderr func([]byte) error
}

// Exit is how a program ended.
type Exit struct {
	Code   int
	Killed bool // by a signal
	// Held says that something the program started kept its output open, and was
	// ended.
	Held bool
}

// command is a program that writes summaries.
type command struct {
	args    []string
	keyEnv  string
	env     []string
	timeout time.Duration
	dir     string
	world   World
}

// passed are the variables a command gets, where they are set: where programs,
// files and logins are, languages and times, how to reach the network and whom to
// trust there, and where the known clients keep their settings.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"CLAUDE_CONFIG_DIR", "CODEX_HOME", "OLLAMA_HOST",
	"SystemRoot", "ComSpec", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramData", "TEMP", "TMP",
}

// Write implements [Author].
func (c *command) Write(ctx context.Context, p Prompt) (Answer, error) {
	if _, err := lookup(c.world, c.keyEnv); err != nil {
		return Answer{}, err
	}
	limited, stop := limit(ctx, c.timeout)
	defer stop()
	o := &output{maxBytes: 8 * p.MaxChars, progress: c.world.Progress}
	exit, err := c.world.Run(limited, Process{
		Args: c.args, Dir: c.dir, Env: c.environ(), Stdin: script(p),
		Stdout: o.write, Stderr: o.count,
	})
	text := ""
	if limited.Err() != nil {
		err = context.Cause(limited)
	} else {
		text, err = o.text(exit, err)
	}
	return Answer{Text: text, Facts: Facts{Calls: 1, ErrorBytes: o.errorBytes}}, ended(ctx, limited, c.timeout, err)
}

// environ is the command's whole environment.
func (c *command) environ() []string {
	env := []string{"TERM=dumb", "NO_COLOR=1"}
	names := slices.Concat(passed, c.env)
	if c.keyEnv != "" {
		names = append(names, c.keyEnv)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if value, set := c.world.Getenv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// script is a conversation as one text.
func script(p Prompt) string {
	var b strings.Builder
	b.WriteString(p.Instructions + "\n\n" + p.Pack)
	for _, a := range p.Earlier {
		b.WriteString("\n\n# Your answer\n\n" + a.Answer + "\n\n# What the checker says\n\n" + a.Report)
	}
	return b.String()
}

// output takes what a command writes.
type output struct {
	b          strings.Builder
	chars      int
	maxBytes   int
	progress   func(Progress)
	errorBytes int64
}

func (o *output) write(p []byte) error {
	if o.b.Len()+len(p) > o.maxBytes {
		return errEndless
	}
	o.b.Write(p)
	for _, c := range p {
		if utf8.RuneStart(c) {
			o.chars++
		}
	}
	o.progress(Progress{Call: 1, Chars: o.chars})
	return nil
}

func (o *output) count(p []byte) error {
	o.errorBytes += int64(len(p))
	return nil
}

// text is the answer of a command that has ended.
func (o *output) text(exit Exit, err error) (string, error) {
	text := o.b.String()
	switch {
	case errors.Is(err, errEndless):
		return "", refuse(AnswerTooLong, "the command wrote several times as much as budgets.summaryChars")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return "", refuse(NoCommand, "the program of author.command cannot be found or started")
	case err != nil:
		return "", refuse(CommandFailed, "the command could not be run")
	case exit.Killed:
		return "", refuse(CommandKilled, "a signal ended the command (%d bytes of output, %d on standard error)", len(text), o.errorBytes)
	case exit.Code != 0:
		return "", refuse(CommandFailed, "the command ended with status %d (%d bytes of output, %d on standard error)", exit.Code, len(text), o.errorBytes)
	case exit.Held:
		return "", refuse(OutputHeld, "the command ended, and something it started kept its output open: the answer may lack its end")
	case strings.TrimSpace(text) == "":
		return "", refuse(NoAnswer, "the command wrote nothing (%d bytes on standard error)", o.errorBytes)
	case !utf8.ValidString(text):
		return "", refuse(CommandNoText, "the command wrote something else than UTF-8 text")
	}
	return text, nil
}
