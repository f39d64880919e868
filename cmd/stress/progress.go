package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"rocstress/harness"
	"rocstress/reports"
)

// progressEvery is how often a line is printed where there is no terminal.
const progressEvery = 5 * time.Second

// progress shows how far a campaign has come. Calls of observe follow each
// other; after stop nothing of it writes any more.
type progress interface {
	observe(harness.Progress)
	// line prints one line that stays, ahead of what is redrawn.
	line(text string)
	// stop ends it and joins its goroutines.
	stop()
}

// counter counts what a progress shows. Safe for concurrent use.
type counter struct {
	mu      sync.Mutex
	last    harness.Progress        // guarded by mu
	failed  map[harness.Outcome]int // guarded by mu
	nothing int                     // guarded by mu; children not measured
}

func newCounter(planned int) *counter {
	return &counter{last: harness.Progress{Planned: planned}, failed: map[harness.Outcome]int{}}
}

func (c *counter) add(p harness.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = p
	switch {
	case p.Record.Outcome.Failed():
		c.failed[p.Record.Outcome]++
	case !p.Record.Outcome.Measured():
		c.nothing++
	}
}

// String returns "120 of 400 children, 14.2/s, about 20s left; failed:
// wrong_result 17", without a line end.
func (c *counter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.last
	s := fmt.Sprintf("%d of %d children", p.Done, p.Planned)
	// What an earlier execution did says nothing of how fast this one is.
	if now := p.Done - p.Earlier; now > 0 && p.Elapsed > 0 {
		rate := float64(now) / p.Elapsed.Seconds()
		s += fmt.Sprintf(", %.3g/s", rate)
		if left := p.Planned - p.Done; left > 0 {
			eta := time.Duration(float64(left) / rate * float64(time.Second))
			s += ", about " + max(eta, time.Second).Round(time.Second).String() + " left"
		}
	}
	s += "; failed: " + outcomeCounts(c.failed)
	if c.nothing > 0 {
		s += fmt.Sprintf("; not measured: %d", c.nothing)
	}
	return s
}

func outcomeCounts(counts map[harness.Outcome]int) string {
	if len(counts) == 0 {
		return "none"
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b harness.Outcome) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(names))
	for i, o := range names {
		parts[i] = fmt.Sprintf("%s %d", o, counts[o])
	}
	return strings.Join(parts, ", ")
}

// lines is a progress where there is no terminal: one line at each tick, and
// nothing where nothing has happened since the last.
type lines struct {
	counts *counter
	out    *lineWriter
	end    func() // of the ticks
	quit   chan struct{}
	done   chan struct{}
}

// newLines prints to w at each tick; end stops the ticks. A nil ticks prints
// no progress.
func newLines(w io.Writer, planned int, ticks <-chan time.Time, end func()) *lines {
	l := &lines{counts: newCounter(planned), out: &lineWriter{w: w}, end: end, quit: make(chan struct{}), done: make(chan struct{})}
	go l.serve(ticks)
	return l
}

func (l *lines) serve(ticks <-chan time.Time) {
	defer close(l.done)
	shown := ""
	for {
		select {
		case <-l.quit:
			return
		case <-ticks:
			if now := l.counts.String(); now != shown {
				shown = now
				l.out.emit(now)
			}
		}
	}
}

func (l *lines) observe(p harness.Progress) { l.counts.add(p) }
func (l *lines) line(text string)           { l.out.emit(text) }

func (l *lines) stop() {
	l.end()
	close(l.quit)
	<-l.done
}

// lineWriter prints whole lines, one at a time. Whoever reads them may be
// gone: that is no reason to end a campaign.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (w *lineWriter) emit(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.w, text+"\n")
}

// failureLine names a failed child and the command that reruns it.
func failureLine(r harness.Record, reproduce string) string {
	return reports.Terminal(fmt.Sprintf("FAIL %s, %s, run %d, child %d: %s", r.Scenario, r.Arm, r.Run, r.Child, reports.Label(r.Outcome, r.Signature))) +
		"\n     reproduce: " + reproduce
}
