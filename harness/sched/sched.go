// Package sched is the seam between a protocol and the threads that run it.
//
// One protocol source runs three ways, unchanged: free on real threads, free
// with delays at its points, or under a controller that runs one task at a
// time and decides every switch. For that to hold, code on the seam (rocm and
// rocm/sim) blocks, sleeps, reads the clock and starts threads through this
// package only, and hands an explicit *Thread to every call that can do so.
//
// sched imports nothing of rocstress.
package sched

import (
	"sync"
	"sync/atomic"
	"time"
)

// Point names a place between two steps of a protocol, such as
// "rocblas.bound". A free run passes it at the cost of a nil check, a delayed
// run may pause there, a controlled run may switch threads there.
type Point string

// Delayer decides the pause at a point of a delayed run. It is called by many
// threads at once and must be safe for that. A zero duration means no pause.
type Delayer interface {
	Delay(thread int, p Point) time.Duration
}

// Runtime is one world of threads: a process that runs free, or one schedule
// of a controlled run. The zero value is not usable; see Free and Explore.
type Runtime struct {
	ctl    *controller // nil when free
	delay  Delayer     // nil: no pauses
	start  time.Time   // free: the origin of Now
	nextID atomic.Int64

	// tasks counts the goroutines that Go started in a free run, so that an
	// owner can wait for all of them (see Runtime.Wait).
	tasks sync.WaitGroup
}

// Free returns a Runtime whose threads run freely on goroutines. delay may be
// nil. Safe for concurrent use.
func Free(delay Delayer) *Runtime {
	return &Runtime{delay: delay, start: time.Now()}
}

// Wait blocks until every goroutine that Go started in a free run has
// returned.
func (rt *Runtime) Wait() { rt.tasks.Wait() }

// NewThread returns a Thread for the calling goroutine of a free run. In a
// controlled run threads come from Explore and Go alone, and NewThread panics.
func (rt *Runtime) NewThread(name string) *Thread {
	if rt.ctl != nil {
		panic("sched: NewThread in a controlled run; use Go")
	}
	return rt.newThread(name)
}

func (rt *Runtime) newThread(name string) *Thread {
	return &Thread{rt: rt, name: name, id: int(rt.nextID.Add(1) - 1)}
}
