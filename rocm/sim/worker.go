package sim

import (
	"time"

	"rocstress/harness/sched"
)

// job is the device's side of one operation. It touches memory, calls elapse
// with the device time it stands for, and returns an error for an address that
// is not mapped.
type job interface {
	run(w *worker) error
}

// worker executes the operations of one stream.
type worker struct {
	d  *Driver
	th *sched.Thread

	began     time.Duration // when the host began with this operation
	start     time.Duration // when the device did: after its predecessor
	busyUntil time.Duration // when the device is through with it

	scratch []uint32 // private words, reused
	gemm    gemmScratch
}

func (w *worker) mem() *memory { return w.d.mem }
func (w *worker) cfg() *Config { return &w.d.cfg }

// words returns n words of private scratch with unspecified content.
func (w *worker) words(n int) []uint32 {
	if cap(w.scratch) < n {
		w.scratch = make([]uint32, n)
	}
	return w.scratch[:n]
}

// execute runs one operation. After a fault the queue does nothing more.
func (w *worker) execute(o *operation) {
	if w.d.faulted() {
		return
	}
	w.began = w.th.Now()
	w.start = max(o.at, w.busyUntil)
	if err := o.job.run(w); err != nil {
		w.d.setFault(w.th, err)
	}
}

// spinBelow is the pause up to which a worker keeps its core. An idle Go
// process sleeps about a millisecond however little it asks for (netpoll's
// timeout is in milliseconds).
const spinBelow = 20 * time.Microsecond

// elapse charges device time: the launch and cost, or what the host has spent
// on the operation so far if that is more. The device's clock runs on from the
// operation before it and not from now, so a sleep that took too long is made
// up for by the operations queued behind it.
func (w *worker) elapse(cost time.Duration) {
	spent := w.th.Now() - w.began
	w.busyUntil = w.start + max(w.cfg().Launch+cost, spent)
	switch left := w.busyUntil - w.th.Now(); {
	case left <= 0:
	case left < spinBelow:
		w.th.Busy(left)
	default:
		w.th.Sleep(left)
	}
}
