package sched

import (
	"runtime"
	"time"
)

// Thread is one logical thread of a Runtime. All methods except Name, ID and
// Controlled must be called by the goroutine (or task) the Thread belongs to.
type Thread struct {
	rt     *Runtime
	name   string
	id     int
	task   *task // nil when free
	values map[any]any
}

// Name returns the name the Thread was started with, such as "worker-3".
func (th *Thread) Name() string { return th.name }

// ID returns a number unique in the Runtime, counted from 0 in order of start.
func (th *Thread) ID() int { return th.id }

// Controlled reports whether a controller decides when this thread runs.
func (th *Thread) Controlled() bool { return th.task != nil }

// Point marks a place between two steps of a protocol.
func (th *Thread) Point(p Point) {
	if th.task == nil && th.rt.delay == nil {
		return
	}
	th.passPoint(p)
}

func (th *Thread) passPoint(p Point) {
	if th.task != nil {
		th.task.yieldAt(p)
		return
	}
	if d := th.rt.delay.Delay(th.id, p); d > 0 {
		time.Sleep(d)
	}
}

// Now returns the time since the Runtime started: monotonic when free,
// virtual when controlled.
func (th *Thread) Now() time.Duration {
	if th.task != nil {
		return th.task.now()
	}
	return time.Since(th.rt.start)
}

// Sleep pauses the thread for d. Controlled: a switch point after which the
// virtual clock stands at least d later; the controller may let any other task
// run first, since a latency is only ever a lower bound.
func (th *Thread) Sleep(d time.Duration) {
	if th.task != nil {
		th.task.sleep(d)
		return
	}
	if d > 0 {
		time.Sleep(d)
	}
}

// Busy occupies the thread's core for d: host work inside a library call,
// where Sleep would give the core away. Controlled: the same as Sleep.
func (th *Thread) Busy(d time.Duration) {
	if th.task != nil {
		th.task.sleep(d)
		return
	}
	for end := time.Now().Add(d); time.Now().Before(end); {
		runtime.KeepAlive(end)
	}
}

// Abort is the modelled end of the process, such as by a signal. Controlled: the
// schedule ends as Crashed with reason and Abort does not return. Free: it
// panics; whoever can end the process itself does so instead.
func (th *Thread) Abort(reason string) {
	if th.task != nil {
		th.task.abort(reason)
	}
	panic("sched: abort: " + reason)
}

// Value returns what SetValue stored under key on this thread, or nil. It
// stands for thread-local storage, such as HIP's current device.
func (th *Thread) Value(key any) any { return th.values[key] }

// SetValue stores v under key on this thread.
func (th *Thread) SetValue(key, v any) {
	if th.values == nil {
		th.values = make(map[any]any)
	}
	th.values[key] = v
}

// Task is a thread started by Go.
type Task struct {
	done chan struct{} // free; closed when fn has returned
	task *task         // controlled
}

// Go starts fn on a thread of its own, named name, in th's Runtime. A stream
// worker, a host callback and a watchdog are started so. Whoever starts a Task
// joins it. Controlled: starting is a switch point.
func Go(th *Thread, name string, fn func(th *Thread)) *Task {
	if th.task != nil {
		return th.task.spawn(name, fn)
	}
	t := &Task{done: make(chan struct{})}
	nt := th.rt.newThread(name)
	th.rt.tasks.Go(func() {
		defer close(t.done)
		fn(nt)
	})
	return t
}

// Join blocks th until the task has returned. Free: everything the task did
// happens before Join returns.
func (t *Task) Join(th *Thread) {
	if t.task != nil {
		th.task.join(t.task)
		return
	}
	<-t.done
}
