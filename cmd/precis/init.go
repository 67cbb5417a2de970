package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs"
)

func (c *cli) initVerb() *cobra.Command {
	var file string
	verb := &cobra.Command{
		Use:   "init KIND",
		Short: "Print a job file to begin with",
		Long: `init prints a complete, commented job file of a kind. With --out it is written to
a new file; one that exists is left alone.

Paths in a job file are relative to the file: set input.sessions and publish.path
to yours, then run precis check.

With --json: {"kind", "file"} after writing, {"kind", "job"} with the text
otherwise.

EXIT STATUS
  0    printed or written
  1    the file exists or cannot be written
  2    there is no such kind, or the command line is wrong`,
		Example: `  precis init compress
  precis init compress --out fold.yaml`,
		Args:              between(1, 1, "one kind of job"),
		ValidArgsFunction: cobra.FixedCompletions(kinds(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(_ *cobra.Command, args []string) error { return c.init(args[0], file) },
	}
	verb.Flags().StringVarP(&file, "out", "o", "", "write to this new `FILE`")
	return verb
}

func kinds() []string {
	var names []string
	for _, k := range jobs.Kinds(jobs.World{}) {
		names = append(names, k.Name())
	}
	return names
}

func (c *cli) init(kind, file string) error {
	text, ok := jobs.Example(kind)
	switch {
	case !ok:
		return usagef("one of "+strings.Join(kinds(), ", "), "there is no kind of job %q", kind)
	case file != "":
		return c.initFile(kind, file, text)
	case c.json:
		return writeJSON(c.out, map[string]string{"kind": kind, "job": string(text)})
	}
	_, err := c.out.Write(text)
	return err
}

func (c *cli) initFile(kind, file string, text []byte) error {
	err := fsys.WriteNew(c.fs, file, text)
	if errors.Is(err, fs.ErrExist) {
		return &step.Refusal{
			Class: "output-exists", Message: "the file exists and is left as it is",
			Place: step.Place{File: file}, Next: "choose another name, or remove it first",
		}
	}
	if err == nil {
		err = fsys.SyncDir(c.fs, filepath.Dir(file))
	}
	switch {
	case err != nil:
		return err
	case c.json:
		return writeJSON(c.out, map[string]string{"kind": kind, "file": file})
	case c.quiet:
		return nil
	}
	_, err = fmt.Fprintf(c.out, "%s: written; set its paths, then: precis check %[1]s\n", visible(file))
	return err
}
