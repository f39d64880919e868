package sched_test

import (
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
)

// protocol is a tiny known-bad protocol with its known-good twin.
type protocol struct {
	name string
	end  sched.End // how a bad schedule ends; Done: right is false
	make func(fixed bool) (root func(th *sched.Thread), right func() bool)
}

// together runs the bodies on tasks of their own and joins them.
func together(th *sched.Thread, bodies ...func(th *sched.Thread)) {
	names := [...]string{"x", "y", "z"}
	tasks := make([]*sched.Task, len(bodies))
	for i, body := range bodies {
		tasks[i] = sched.Go(th, names[i], body)
	}
	for _, t := range tasks {
		t.Join(th)
	}
}

func always() bool { return true }

// lostUpdate reads and writes a counter in two steps, with and without a lock.
func lostUpdate(fixed bool) (func(th *sched.Thread), func() bool) {
	var n atomic.Int32
	var mu sched.Mutex
	add := func(th *sched.Thread) {
		if fixed {
			mu.Lock(th)
			defer mu.Unlock(th)
		}
		v := n.Load()
		th.Point("read")
		n.Store(v + 1)
	}
	return func(th *sched.Thread) { together(th, add, add, add) }, func() bool { return n.Load() == 3 }
}

// lockOrder takes two locks in two orders, and in one.
func lockOrder(fixed bool) (func(th *sched.Thread), func() bool) {
	var a, b sched.Mutex
	both := func(first, second *sched.Mutex) func(th *sched.Thread) {
		return func(th *sched.Thread) {
			first.Lock(th)
			second.Lock(th)
			second.Unlock(th)
			first.Unlock(th)
		}
	}
	second := both(&b, &a)
	if fixed {
		second = both(&a, &b)
	}
	return func(th *sched.Thread) { together(th, both(&a, &b), second) }, always
}

// lostWakeup looks, then arms the signal it will sleep on; the twin arms it
// before it looks.
func lostWakeup(fixed bool) (func(th *sched.Thread), func() bool) {
	var ready, signal atomic.Bool
	sleep := func(th *sched.Thread) {
		th.WaitUntil("signal", nil, signal.Load)
	}
	waiter := func(th *sched.Thread) {
		if fixed {
			signal.Store(false)
			th.Point("armed")
			if !ready.Load() {
				sleep(th)
			}
			return
		}
		if !ready.Load() {
			th.Point("looked")
			signal.Store(false)
			sleep(th)
		}
	}
	notifier := func(th *sched.Thread) {
		ready.Store(true)
		th.Point("ready")
		signal.Store(true)
	}
	return func(th *sched.Thread) { together(th, waiter, notifier) }, always
}

// spinUnderLock spins for a flag with the lock held that its setter needs.
func spinUnderLock(fixed bool) (func(th *sched.Thread), func() bool) {
	var mu sched.Mutex
	var flag atomic.Bool
	spinner := func(th *sched.Thread) {
		mu.Lock(th)
		defer mu.Unlock(th)
		for !flag.Load() {
			if fixed {
				mu.Unlock(th)
			}
			th.Point("spin")
			if fixed {
				mu.Lock(th)
			}
		}
	}
	setter := func(th *sched.Thread) {
		mu.Lock(th)
		flag.Store(true)
		mu.Unlock(th)
	}
	return func(th *sched.Thread) { together(th, spinner, setter) }, always
}

// earlyPublish sets a flag before the value behind it exists, as a lazily
// created handle that is published too soon.
func earlyPublish(fixed bool) (func(th *sched.Thread), func() bool) {
	var ready atomic.Bool
	var handle, null atomic.Int32
	var mu sched.Mutex
	use := func(th *sched.Thread) {
		if !ready.Load() {
			mu.Lock(th)
			if !ready.Load() {
				if !fixed {
					ready.Store(true)
				}
				th.Sleep(1000) // the creation
				handle.Store(7)
				ready.Store(true)
			}
			mu.Unlock(th)
		}
		if handle.Load() == 0 {
			null.Add(1)
		}
	}
	return func(th *sched.Thread) { together(th, use, use) }, func() bool { return null.Load() == 0 }
}

// recursiveRead takes a read lock twice, which a writer in between turns into
// a deadlock.
func recursiveRead(fixed bool) (func(th *sched.Thread), func() bool) {
	var mu sched.RWMutex
	reader := func(th *sched.Thread) {
		mu.RLock(th)
		defer mu.RUnlock(th)
		if !fixed {
			mu.RLock(th)
			defer mu.RUnlock(th)
		}
	}
	writer := func(th *sched.Thread) {
		mu.Lock(th)
		mu.Unlock(th)
	}
	return func(th *sched.Thread) { together(th, reader, writer) }, always
}

// doubleFree checks and frees in two steps; the allocator ends the process.
func doubleFree(fixed bool) (func(th *sched.Thread), func() bool) {
	var block atomic.Pointer[atomic.Bool]
	block.Store(new(atomic.Bool))
	free := func(th *sched.Thread) {
		p := block.Load()
		if fixed {
			p = block.Swap(nil)
		}
		th.Point("looked")
		if p == nil {
			return
		}
		block.Store(nil)
		if p.Swap(true) {
			th.Abort("double free")
		}
	}
	return func(th *sched.Thread) { together(th, free, free) }, always
}

var _ = Describe("The corpus of protocols", func() {
	for _, p := range []protocol{
		{"lost update", sched.Done, lostUpdate},
		{"lock order", sched.Deadlock, lockOrder},
		{"lost wakeup", sched.Deadlock, lostWakeup},
		{"spin under lock", sched.Livelock, spinUnderLock},
		{"early publish", sched.Done, earlyPublish},
		{"recursive read lock", sched.Deadlock, recursiveRead},
		{"double free", sched.Crashed, doubleFree},
	} {
		It("finds the fault of "+p.name+", and replays it", func() {
			const enough = 200
			for seed := range uint64(enough) {
				root, right := p.make(false)
				s := explore(sched.RandomWalk(seed), root)
				if s.End == sched.Done && right() {
					continue
				}
				Expect(s.End).To(Equal(p.end))
				root, right = p.make(false)
				again := explore(sched.Replay(s.Choices), root)
				Expect(again).To(Equal(s))
				Expect(again.End == sched.Done && right()).To(BeFalse())
				return
			}
			Fail("not found in 200 schedules")
		})

		It("passes 10,000 schedules of the fixed twin of "+p.name, func() {
			walk := sched.RandomWalk(1)
			for range 10000 {
				root, right := p.make(true)
				s := explore(walk, root)
				if s.End != sched.Done || !right() {
					Fail(s.End.String() + " on a right protocol")
				}
			}
		})
	}
})
