package sched

import "time"

// task is a thread of a controlled run: a coroutine that is resumed when the
// strategy picks it, and what it does at the switch point where it stands.
type task struct {
	ctl    *controller
	thread Thread
	handle Task
	fn     func(*Thread)
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	returned bool // fn did, normally
	ended    bool

	// Where the task stands.
	op       Op
	at       string
	lock     *lockState    // OpLock, OpDrain, OpRLock
	target   *task         // OpJoin
	cond     func() bool   // OpWait
	bounded  bool          // OpWait: deadline counts
	deadline time.Duration // OpWait
	wake     time.Duration // the clock stands at least here when the task goes on; an old one is past
}

// body is the coroutine.
func (t *task) body(yield func(struct{}) bool) {
	t.yield = yield
	defer t.end()
	growStack(t.thread.id)
	t.fn(&t.thread)
	t.returned = true
}

// growStack makes room on the stack for a protocol's calls while there are few
// frames on it: a goroutine starts with 2 KiB, and growing copies and adjusts
// every frame (a quarter of the time of short schedules).
//
//go:noinline
func growStack(i int) byte {
	var room [6 << 10]byte
	room[i%len(room)] = 1 // or the compiler has no use for it
	return room[0]
}

// end is deferred by body, so that it stops a panic of the task.
func (t *task) end() {
	value := recover()
	t.ended = true
	c := t.ctl
	switch {
	case t.returned:
		if t.thread.id == 0 && c.result.End == running {
			c.finish(Done, t)
		}
	case value != nil:
		c.panicked(t, value) // nothing new if it is an unwound
	}
}

// check panics where the task may not pass a switch point or change a lock.
func (t *task) check() {
	if t.ctl.result.End != running {
		panic(unwound{t.ctl.result.End})
	}
	t.checkOwner()
}

func (t *task) checkOwner() {
	if t.ctl.running != t {
		panic("sched: the Thread of " + t.thread.name + " is used by " + t.ctl.running.thread.name)
	}
}

// pass is a switch point. It returns when the task is picked, which is only
// once it is enabled.
func (t *task) pass(op Op, at string) {
	t.op, t.at = op, at
	c := t.ctl
	if c.next = c.pick(t); c.next == t {
		return
	}
	if !t.yield(struct{}{}) {
		panic(unwound{c.result.End})
	}
}

func (t *task) yieldAt(p Point) {
	t.check()
	t.pass(OpPoint, string(p))
}

func (t *task) now() time.Duration { return t.ctl.clock }

func (t *task) sleep(d time.Duration) {
	t.check()
	t.wake = t.ctl.clock + max(d, 0)
	t.pass(OpSleep, "")
}

func (t *task) spawn(name string, fn func(*Thread)) *Task {
	t.check()
	nt := t.ctl.start(name, fn)
	t.pass(OpGo, name)
	return &nt.handle
}

func (t *task) join(target *task) {
	t.check()
	t.target = target
	t.pass(OpJoin, target.thread.name)
}

func (t *task) wait(name string, deadline time.Duration, bounded bool, cond func() bool) bool {
	t.check()
	t.cond, t.deadline, t.bounded = cond, deadline, bounded
	t.pass(OpWait, name)
	t.cond = nil
	return t.op != OpTimeout
}

func (t *task) abort(reason string) {
	t.check()
	c := t.ctl
	c.finish(Crashed, t)
	c.result.Crash = reason
	panic(unwound{Crashed})
}

func (t *task) blocked() BlockedTask {
	b := BlockedTask{Task: t.thread.id, Name: t.thread.name, Op: t.op, At: t.at}
	switch t.op {
	case OpLock, OpDrain, OpRLock:
		b.Holders = t.lock.holders()
	}
	return b
}
