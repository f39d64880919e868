package main

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"rocstress/harness"
)

// untilSignal returns a context that ends at the first SIGINT or SIGTERM. At
// the second the process ends at once; its children notice and end too, and
// what was counted is in the results directory. The caller calls stop.
func untilSignal(ctx context.Context) (_ context.Context, stop func()) {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, unix.SIGINT, unix.SIGTERM)
	ctx, join := onSignals(ctx, ch, func() { os.Exit(harness.ExitInterrupted) })
	return ctx, func() {
		signal.Stop(ch)
		join()
	}
}

// onSignals ends the context it returns at the first signal on ch, and calls
// hard at the second. join ends it.
func onSignals(ctx context.Context, ch <-chan os.Signal, hard func()) (_ context.Context, join func()) {
	ctx, cancel := context.WithCancel(ctx)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for seen := 0; ; {
			select {
			case <-quit:
				return
			case <-ch:
				if seen++; seen == 1 {
					cancel()
				} else {
					hard()
					return
				}
			}
		}
	}()
	return ctx, func() {
		cancel()
		close(quit)
		<-done
	}
}
