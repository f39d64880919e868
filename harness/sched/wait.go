package sched

import (
	"sync"
	"sync/atomic"
	"time"
)

// Cond is what WaitUntil sleeps on in a free run. The zero value is ready.
// Whoever changes something that a waiter's condition reads calls Wake after
// the change. A Cond must not be copied.
type Cond struct {
	waiters atomic.Int32
	mu      sync.Mutex
	ch      chan struct{} // guarded by mu; closed and replaced by Wake
}

// Wake lets every waiter look at its condition again. Controlled: a no-op,
// since the controller looks at conditions itself.
func (c *Cond) Wake(th *Thread) {
	if th.task != nil || c.waiters.Load() == 0 {
		return
	}
	c.mu.Lock()
	if c.ch != nil {
		close(c.ch)
		c.ch = nil
	}
	c.mu.Unlock()
}

func (c *Cond) channel() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ch == nil {
		c.ch = make(chan struct{})
	}
	return c.ch
}

// Bounds of the back-off with which WaitUntil polls where nobody can call
// Wake, as with a device behind a C library.
const (
	pollMin = 20 * time.Microsecond
	pollMax = time.Millisecond
)

// WaitUntil blocks th until cond holds. name says what is waited for, in
// deadlock reports and hang evidence. cond must have no side effect and must
// read its state through atomics. A nil c polls with back-off. Controlled: the
// task is disabled until cond holds.
func (th *Thread) WaitUntil(name string, c *Cond, cond func() bool) {
	th.waitUntil(name, c, 0, false, cond)
}

// WaitUntilDeadline is WaitUntil that gives up once Now reaches deadline. It
// reports whether cond held. Controlled: time runs out only where no other
// task can run.
func (th *Thread) WaitUntilDeadline(name string, c *Cond, deadline time.Duration, cond func() bool) bool {
	return th.waitUntil(name, c, deadline, true, cond)
}

func (th *Thread) waitUntil(name string, c *Cond, deadline time.Duration, bounded bool, cond func() bool) bool {
	if th.task != nil {
		return th.task.wait(name, deadline, bounded, cond)
	}
	if cond() {
		return true
	}
	if c == nil {
		return th.poll(deadline, bounded, cond)
	}
	c.waiters.Add(1)
	defer c.waiters.Add(-1)
	var expired <-chan time.Time
	if bounded {
		t := time.NewTimer(max(deadline-th.Now(), 0))
		defer t.Stop()
		expired = t.C
	}
	for {
		ch := c.channel()
		if cond() {
			return true
		}
		select {
		case <-ch:
		case <-expired: // nil without a deadline: never
			return cond()
		}
	}
}

func (th *Thread) poll(deadline time.Duration, bounded bool, cond func() bool) bool {
	for pause := pollMin; ; pause = min(pause*2, pollMax) {
		if cond() {
			return true
		}
		if bounded && th.Now() >= deadline {
			return false
		}
		time.Sleep(pause)
	}
}
