package sim

import (
	"fmt"
	"sync/atomic"
	"time"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// stream is a FIFO queue of operations that one worker executes in order. It
// is a linked list with a compare-and-swap at its tail, so that enqueuing is no
// lock and no scheduling point.
type stream struct {
	id     rocm.Stream
	device int
	head   *operation // the start of the list; the worker's once it runs
	tail   atomic.Pointer[operation]
	done   atomic.Uint64 // sequence number of the last finished operation
	work   sched.Cond    // the worker sleeps here; woken when tail moved
	idle   sched.Cond    // host threads sleep here; woken when done moved or the device faulted

	started atomic.Bool // somebody starts or started the worker
	task    atomic.Pointer[sched.Task]
	born    sched.Cond // woken when task is set

	name, waits, drains string // of the worker, and of what is waited for
}

// operation is one entry of a stream. next is set after the entry became the
// tail; all else is constant from then on.
type operation struct {
	next atomic.Pointer[operation]
	seq  uint64        // counted from 1
	at   time.Duration // when it was enqueued
	job  job           // nil in the last entry, after which the worker ends
}

func newStream(id rocm.Stream, device int) *stream {
	name := fmt.Sprintf("stream-%#x", uintptr(id))
	if id == 0 {
		name = fmt.Sprintf("stream-null-%d", device)
	}
	first := &operation{job: &fill{}} // a finished entry, never executed
	s := &stream{
		id: id, device: device, head: first,
		name: name, waits: name + ": work", drains: name + ": done",
	}
	s.tail.Store(first)
	return s
}

// append adds a job at the end, or the end itself for a nil job. It reports
// false if the stream has ended.
func (s *stream) append(th *sched.Thread, j job) bool {
	o := &operation{job: j, at: th.Now()}
	for {
		last := s.tail.Load()
		if last.job == nil {
			return false
		}
		o.seq = last.seq + 1
		if s.tail.CompareAndSwap(last, o) {
			last.next.Store(o)
			s.work.Wake(th)
			return true
		}
	}
}

// start starts the worker unless somebody did.
func (s *stream) start(th *sched.Thread, d *Driver) {
	if s.started.Load() || !s.started.CompareAndSwap(false, true) {
		return
	}
	s.task.Store(sched.Go(th, s.name, func(th *sched.Thread) { s.serve(th, d) }))
	s.born.Wake(th)
}

// finish lets the worker do what is enqueued and joins it. Several may call it:
// one ends the stream and all wait.
func (s *stream) finish(th *sched.Thread) {
	s.append(th, nil)
	if !s.started.Load() {
		return
	}
	th.WaitUntil(s.name+": start", &s.born, func() bool { return s.task.Load() != nil })
	s.task.Load().Join(th)
}

// serve is the worker: it executes the queue in order until its end.
func (s *stream) serve(th *sched.Thread, d *Driver) {
	w := &worker{d: d, th: th}
	o := s.head
	s.head = nil // lets finished operations be collected
	for {
		th.WaitUntil(s.waits, &s.work, func() bool { return o.next.Load() != nil })
		o = o.next.Load()
		if o.job == nil {
			s.done.Store(o.seq)
			s.idle.Wake(th)
			return
		}
		th.Point(PointDequeue)
		w.execute(o)
		s.done.Store(o.seq)
		s.idle.Wake(th)
	}
}

// busy reports whether something enqueued is not done.
func (s *stream) busy() bool { return s.done.Load() < s.tail.Load().seq }

// drain blocks th until all that is enqueued on s now is done, or the device
// faulted.
func (d *Driver) drain(th *sched.Thread, s *stream) {
	if !s.started.Load() {
		return // nothing was ever enqueued
	}
	seq := s.tail.Load().seq
	th.WaitUntil(s.drains, &s.idle, func() bool { return s.done.Load() >= seq || d.faulted() })
}
