package childproc

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// leakWait is how long a pipe may stay open after the end of the child
	// before it counts as leaked. The last bytes are there already; all that
	// takes time is the end of processes that ended together with the child.
	leakWait = 200 * time.Millisecond
	// restWait is how long Run waits for pipes after it has killed the group.
	restWait = 500 * time.Millisecond
)

// child is one running child and all that listens to it.
type child struct {
	spec   Spec
	cmd    command
	proc   *process
	drains []*drain
	kept   []*keeper // of stdout, stderr and events
	lines  *eventLines
}

// newChild starts draining the pipes: stdout, stderr and, of an entry, events.
// It takes over proc and r.
func newChild(s Spec, cmd command, proc *process, r []*os.File) *child {
	if s.Grace == 0 {
		s.Grace = DefaultGrace
	}
	if s.KeepBytes == 0 {
		s.KeepBytes = DefaultKeepBytes
	}
	c := &child{spec: s, cmd: cmd, proc: proc, lines: &eventLines{on: s.OnEvent}}
	for i, f := range r {
		k := &keeper{max: s.KeepBytes}
		d := &drain{r: f, sink: c.sink(Stream(i), k), end: func() {}, done: make(chan struct{})}
		if Stream(i) > Stderr {
			d.end = c.lines.finish
		}
		c.kept, c.drains = append(c.kept, k), append(c.drains, d)
		go d.run()
	}
	return c
}

// sink returns where the bytes of one pipe go. The events pipe comes after the
// two streams.
func (c *child) sink(s Stream, k *keeper) func([]byte) {
	switch {
	case s > Stderr:
		return func(b []byte) { k.write(b); c.lines.feed(b) }
	case c.spec.Observe == nil:
		return k.write
	default:
		return func(b []byte) { k.write(b); c.spec.Observe(s, b) }
	}
}

// supervise sees the child to its end. When it returns, every goroutine and
// descriptor of the child is gone.
func (c *child) supervise(ctx context.Context) Exit {
	e := Exit{PID: c.proc.pid, Env: c.cmd.env}
	l := ladder{
		deadline: c.spec.Deadline,
		grace:    c.spec.Grace,
		killWait: killWait,
		first:    unix.SIGABRT,
		group:    true,
		began:    c.proc.began,
		evidence: func() Evidence { return collectEvidence(c.proc.pid, c.proc.began, c.proc.done()) },
	}
	if c.cmd.entry {
		// Programs that the entry started have no Go runtime to answer
		// SIGQUIT with a dump: they go with the group.
		l.first, l.group = unix.SIGQUIT, false
	}
	l.climb(ctx, c.proc, &e)
	if e.Unkillable {
		c.proc.abandon(&e)
	} else {
		e.LeakedPipes = !c.drainedWithin(leakWait) && c.held()
		// The zombie keeps the number of its group from being given to others
		// until it is reaped.
		c.proc.signal(unix.SIGKILL, true)
		c.proc.reap(&e)
		c.drainedWithin(restWait)
	}
	c.proc.close()
	c.join()
	c.report(&e)
	return e
}

// drainedWithin reports whether all pipes came to their end within d.
func (c *child) drainedWithin(d time.Duration) bool {
	until := time.Now().Add(d)
	for _, p := range c.drains {
		if !endsWithin(p.done, time.Until(until)) {
			return false
		}
	}
	return true
}

func (c *child) held() bool {
	for _, p := range c.drains {
		if p.held() {
			return true
		}
	}
	return false
}

func (c *child) join() {
	for _, p := range c.drains {
		p.stop()
	}
	for _, p := range c.drains {
		<-p.done
	}
}

func (c *child) report(e *Exit) {
	outs := []*Output{&e.Stdout, &e.Stderr, &e.Events}
	for i, k := range c.kept {
		*outs[i] = k.output()
	}
	e.BadEvents, e.BadEventSample = c.lines.bad, c.lines.sample
}
