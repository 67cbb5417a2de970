// Command precis runs declarative jobs on the session transcripts of coding
// agents. Each verb has a file of its own, which reads flags, calls a package of
// this module, prints, and says how it ended; main maps that to an exit code.
//
// Rules of the output. What was asked for goes to standard output, everything
// else to standard error. With --json standard output holds one JSON document,
// or JSON lines where events are told, errors included. Text that comes out of a
// file is shown with its control characters escaped, and only status words have
// colour. No transcript text and no credential is ever printed.
package main

import (
	"context"
	"os"
	"runtime/debug"
)

func main() {
	ctx, stop := interruptible(context.Background(), os.Exit)
	c := newCLI(os.Stdout, os.Stderr, os.Getenv)
	c.collects = os.Getenv("GOGC") == ""
	if c.collects {
		debug.SetGCPercent(collectAt)
	}
	code := c.execute(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
