// Command stress makes the concurrency bugs of a ROCm backend countable: it
// runs scenarios in fresh child processes, as they are and with a safeguard
// removed, checks every result exactly, and says what the counts mean.
package main

import (
	"context"
	"os"

	"rocstress/childproc"
	"rocstress/rocm/open"
	"rocstress/scenarios"
)

func main() {
	childproc.Main(entries())
	os.Exit(withSignals(os.Args[1:]))
}

func withSignals(args []string) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	return run(ctx, args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)
}

// entries are what this binary does as a child of itself.
func entries() map[string]childproc.Entry {
	return map[string]childproc.Entry{
		scenarios.EntryName: scenarios.Entry(open.Open),
		entryProbe:          probe,
	}
}
