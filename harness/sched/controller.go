package sched

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// controller is one controlled run. Everything in it belongs to whichever of
// Explore and the tasks runs: that is one at a time, and a switch orders memory.
type controller struct {
	rt       Runtime
	strategy Strategy
	maxSteps int

	live    []*task // not ended, by id
	running *task   // the task whose code runs
	next    *task   // picked by the running task; nil: the schedule has ended
	clock   time.Duration
	mutexes int // unnamed locks seen, to number them

	// What pick works with, kept so that a step allocates nothing.
	ready    []int // indices into live
	choices  []Choice
	choosing bool  // the Strategy runs
	judging  *task // whose condition runs; nil: none

	noSteps bool
	steps   []Step // nil with noSteps
	picked  []int  // the task of each step
	result  Schedule
	fault   any // what the Strategy panicked with
}

// pick lets the strategy choose the task to run next, or ends the schedule and
// returns nil. current is the task at whose switch point it does so, nil where
// a task has ended. It runs in current's coroutine: a task that is chosen again
// needs no switch.
func (c *controller) pick(current *task) (next *task) {
	if c.result.End != running {
		return nil
	}
	defer func() {
		if c.choosing || c.judging != nil {
			c.blame(recover())
			next = nil
		}
	}()
	if len(c.picked) >= c.maxSteps {
		c.stick(Livelock)
		return nil
	}
	at := c.collect(current)
	if len(c.ready) == 0 && !c.expire() {
		c.stick(Deadlock)
		return nil
	}
	c.choosing = true
	i := c.strategy.Next(State{Current: at, Enabled: c.choices, Step: len(c.picked)})
	if i < 0 || i >= len(c.ready) {
		panic(fmt.Sprintf("sched: the strategy picked %d of %d enabled tasks", i, len(c.ready)))
	}
	c.choosing = false
	next = c.live[c.ready[i]]
	c.picked = append(c.picked, next.thread.id)
	if !c.noSteps {
		c.steps = append(c.steps, Step{Task: next.thread.id, Name: next.thread.name, Op: next.op, At: next.at})
	}
	c.clock = max(c.clock, next.wake)
	return next
}

// collect finds the enabled tasks. It returns the id of current, or -1 where
// it is none of them.
func (c *controller) collect(current *task) (at int) {
	at = -1
	c.ready, c.choices = c.ready[:0], c.choices[:0]
	for i, t := range c.live {
		if !c.enabled(t) {
			continue
		}
		c.offer(i)
		if t == current {
			at = t.thread.id
		}
	}
	return at
}

func (c *controller) offer(i int) {
	t := c.live[i]
	c.ready = append(c.ready, i)
	c.choices = append(c.choices, Choice{ID: t.thread.id, Name: t.thread.name, Op: t.op, At: t.at})
}

func (c *controller) enabled(t *task) bool {
	switch t.op {
	case OpLock, OpRLock:
		return t.lock.free()
	case OpDrain:
		return len(t.lock.readers) == 0
	case OpWait:
		c.judging = t
		holds := t.cond()
		c.judging = nil
		return holds
	case OpJoin:
		return t.target.ended
	default:
		return true
	}
}

// expire offers the task whose deadline is the earliest, the lowest id first.
func (c *controller) expire() bool {
	first := -1
	for i, t := range c.live {
		if t.op == OpWait && t.bounded && (first < 0 || t.deadline < c.live[first].deadline) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	t := c.live[first]
	t.op, t.wake = OpTimeout, t.deadline
	c.offer(first)
	return true
}

// blame ends the schedule for a panic in the strategy or in a condition.
func (c *controller) blame(value any) {
	if c.choosing {
		c.fault = value
		c.finish(Panicked, nil)
		return
	}
	c.panicked(c.judging, value)
	c.judging = nil
}

func (c *controller) panicked(t *task, value any) {
	if c.result.End != running {
		return
	}
	c.finish(Panicked, t)
	c.result.Panic, c.result.Stack = value, string(debug.Stack())
}

func (c *controller) finish(end End, by *task) {
	c.result.End = end
	if by != nil && end != Done {
		c.result.Task = by.thread.id
	}
}

// stick ends the schedule where it cannot go on, and notes who waits.
func (c *controller) stick(end End) {
	for _, t := range c.live {
		if !c.enabled(t) {
			c.result.Blocked = append(c.result.Blocked, t.blocked())
		}
	}
	c.finish(end, nil)
}

func (c *controller) remove(t *task) {
	if i := slices.Index(c.live, t); i >= 0 {
		c.live = slices.Delete(c.live, i, i+1)
	}
}
