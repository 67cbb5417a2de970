package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/spec"
)

func (c *cli) checkVerb() *cobra.Command {
	var set []string
	verb := &cobra.Command{
		Use:   "check JOB...",
		Short: "Check job files",
		Long: `check reads job files and reports everything that is wrong with them at once,
each as file:line:col with the line and what to do: what is no job, and what this
version cannot do. No session is read.

With --json: {"ok", "files": [{"file", "ok", "problems": [...]}]}.

EXIT STATUS
  0    every job can be run
  2    a job has problems, cannot be read, or the command line is wrong`,
		Example: `  precis check fold.yaml
  precis check jobs/*.yaml --json
  precis check fold.yaml --set budgets.tokens=80000`,
		Args: atLeastOne("job file"),
		RunE: func(_ *cobra.Command, args []string) error { return c.check(args, set) },
	}
	addSet(verb, &set)
	return verb
}

func addSet(verb *cobra.Command, set *[]string) {
	verb.Flags().StringArrayVar(set, "set", nil, "change a field of the job before it is checked: `FIELD=VALUE`, such as budgets.tokens=80000 (repeatable)")
}

// checked is what is wrong with one job file.
type checked struct {
	File     string        `json:"file"`
	OK       bool          `json:"ok"`
	Problems spec.Problems `json:"problems"`
}

func (c *cli) check(files, set []string) error {
	all, ok := []checked{}, true
	for _, file := range files {
		_, err := c.load(file, set)
		problems, err := problemsOf(err)
		if err != nil {
			return err
		}
		all = append(all, checked{file, len(problems) == 0, problems})
		ok = ok && len(problems) == 0
	}
	if err := c.tellChecked(all, ok); err != nil {
		return err
	}
	if !ok {
		return exitError(exitUsage)
	}
	return nil
}

func (c *cli) tellChecked(all []checked, ok bool) error {
	if c.json {
		return writeJSON(c.out, map[string]any{"ok": ok, "files": all})
	}
	for _, f := range all {
		if err := f.Problems.WriteText(c.out); err != nil {
			return err
		}
		if f.OK && !c.quiet {
			if _, err := fmt.Fprintf(c.out, "%s: ok\n", visible(f.File)); err != nil {
				return err
			}
		}
	}
	return nil
}

// load reads a job. A file that cannot be read is a problem of the command line.
func (c *cli) load(file string, set []string) (*spec.Job, error) {
	job, err := spec.Load(c.fs, file, set)
	var problems spec.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, usagef("check the path; precis init compress prints a job to begin with", "%s", err.Error())
	}
	return job, err
}

// problemsOf takes the problems of a job out of an error.
func problemsOf(err error) (spec.Problems, error) {
	problems := spec.Problems{}
	if errors.As(err, &problems) {
		return problems, nil
	}
	return problems, err
}
