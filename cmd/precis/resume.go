package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/engine"
)

func (c *cli) resumeVerb() *cobra.Command {
	var summaries []string
	verb := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was cut short, or that waits",
		Long: `resume goes on with a run that was interrupted, killed or cut off by a power
failure, to the same bytes that it would have left. What it had finished is
verified and not done again; a file that was being put in place is looked at, and
put in place or left as it was.

A run that waits for a summary takes it with --summary; the comment at the
beginning of each file says which evidence pack it was written from. A summary
that does not pass its check is told what is wrong with it, and the run still
waits. An author that failed is asked again; what was answered is not asked for
a second time.

A job that was changed since is refused, and so is a session: the message says
what changed. RUN is an id, the beginning of one, or last.

With --json: the events of the run, as for run.

EXIT STATUS
  0    every session is done or up to date, or was already
  1    a session was refused or failed, the run cannot be gone on with, or nothing
       waits for a summary that was given
  2    the job cannot be read any more, or the command line is wrong
  3    a file was changed, but what had to follow failed; of a replaced session
       the receipt is printed
  4    a summary is still waited for
  130  interrupted again; nothing half-written is left`,
		Example: `  precis resume last
  precis resume last --summary summary.md
  precis runs`,
		Args: between(1, 1, "a run"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.resume(cmd.Context(), args[0], summaries) },
	}
	verb.Flags().StringArrayVar(&summaries, "summary", nil, "a summary that the run waits for, in `FILE` (repeatable)")
	return verb
}

func (c *cli) resume(ctx context.Context, id string, summaries []string) error {
	e := c.engine()
	var o engine.Options
	for _, file := range summaries {
		text, err := c.readText(file)
		if err != nil {
			return err
		}
		o.Brought = append(o.Brought, engine.Brought{Name: file, Text: text})
	}
	result, err := c.execution(ctx, e, o, resuming, func(o engine.Options) (engine.Result, error) {
		return e.Resume(ctx, id, o)
	})
	if err != nil {
		return err
	}
	return ended(result.Exit)
}

func (c *cli) restoreVerb() *cobra.Command {
	var o engine.Options
	verb := &cobra.Command{
		Use:   "restore RUN [SESSION...]",
		Short: "Put replaced sessions back from their backups",
		Long: `restore puts back the sessions that a run replaced, or those of them that are
named. What stands there now is kept as a backup in its turn, so nothing is lost.
It demands --session-closed, your word that no client has the sessions open.

A session that was gone on with since the run is refused, unless --force: the new
part of it would be in the backup alone.

With --json: {"event": "run", "run", "exit", "items": [...]}.

EXIT STATUS
  0    the old sessions stand, or stood already
  1    a session was refused; nothing was changed for it
  3    a session was put back, but what had to follow failed
  130  interrupted`,
		Example: `  precis restore last --session-closed`,
		Args:    atLeastOne("run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.restore(cmd.Context(), args[0], args[1:], o)
		},
	}
	verb.Flags().BoolVar(&o.SessionClosed, "session-closed", false, "your word that no client has the sessions open")
	verb.Flags().BoolVar(&o.Force, "force", false, "put a session back that was gone on with, or seems to be open")
	return verb
}

func (c *cli) restore(ctx context.Context, id string, items []string, o engine.Options) error {
	e := c.engine()
	result, err := c.execution(ctx, e, o, restoring, func(o engine.Options) (engine.Result, error) {
		return e.Restore(ctx, id, items, o)
	})
	if err != nil {
		return err
	}
	return ended(result.Exit)
}
