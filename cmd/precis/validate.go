package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/jobs/inspect"
	"github.com/precis-dev/precis/jobs/validate"
)

func (c *cli) validateVerb() *cobra.Command {
	var strict bool
	verb := &cobra.Command{
		Use:   "validate SESSION...",
		Short: "Check session files",
		Long: `validate checks session files against the rules that a client and a model's
server hold them to. Each finding is a line, FILE:LINE: severity rule: message,
and below it what to do. Nothing is written.

An error means that the session does not resume, or not whole; a warning, that it
does, but not as one would think; a note is worth knowing.

A file without a pointer to its last message is a warning, for older clients wrote
none. --strict-resume makes it an error.

With --json: {"ok", "files": [{"file", "ok", "findings": [...]}]}.

EXIT STATUS
  0    no errors
  1    an error was found, or a file cannot be read
  2    the command line is wrong
  130  interrupted`,
		Example: `  precis validate session.jsonl
  precis validate *.jsonl --json
  precis validate --strict-resume session.jsonl`,
		Args: atLeastOne("session file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.validate(cmd.Context(), args, strict)
		},
	}
	verb.Flags().BoolVar(&strict, "strict-resume", false, "a pointer that is absent or names no message is an error")
	return verb
}

// validated is one file's outcome; of one that could not be read, the error.
type validated struct {
	*validate.File
	file string
	err  error
}

// MarshalJSON gives a file that could not be read the members of any other, and
// its error.
func (v validated) MarshalJSON() ([]byte, error) {
	if v.err == nil {
		return json.Marshal(v.File)
	}
	return json.Marshal(map[string]any{"file": v.file, "ok": false, "findings": []any{}, "error": describe(v.err)})
}

func (v validated) ok() bool { return v.err == nil && v.File.OK }

func (c *cli) validate(ctx context.Context, files []string, strict bool) error {
	all, err := c.validateAll(ctx, files, strict)
	if err != nil {
		return err
	}
	ok := true
	for _, f := range all {
		ok = ok && f.ok()
	}
	if c.json {
		err = writeJSON(c.out, map[string]any{"ok": ok, "files": all})
	} else {
		err = c.tellValidated(all)
	}
	if err == nil && !ok {
		return exitError(exitFailed)
	}
	return err
}

// validateAll goes on past a file that cannot be read, but not past an
// interruption.
func (c *cli) validateAll(ctx context.Context, files []string, strict bool) ([]validated, error) {
	watch := c.watch()
	defer watch.stop()
	all := []validated{}
	for _, file := range files {
		progress, done := watch.file(file)
		f, err := validate.Check(ctx, c.fs, file, progress)
		done()
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		if err == nil && strict {
			demandPointer(f)
		}
		all = append(all, validated{f, file, err})
	}
	return all, nil
}

// demandPointer makes errors of the findings that an older client's file may
// have.
func demandPointer(f *validate.File) {
	for i := range f.Findings {
		if rule := f.Findings[i].Rule; rule == "absent" || rule == "malformed" {
			f.Findings[i].Severity = "error"
			f.OK = false
		}
	}
}

// tellValidated prints a line a finding, for people and for grep alike.
func (c *cli) tellValidated(all []validated) error {
	p, severities := c.page(), map[string]int{}
	good := 0
	for _, v := range all {
		if v.err != nil {
			t := describe(v.err)
			severities["error"]++
			p.finding(v.file, 0, "error", t.Class, t.Message, t.Next)
			continue
		}
		for _, f := range v.Findings {
			severities[string(f.Severity)]++
			p.finding(v.file, f.Line, string(f.Severity), f.Rule, f.Message, f.Fix)
			if len(f.Turns) > 0 && c.own(v.file) {
				p.lostTurns(f.Turns)
			}
		}
		if v.ok() {
			good++
		}
		if len(v.Findings) == 0 && !c.quiet {
			p.printf("%s: %s\n", visible(v.file), p.paint("ok"))
		}
	}
	if !c.quiet {
		p.printf("%s, %s ok%s\n", counted(len(all), "file", "files"), count(good), listed(severities))
	}
	return p.err
}

// lostTurns tells below a finding which turns it is about.
func (p *page) lostTurns(turns []inspect.Turn) {
	for _, text := range firstWords(turns) {
		p.printf("    %s\n", visible(text))
	}
}

func (p *page) finding(file string, line int, severity, rule, message, fix string) {
	place := visible(file)
	if line > 0 {
		place = fmt.Sprintf("%s:%d", place, line)
	}
	p.printf("%s: %s %s: %s\n", place, p.paint(severity), rule, visible(message))
	if fix != "" {
		p.printf("    fix: %s\n", visible(fix))
	}
}

// listed counts findings in words, worst first.
func listed(severities map[string]int) string {
	var b strings.Builder
	for _, s := range []string{"error", "warning", "note"} {
		if n := severities[s]; n > 0 {
			b.WriteString(", " + counted(n, s, s+"s"))
		}
	}
	return b.String()
}
