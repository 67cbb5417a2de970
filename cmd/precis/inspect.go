package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/fsys"
	"github.com/precis-dev/precis/jobs/inspect"
)

func (c *cli) inspectVerb() *cobra.Command {
	var o inspect.Options
	verb := &cobra.Command{
		Use:   "inspect SESSION...",
		Short: "Show what is in session files",
		Long: `inspect says what is in a session file: which records a client would resume and
which hang beside them, what a compression would fold, what the file costs in
bytes and estimated tokens, why it is as big as it is, and what is wrong with it.
Likely credentials are counted by kind and line; their values are never shown.
Nothing is written.

What each known client would resume is predicted: where it ends and what it would
lose, with the first words of each lost turn where the file is your own. --resume
prints the conversation as the client would send it.

--chain agreed (the default) resolves the conversation from the last pointer of
the file and tells where the client's rules differ; --chain pointer from the
pointer alone; --chain client as the client does that --client names by its
version, or the newest one known; --chain leaf from the record that --leaf names.

With --json: one object for one file, a list of objects for several.

EXIT STATUS
  0    read, and no error was found
  1    an error was found, or a file cannot be read
  2    the command line is wrong
  130  interrupted`,
		Example: `  precis inspect session.jsonl
  precis inspect session.jsonl --json --uuids
  precis inspect session.jsonl --resume --client 2.1.197`,
		Args: atLeastOne("session file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkChain(o); err != nil {
				return err
			}
			return c.inspect(cmd.Context(), args, o)
		},
	}
	f := verb.Flags()
	f.StringVar(&o.Chain, "chain", "agreed", "`RULE` that resolves the conversation: agreed, pointer, client or leaf")
	f.StringVar(&o.Leaf, "leaf", "", "`UUID` of the record the conversation ends at, with --chain leaf")
	f.StringVar(&o.Client, "client", "", "`VERSION` of the client that will resume it; the newest one known by default")
	f.BoolVar(&o.UUIDs, "uuids", false, "list the records of the conversation, in its order; with --chain client those whose words are sent, in the order of the request")
	f.BoolVar(&o.Resume, "resume", false, "print the conversation as the client would send it, and nothing else")
	return verb
}

func checkChain(o inspect.Options) error {
	const next = "use --chain agreed, pointer or client, or --chain leaf with --leaf UUID"
	switch {
	case !slices.Contains([]string{"agreed", "pointer", "client", "leaf"}, o.Chain):
		return usagef(next, "there is no chain %q", o.Chain)
	case (o.Chain == "leaf") != (o.Leaf != ""):
		return usagef(next, "--chain leaf and --leaf go together")
	case o.Client != "" && !slices.Contains(inspect.Clients(), o.Client):
		return usagef("name one of "+strings.Join(inspect.Clients(), ", "), "the rules of client %s are not known", o.Client)
	}
	return nil
}

// inspected is one file's report; of one that could not be read, the error.
type inspected struct {
	report *inspect.Report
	file   string
	err    error
}

// json is what the file is told as.
func (i inspected) json() any {
	if i.err != nil {
		return map[string]any{"file": i.file, "error": describe(i.err)}
	}
	return i.report
}

func (i inspected) exit() int {
	if i.err != nil {
		return exitFailed
	}
	for _, f := range i.report.Findings {
		if f.Severity == "error" {
			return exitFailed
		}
	}
	return exitDone
}

func (c *cli) inspect(ctx context.Context, files []string, o inspect.Options) error {
	all, err := c.inspectAll(ctx, files, o)
	if err != nil {
		return err
	}
	if c.json {
		err = c.tellInspectedJSON(all)
	} else {
		err = c.tellInspected(all)
	}
	if err != nil {
		return err
	}
	code := exitDone
	for _, i := range all {
		code = worse(code, i.exit())
	}
	return ended(code)
}

// inspectAll goes on past a file that cannot be read, but not past an
// interruption.
func (c *cli) inspectAll(ctx context.Context, files []string, o inspect.Options) ([]inspected, error) {
	watch := c.watch()
	defer watch.stop()
	var all []inspected
	for _, file := range files {
		progress, done := watch.file(file)
		report, err := inspect.Inspect(ctx, c.fs, file, o, progress)
		done()
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		all = append(all, inspected{report, file, err})
	}
	return all, nil
}

func (c *cli) tellInspectedJSON(all []inspected) error {
	if len(all) == 1 {
		return writeJSON(c.out, all[0].json())
	}
	list := make([]any, len(all))
	for i := range all {
		list[i] = all[i].json()
	}
	return writeJSON(c.out, list)
}

func (c *cli) tellInspected(all []inspected) error {
	p := c.page()
	for i, in := range all {
		if i > 0 && in.err == nil {
			p.blank()
		}
		if in.err == nil && in.report.Resume != nil {
			p.resume(in.report)
			continue
		}
		if in.err != nil {
			c.complain(describe(in.err))
			continue
		}
		p.inspection(in.report, c.own(in.file))
	}
	return p.err
}

// own reports that a file is the user's own: only of such is text shown.
func (c *cli) own(file string) bool {
	o, ok := fsys.As[fsys.Owner](c.fs)
	if !ok {
		return false
	}
	own, err := o.Owned(file)
	return own && err == nil
}
