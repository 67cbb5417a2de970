package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible gives a context that the first SIGINT or SIGTERM cancels. The
// second one ends the process at once: what a run leaves is safe at any instant,
// only a stage may stay behind.
func interruptible(parent context.Context, exit func(int)) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
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
