package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/spec"
)

// The exit codes that a verb decides; the engine has those of a run.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCommitted   = 3
	exitWaiting     = 4
	exitDiffers     = 5
	exitInterrupted = 130
)

// exitError ends a verb that has told everything already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// ended is nil for 0.
func ended(code int) error {
	if code == exitDone {
		return nil
	}
	return exitError(code)
}

// worse joins the codes of several items: 0 if all are, else the smallest other.
func worse(a, b int) int {
	if a == exitDone || b == exitDone {
		return max(a, b)
	}
	return min(a, b)
}

// usageError is a mistake in the command line.
type usageError struct{ message, next string }

func (e *usageError) Error() string { return e.message }

func usagef(next, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), next}
}

// exitCode is what the process ends with after an error.
func exitCode(err error) int {
	var code exitError
	var usage *usageError
	var problems spec.Problems
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage), errors.As(err, &problems):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// trouble is an error as programs read it.
type trouble struct {
	Class   string     `json:"class"`
	Message string     `json:"message"`
	Place   step.Place `json:"place,omitzero"`
	Next    string     `json:"next,omitempty"`
}

func describe(err error) trouble {
	var usage *usageError
	var refusal *step.Refusal
	switch {
	case errors.As(err, &usage):
		return trouble{Class: "usage", Message: usage.message, Next: usage.next}
	case errors.As(err, &refusal):
		t := trouble{Class: refusal.Class, Message: refusal.Message, Place: refusal.Place, Next: refusal.Next}
		if refusal.Err != nil {
			t.Message += ": " + refusal.Err.Error()
		}
		t.Message = joined(t.Message)
		return t
	case errors.Is(err, context.Canceled):
		return trouble{Class: "interrupted", Message: "interrupted; nothing half-written is left"}
	}
	return trouble{Class: "failed", Message: joined(err.Error())}
}

// joined is the message of several errors, [errors.Join] sets them in lines, as one
// line.
func joined(message string) string { return strings.ReplaceAll(message, "\n", "; ") }

// fail tells an error that no verb has told, and gives its exit code.
func (c *cli) fail(err error) int {
	code := exitCode(err)
	var told exitError
	if err == nil || errors.As(err, &told) {
		return code
	}
	t := describe(err)
	if c.json {
		_ = writeLine(c.out, map[string]any{"error": t, "exit": code}) // a line, for it may follow events
		return code
	}
	c.complain(t)
	return code
}

// complain prints an error for people.
func (c *cli) complain(t trouble) {
	if t.Class == "interrupted" && c.bars {
		fmt.Fprintln(c.errOut) // the terminal has written ^C
	}
	message := t.Message
	if at := t.place(); at != "" {
		message = at + ": " + message
	}
	c.say("precis: ", message)
	if t.Next != "" {
		c.say("  next: ", t.Next)
	}
}

// place is where the trouble is; in a journal, to the byte.
func (t trouble) place() string {
	at := t.Place.String()
	if t.Place.Byte > 0 || t.Place.Line > 0 && strings.HasPrefix(t.Class, "journal-") {
		at += fmt.Sprintf(": byte %d", t.Place.Byte)
	}
	return at
}

// say prints a labelled text on standard error. It is wrapped on a terminal only:
// programs look for it line by line.
func (c *cli) say(label, text string) {
	lines := []string{visible(text)}
	if c.errWidth > 0 {
		lines = wrap(visible(text), min(max(c.errWidth, 40), maxText)-len(label))
	}
	for _, line := range lines {
		fmt.Fprintf(c.errOut, "%s%s\n", label, line)
		label = strings.Repeat(" ", len(label))
	}
}

// writeJSON writes one document, indented, without escapes made for HTML.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeLine writes a value as a line of JSON.
func writeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
