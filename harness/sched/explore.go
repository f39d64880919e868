package sched

import (
	"fmt"
	"iter"
)

// DefaultMaxSteps is the step budget of a schedule: some hundred times what
// eight threads with a GEMM each need.
const DefaultMaxSteps = 20000

// Config says how Explore runs one schedule.
type Config struct {
	Strategy Strategy // required
	MaxSteps int      // steps before the schedule is a livelock; 0: DefaultMaxSteps
	// NoSteps leaves Schedule.Steps nil, most of what a schedule allocates.
	// Who looks through many schedules for a bad one needs its Choices only:
	// a replay of them has the Steps.
	NoSteps bool
}

// Explore runs root as task 0 of a controlled run, and every task started from
// it by Go, one at a time in the calling goroutine's turn: cfg.Strategy decides
// at every switch point which one goes on. The same decisions give the same
// Steps, if the code under it has no other source of chance.
//
// Switch points are Thread.Point, Sleep, Busy, WaitUntil and
// WaitUntilDeadline, Lock, RLock, Go and Join. Unlock and Wake are none. The
// clock is virtual and starts at 0; Sleep and deadlines alone move it.
//
// The schedule is over when root returns or a task crashes, panics or exceeds
// the budget, or when nothing can run. Every task left is then unwound: its
// switch point panics with a value of Explore's own, deferred functions run, in
// which Unlock neither switches nor panics, and any switch point panics again,
// so that code which recovers cannot go on. What they panic with meanwhile is
// dropped. Nothing of Explore is left behind when it returns.
//
// Explore panics where cfg.Strategy does or picks what is not there. A task
// must not lock its OS thread, and the caller should not have either. If a
// task calls runtime.Goexit, as testing's FailNow does, so does Explore.
func Explore(cfg Config, root func(th *Thread)) Schedule {
	if cfg.Strategy == nil {
		panic("sched: Explore without a Strategy")
	}
	if cfg.MaxSteps <= 0 {
		cfg.MaxSteps = DefaultMaxSteps
	}
	c := &controller{
		strategy: cfg.Strategy,
		maxSteps: cfg.MaxSteps,
		noSteps:  cfg.NoSteps,
		picked:   make([]int, 0, stepsHint),
		result:   Schedule{Task: -1},
	}
	if !cfg.NoSteps {
		c.steps = make([]Step, 0, stepsHint)
	}
	c.rt.ctl = c
	c.start("root", root)
	c.run()
	if c.fault != nil {
		panic(c.fault)
	}
	return c.schedule()
}

// stepsHint is the room for steps that a schedule starts with.
const stepsHint = 64

// run resumes one task after another until the schedule has ended, then unwinds
// those left, also where a task's Goexit passes through here.
func (c *controller) run() {
	defer c.unwindAll()
	for next := c.pick(nil); next != nil; {
		c.running = next
		if _, alive := next.resume(); alive {
			next = c.next // the task has picked its successor
		} else {
			c.remove(next)
			next = c.pick(nil)
		}
	}
}

// start makes a task that is enabled from the next switch point on.
func (c *controller) start(name string, fn func(*Thread)) *task {
	t := &task{ctl: c, fn: fn}
	t.thread = Thread{rt: &c.rt, name: name, id: int(c.rt.nextID.Add(1) - 1), task: t}
	t.handle = Task{task: t}
	t.resume, t.stop = iter.Pull(t.body)
	c.live = append(c.live, t)
	return t
}

// unwindAll aborts every task left, in order of start.
func (c *controller) unwindAll() {
	if c.result.End == running {
		c.finish(Panicked, c.running) // a Goexit: nobody will see this Schedule
	}
	for _, t := range c.live {
		c.running = t
		t.stop()
	}
	c.live = nil
}

func (c *controller) schedule() Schedule {
	s := c.result
	s.Steps, s.Choices, s.Clock = c.steps, c.picked, c.clock
	return s
}

// unwound is what the switch points of an ended schedule panic with.
type unwound struct{ end End }

func (u unwound) Error() string {
	return fmt.Sprintf("sched: the schedule has ended (%s) and its tasks are being unwound", u.end)
}
