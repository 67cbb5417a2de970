package inuse

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// Check refuses a session that its client may still write to: one that a living
// client has registered or another process has open (session-open), and one that
// changed within quiet before now (session-recent). It refuses what [Locate] does,
// too. A quiet of 0 asks for no rest.
func Check(f afero.Fs, path string, quiet time.Duration, now time.Time) error {
	p, err := locate(f, path)
	if err != nil {
		return err
	}
	if err := registered(f, p); err != nil {
		return err
	}
	if err := held(f, p); err != nil {
		return err
	}
	return rested(p, quiet, now)
}

// held refuses a file that another process has open.
func held(f afero.Fs, p place) error {
	processes, ok := fsys.As[fsys.Processes](f)
	if !ok {
		return nil
	}
	pids, err := processes.OpenBy(p.path)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return open(p.path, "which processes have the file open cannot be told", "try again, or override with --force", err)
	case len(pids) > 0:
		return open(p.path, "other processes have the file open: "+list(pids), "end them, or override with --force", nil)
	}
	return nil
}

func list(pids []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(pids), " ", ", "), "[]")
}

// rested refuses a file that changed a short time ago. A time to come is of a
// clock that went wrong, and tells no rest.
func rested(p place, quiet time.Duration, now time.Time) error {
	age := now.Sub(p.info.ModTime())
	if quiet <= 0 || age >= quiet {
		return nil
	}
	when := plain(age.Round(time.Second)) + " ago"
	if age < 0 {
		when = plain((-age).Round(time.Second)) + " after now by this clock"
	}
	return &step.Refusal{
		Class: "session-recent", Place: step.Place{File: p.path},
		Message: fmt.Sprintf("the session changed %s, and publish.quiet asks for %s without a change", when, plain(quiet)),
		Next:    "end the client that has it open and wait, set publish.quiet, or override with --force",
	}
}

const closeIt = "end that client with /exit; if it is none, override with --force"

func open(path, message, next string, err error) error {
	return &step.Refusal{Class: "session-open", Message: message, Place: step.Place{File: path}, Next: next, Err: cause(err)}
}

// plain is a duration without the zeros that String adds: 15m, not 15m0s.
func plain(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
