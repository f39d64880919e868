package childproc

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killWait bounds the wait after SIGKILL. Tearing down an address space with
// hundreds of GiB of pinned device memory takes seconds; a thread stuck in a
// driver stays for ever.
const killWait = 10 * time.Second

// ladder says when and how a child is ended.
type ladder struct {
	deadline time.Duration // since began; 0: none
	grace    time.Duration
	killWait time.Duration
	first    syscall.Signal // makes the child dump its stacks
	group    bool           // first goes to the whole process group
	began    time.Time
	evidence func() Evidence // takes a moment; run before the first signal at the deadline
}

// target is what a ladder ends.
type target interface {
	done() <-chan struct{}
	signal(sig syscall.Signal, group bool)
}

// climb waits for t to end, ending it where it must, and notes in e what it
// did.
func (l ladder) climb(ctx context.Context, t target, e *Exit) {
	var deadline <-chan time.Time
	if l.deadline > 0 {
		timer := time.NewTimer(time.Until(l.began.Add(l.deadline)))
		defer timer.Stop()
		deadline = timer.C
	}
	reason := ReasonDeadline
	select {
	case <-t.done():
		return
	case <-ctx.Done():
		reason = ReasonCanceled
	case <-deadline:
		e.Evidence = l.evidence()
	}
	select {
	case <-t.done():
		return // by itself, after all
	default:
	}
	e.Killed, e.KillReason, e.KilledAt = true, reason, time.Since(l.began)
	for _, step := range []struct {
		sig   syscall.Signal
		group bool
		wait  time.Duration
	}{{l.first, l.group, l.grace}, {unix.SIGKILL, true, l.killWait}} {
		t.signal(step.sig, step.group)
		e.KillSignals = append(e.KillSignals, unix.SignalName(step.sig))
		if endsWithin(t.done(), step.wait) {
			return
		}
	}
	e.Unkillable = true
}

// endsWithin reports whether done is closed within d.
func endsWithin(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
