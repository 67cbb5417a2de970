package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/precis-dev/precis/fsys"
)

// cli is what all verbs share: the world, and the flags that stand everywhere.
type cli struct {
	out, errOut io.Writer
	fs          afero.Fs
	dir         string // the working directory; "" when it is not known
	width       int    // columns of a terminal at out
	errWidth    int    // columns of a terminal at errOut; 0 for none
	loose       bool   // out is no terminal
	color       bool   // out takes colour
	bars        bool   // errOut takes progress bars
	collects    bool   // the garbage collector is ours to set

	json, quiet, verbose bool
	state                string
}

// defaultState is the state folder, in the working directory.
const defaultState = ".precis"

// plainWidth is the width of what is no terminal, so that output in files and
// pipes does not depend on where it was made.
const plainWidth = 80

func newCLI(out, errOut *os.File, getenv func(string) string) *cli {
	c := &cli{out: out, errOut: errOut, fs: fsys.OS(), width: plainWidth, loose: !term.IsTerminal(int(out.Fd()))}
	if dir, err := os.Getwd(); err == nil {
		c.dir = dir
	}
	if !c.loose {
		c.color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(int(out.Fd())); err == nil && w > 0 {
			c.width = w
		}
	}
	if term.IsTerminal(int(errOut.Fd())) {
		c.bars = getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(int(errOut.Fd())); err == nil {
			c.errWidth = w
		}
	}
	return c
}

// execute runs the verb that the arguments name and gives the exit code.
func (c *cli) execute(ctx context.Context, args []string) int {
	// An error in the flags must be told as JSON too, though they are not read.
	before, _, _ := strings.Cut(strings.Join(args, "\x00")+"\x00", "\x00--\x00")
	c.json = slices.Contains(strings.Split(before, "\x00"), "--json")
	root := c.root()
	root.SetArgs(args)
	return c.fail(root.ExecuteContext(ctx))
}

const about = `precis runs jobs on the session files (JSONL) that coding agents leave: it folds
the older part of a long session into one summary, checks a session against the
rules its client holds it to, and says what is in one.

A job is a YAML file that stands in version control beside what it is for. The
same job on the same session gives the same bytes, on any machine. A session is
never changed in place by a job that publishes candidates: the result is a new
file, complete and verified, or there is none. A job that replaces a session keeps
the old one as a backup. Every run is on record: it can be resumed after a crash,
replayed, and shown.

EXIT STATUS
  0    done, or up to date, or nothing wrong found
  1    refused, failed, or an error was found; nothing was published
  2    a mistake in the command line or in a job file
  3    a file was changed, but what had to follow failed
  4    a summary is waited for
  5    a replay came out otherwise than its run
  130  interrupted; nothing half-written is left

With several items: 0 if all ended in 0, else the smallest other code.`

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "precis",
		Short: "Declarative jobs on the session transcripts of coding agents",
		Long:  about,
		Example: `  precis init compress --out fold.yaml
  precis check fold.yaml
  precis run fold.yaml`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
		PersistentPreRunE: c.checkState,
		RunE:              unknownVerb,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetUsageTemplate(usageTemplate)
	root.SetOut(c.out)
	root.SetErr(c.errOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef(cmd.CommandPath()+" --help lists the flags", "%s", err.Error())
	})
	f := root.PersistentFlags()
	f.BoolVar(&c.json, "json", c.json, "print JSON on standard output, and nothing else there")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "no progress; print only what needs attention")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "log what is done, on standard error")
	f.StringVar(&c.state, "state", defaultState, "keep the records of runs in this folder, `DIR`")
	root.SetHelpCommand(helpVerb(root))
	root.AddCommand(c.runVerb(), c.planVerb(), c.resumeVerb(), c.replayVerb(), c.restoreVerb(), c.runsVerb(), c.showVerb(), c.checkSummaryVerb(), c.checkVerb(), c.digestVerb(), c.schemaVerb(), c.initVerb(),
		c.inspectVerb(), c.validateVerb(), c.versionVerb(), c.completionVerb())
	return root
}

// checkState refuses a state folder without a name: its records would lie loose in
// the working directory.
func (c *cli) checkState(*cobra.Command, []string) error {
	if c.state == "" {
		return usagef("name a folder, or leave --state out for .precis", "--state names no folder")
	}
	return nil
}

// usageTemplate follows what a verb's help says about it.
const usageTemplate = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} VERB [flags]{{else}}{{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Verbs:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of every verb:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
`

// helpVerb prints the help of another verb.
func helpVerb(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Print the help of a verb",
		Long: `help prints what a verb does, with its flags and its exit codes, as --help does.

EXIT STATUS
  0    printed
  2    there is no such verb`,
		Example: `  precis help run`,
		Args:    between(0, 1, "at most one verb"),
		RunE: func(_ *cobra.Command, args []string) error {
			if verb, rest, err := root.Find(args); err == nil && len(rest) == 0 {
				verb.InitDefaultHelpFlag()
				return verb.Help()
			}
			return unknownVerb(root, args)
		},
	}
}

// unknownVerb is what is left when no verb has the first argument's name.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	next := "precis --help lists the verbs"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		next = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef(next, "there is no verb %q", args[0])
}

// atLeastOne demands an argument, which the message calls by the name.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef(cmd.CommandPath()+" --help shows how it is used", "%s needs a %s", cmd.CommandPath(), name)
		}
		return nil
	}
}

// between demands a number of arguments, which the message calls by the name.
func between(least, most int, name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef(cmd.CommandPath()+" --help shows how it is used", "%s takes %s, not %d arguments", cmd.CommandPath(), name, len(args))
		}
		return nil
	}
}

// log is for what happens beside the verb's own output.
func (c *cli) log() hclog.Logger {
	level := hclog.Warn
	if c.verbose {
		level = hclog.Debug
	}
	return hclog.New(&hclog.LoggerOptions{Name: "precis", Level: level, Output: c.errOut})
}
