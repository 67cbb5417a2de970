package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/jobs/compress"
)

// versions are the four version domains: a change of one does not imply a change
// of another.
type versions struct {
	Package string `json:"package"`
	Engine  string `json:"engine"`
	Pack    int    `json:"pack"`
	Report  int    `json:"report"`
}

func (c *cli) versionVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions",
		Long: `version prints the four versions that mean something by themselves:

  package  of this program, as it was built
  engine   of the format of what is written into a session
  pack     of what the author of a summary reads
  report   of report.json

EXIT STATUS
  0    printed
  2    the command line is wrong`,
		Example: `  precis version
  precis version --json`,
		Args: between(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			v := versions{packageVersion(), compress.EngineVersion, compress.PackVersion, compress.ReportVersion}
			if c.json {
				return writeJSON(c.out, v)
			}
			_, err := fmt.Fprintf(c.out, "precis %s\nengine %s\npack %d\nreport %d\n", v.Package, v.Engine, v.Pack, v.Report)
			return err
		},
	}
}

// packageVersion is what the Go command recorded when it built the program.
func packageVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return strings.Trim(info.Main.Version, "()")
}
