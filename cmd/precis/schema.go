package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/schemas"
)

func (c *cli) schemaVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print a JSON Schema",
		Long: `schema prints one of the JSON Schemas (draft 2020-12) that are part of the
program: those of the job files, for editors, and those of the documents it
writes. Without a name it lists them.

EXIT STATUS
  0    printed
  2    there is no such schema, or the command line is wrong`,
		Example: `  precis schema
  precis schema job.compress > job.compress.schema.json`,
		Args:              between(0, 1, "at most one name"),
		ValidArgsFunction: cobra.FixedCompletions(schemas.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.listSchemas()
			}
			text, ok := schemas.Get(args[0])
			if !ok {
				return usagef("one of "+strings.Join(schemas.Names(), ", "), "there is no schema %q", args[0])
			}
			_, err := c.out.Write(text)
			return err
		},
	}
}

func (c *cli) listSchemas() error {
	if c.json {
		return writeJSON(c.out, schemas.Names())
	}
	_, err := fmt.Fprintln(c.out, strings.Join(schemas.Names(), "\n"))
	return err
}
