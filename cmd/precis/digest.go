package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs/compress"
	"github.com/precis-dev/precis/spec"
)

func (c *cli) digestVerb() *cobra.Command {
	var set []string
	var canonical bool
	verb := &cobra.Command{
		Use:   "digest JOB",
		Short: "Print a job's digest",
		Long: `digest prints the SHA-256 of the canonical form of a job: RFC 8785 JSON with every
default filled in. Comments, key order, quoting, layout and spelled-out defaults
do not change it; anything that changes what the job says does.

--canonical prints the canonical form itself, which is a job file too.

With --json: {"spec", "request"}. The request digest leaves out names, paths,
workers and publication: it changes with what is selected or shown to the author
of a summary, and with the versions and word lists of this program.

EXIT STATUS
  0    printed
  1    the handoff file of the job cannot be read
  2    the job has problems, cannot be read, or the command line is wrong`,
		Example: `  precis digest fold.yaml
  precis digest fold.yaml --set budgets.tokens=80000
  precis digest fold.yaml --canonical > fold.json`,
		Args: between(1, 1, "one job file"),
		RunE: func(_ *cobra.Command, args []string) error {
			job, err := c.load(args[0], set)
			if err != nil {
				return c.failedJob(err)
			}
			return c.digest(job, canonical)
		},
	}
	addSet(verb, &set)
	verb.Flags().BoolVar(&canonical, "canonical", false, "print the canonical form instead")
	return verb
}

func (c *cli) digest(job *spec.Job, canonical bool) error {
	switch {
	case canonical:
		_, err := fmt.Fprintf(c.out, "%s\n", job.Canonical())
		return err
	case !c.json:
		_, err := fmt.Fprintln(c.out, job.Digest())
		return err
	}
	handoff, err := c.handoff(job)
	if err != nil {
		return err
	}
	return writeJSON(c.out, map[string]string{"spec": job.Digest(), "request": compress.Request(job, handoff)})
}

// handoff is the SHA-256 of the job's handoff file.
func (c *cli) handoff(job *spec.Job) (string, error) {
	if job.Input.Handoff == "" {
		return "none", nil
	}
	path := job.Resolve(job.Input.Handoff)
	_, sum, err := fsys.Sum(c.fs, path)
	if err != nil {
		return "", &step.Refusal{Class: "handoff-unreadable", Message: "the handoff file cannot be read", Place: step.Place{File: path}, Err: err}
	}
	return sum, nil
}

// failedJob prints the problems of a job on standard error, or as JSON.
func (c *cli) failedJob(err error) error {
	problems, err := problemsOf(err)
	if err != nil {
		return err
	}
	if c.json {
		err = writeJSON(c.out, map[string]any{"ok": false, "problems": problems, "exit": exitUsage})
	} else {
		err = problems.WriteText(c.errOut)
	}
	if err != nil {
		return err
	}
	return exitError(exitUsage)
}
