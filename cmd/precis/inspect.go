package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/jobs/inspect"
)

func (c *cli) inspectVerb() *cobra.Command {
	var o inspect.Options
	var client string
	verb := &cobra.Command{
		Use:   "inspect SESSION...",
		Short: "Show what is in session files",
		Long: `inspect says what is in a session file: which records a client would resume and
which hang beside them, what a compression would fold, what the file costs in
bytes and estimated tokens, why it is as big as it is, and what is wrong with it.
Likely credentials are counted by kind and line; their values are never shown.
Nothing is written.

--chain agreed (the default) resolves the conversation from the last pointer of
the file, with what the client's own compaction kept by reference; --chain pointer
from the pointer alone; --chain leaf from the record that --leaf names.

With --json: one object for one file, a list of objects for several.

EXIT STATUS
  0    read, and no error was found
  1    an error was found, or a file cannot be read
  2    the command line is wrong
  130  interrupted`,
		Example: `  precis inspect session.jsonl
  precis inspect session.jsonl --json --uuids
  precis inspect session.jsonl --chain leaf --leaf 36e1a85a-ab03-515e-9411-89570e3b6f78`,
		Args: atLeastOne("session file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkChain(o.Chain, client, o.Leaf); err != nil {
				return err
			}
			return c.inspect(cmd.Context(), args, o)
		},
	}
	f := verb.Flags()
	f.StringVar(&o.Chain, "chain", "agreed", "`RULE` that resolves the conversation: agreed, pointer or leaf")
	f.StringVar(&o.Leaf, "leaf", "", "`UUID` of the record the conversation ends at, with --chain leaf")
	f.StringVar(&client, "client", "", "client whose rules are followed")
	_ = f.MarkHidden("client")
	f.BoolVar(&o.UUIDs, "uuids", false, "list the records of the conversation, in its order")
	return verb
}

func checkChain(chain, client, leaf string) error {
	const next = "use --chain agreed or pointer, or --chain leaf with --leaf UUID"
	switch {
	case chain == "client", client != "":
		return usagef(next, "the client's own resolution is not available yet")
	case chain != "agreed" && chain != "pointer" && chain != "leaf":
		return usagef(next, "there is no chain %q", chain)
	case (chain == "leaf") != (leaf != ""):
		return usagef(next, "--chain leaf and --leaf go together")
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
		if in.err != nil {
			c.complain(describe(in.err))
			continue
		}
		p.inspection(in.report)
	}
	return p.err
}
