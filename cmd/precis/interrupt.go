package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible gives a context that the first SIGINT, SIGTERM or SIGHUP cancels. The
// second one ends the process at once: what a run leaves is safe at any instant,
// only a stage may stay behind. A SIGHUP that nohup keeps off stays so. SIGPIPE ends
// nothing: the write fails, and the run goes on to its end.
func interruptible(parent context.Context, exit func(int)) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		for range signals {
			if ctx.Err() != nil {
				exit(exitInterrupted)
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}
