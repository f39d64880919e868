package main

import (
	"io"
	"os"
	"slices"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"

	"rocstress/harness"
)

// bar is a progress on a terminal: one bar that is redrawn.
type bar struct {
	counts *counter
	all    *mpb.Progress
	one    *mpb.Bar
}

// newBar draws on w, which is a terminal.
func newBar(w io.Writer, planned int, opts ...mpb.ContainerOption) *bar {
	b := &bar{counts: newCounter(planned)}
	b.all = mpb.New(append([]mpb.ContainerOption{mpb.WithOutput(w), mpb.WithWidth(barWidth)}, opts...)...)
	b.one = b.all.AddBar(int64(planned), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.counts.String() })))
	return b
}

// barWidth leaves the rest of a terminal of 80 columns to the counts.
const barWidth = 20

func (b *bar) observe(p harness.Progress) {
	b.counts.add(p)
	b.one.SetCurrent(int64(p.Done))
}

func (b *bar) line(text string) {
	// It fails after stop only, when nobody calls it.
	_, _ = io.WriteString(b.all, text+"\n")
}

func (b *bar) stop() {
	b.one.Abort(true)
	b.all.Wait()
}

// canRedraw reports whether w is a terminal with a size, on which a line can
// be drawn over. env is that of the process.
func canRedraw(w io.Writer, env []string) bool {
	f, ok := w.(*os.File)
	if !ok || slices.Contains(env, "TERM=dumb") {
		return false
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil && size.Col > 0
}
