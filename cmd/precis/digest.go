package main

import (
	"fmt"

	"github.com/spf13/cobra"

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
of a summary, the text of the job's handoff file included, and with the versions
and word lists of this program. The handoff file is read for it, and only for it.

EXIT STATUS
  0    printed
  1    with --json: the handoff file is missing, or is no text
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
	texts, err := compress.ReadTexts(c.fs, job)
	if err != nil {
		return err
	}
	request := compress.Request(job, texts)
	return writeJSON(c.out, map[string]string{"spec": job.Digest(), "request": request})
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
