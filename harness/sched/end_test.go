package sched_test

import (
	"errors"
	"fmt"
	"runtime"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
)

var _ = Describe("The end of a schedule", func() {
	It("is a deadlock where nothing can run, and says who waits for what", func() {
		a, b := sched.NewMutex("a"), sched.NewMutex("b")
		released := 0
		s := explore(sched.RandomWalk(3), func(th *sched.Thread) {
			both := func(name string, first, second *sched.Mutex) *sched.Task {
				return sched.Go(th, name, func(th *sched.Thread) {
					first.Lock(th)
					defer func() { released++ }()
					defer first.Unlock(th)
					th.WaitUntil("the other's lock", nil, func() bool {
						return a.Held() && b.Held()
					})
					second.Lock(th)
				})
			}
			x, y := both("x", a, b), both("y", b, a)
			x.Join(th)
			y.Join(th)
		})
		Expect(s.End).To(Equal(sched.Deadlock))
		var text []string
		for _, blocked := range s.Blocked {
			text = append(text, blocked.String())
		}
		Expect(text).To(Equal([]string{"root: join x", "x: lock b, held by y", "y: lock a, held by x"}))
		Expect(released).To(Equal(2), "deferred functions ran")
	})

	It("is a deadlock where a task locks twice", func() {
		s := explore(lowest(), func(th *sched.Thread) {
			mu := sched.NewMutex("m")
			mu.Lock(th)
			mu.Lock(th)
		})
		Expect(s.End).To(Equal(sched.Deadlock))
		Expect(s.Blocked).To(HaveExactElements(HaveField("Holders", Equal([]string{"root"}))))
	})

	It("is a livelock where the budget runs out", func() {
		s := sched.Explore(sched.Config{Strategy: sched.RandomWalk(1), MaxSteps: 100}, func(th *sched.Thread) {
			sched.Go(th, "waiter", func(th *sched.Thread) { th.WaitUntil("never", nil, func() bool { return false }) })
			for {
				th.Point("again")
			}
		})
		Expect(s.End).To(Equal(sched.Livelock))
		Expect(s.Steps).To(HaveLen(100))
		Expect(s.Blocked).To(HaveExactElements(HaveField("At", "never")))
		exact := sched.Explore(sched.Config{Strategy: lowest(), MaxSteps: 3}, func(th *sched.Thread) {
			th.Point("one")
			th.Point("two")
		})
		Expect(exact.End).To(Equal(sched.Done), "a schedule may use its whole budget")
	})

	It("is a crash where a task aborts, which unwinds everyone", func() {
		var mu sched.Mutex
		unwoundTasks, after := 0, false
		s := explore(onward(), func(th *sched.Thread) {
			defer func() { unwoundTasks++ }()
			w := sched.Go(th, "worker", func(th *sched.Thread) {
				defer func() { unwoundTasks++ }()
				mu.Lock(th)
				defer mu.Unlock(th)
				th.Abort("SIGSEGV: null handle")
				after = true
			})
			w.Join(th)
			after = true
		})
		Expect(s.End).To(Equal(sched.Crashed))
		Expect(s.Crash).To(Equal("SIGSEGV: null handle"))
		Expect(s.Task).To(Equal(1))
		Expect(unwoundTasks).To(Equal(2))
		Expect(after).To(BeFalse())
	})

	It("is a panic where a task panics, with its stack", func() {
		cause := errors.New("planted")
		s := explore(onward(), func(th *sched.Thread) {
			sched.Go(th, "worker", func(*sched.Thread) { plantedPanic(cause) }).Join(th)
		})
		Expect(s.End).To(Equal(sched.Panicked))
		Expect(s.Panic).To(BeIdenticalTo(cause))
		Expect(s.Task).To(Equal(1))
		Expect(s.Stack).To(ContainSubstring("plantedPanic"))
	})

	It("is a panic of the waiter where a condition panics, wherever it was looked at", func() {
		armed, recovered := false, false
		s := explore(onward(), func(th *sched.Thread) {
			waiter := sched.Go(th, "waiter", func(th *sched.Thread) {
				th.WaitUntil("bad", nil, func() bool {
					if armed {
						plantedPanic("condition")
					}
					return false
				})
			})
			th.WaitUntil("the waiter", nil, waiter.Waits)
			defer func() { recovered = recover() == "condition" }()
			armed = true
			th.Point("here the condition is looked at")
		})
		Expect(s.End).To(Equal(sched.Panicked))
		Expect(s.Panic).To(Equal("condition"))
		Expect(s.Task).To(Equal(1))
		Expect(s.Stack).To(ContainSubstring("plantedPanic"))
		Expect(recovered).To(BeFalse(), "it is not for root to see")
	})

	It("passes on what a strategy does wrong", func() {
		for _, pick := range []int{-1, 1} {
			Expect(func() {
				explore(pickFunc(func(sched.State) int { return pick }), func(*sched.Thread) {})
			}).To(PanicWith(fmt.Sprintf("sched: the strategy picked %d of 1 enabled tasks", pick)))
		}
		steps := 0
		Expect(func() {
			explore(pickFunc(func(sched.State) int {
				if steps++; steps == 3 {
					plantedPanic("strategy")
				}
				return 0
			}), func(th *sched.Thread) {
				defer func() {
					if r := recover(); r == "strategy" {
						steps = -100
					}
				}()
				for {
					th.Point("again")
				}
			})
		}).To(PanicWith("strategy"))
		Expect(steps).To(Equal(3), "no task saw it")
		Expect(func() { sched.Explore(sched.Config{}, nil) }).To(PanicWith("sched: Explore without a Strategy"))
	})

	It("passes Goexit on, and still unwinds", func() {
		unwoundTasks := 0
		returned := make(chan bool)
		go func() {
			ok := false
			defer func() { returned <- ok }()
			explore(onward(), func(th *sched.Thread) {
				defer func() { unwoundTasks++ }()
				sched.Go(th, "worker", func(*sched.Thread) { runtime.Goexit() }).Join(th)
			})
			ok = true
		}()
		Expect(<-returned).To(BeFalse())
		Expect(unwoundTasks).To(Equal(1))
	})

	It("notices a Thread in the wrong hands", func() {
		s := explore(onward(), func(th *sched.Thread) {
			sched.Go(th, "thief", func(*sched.Thread) { th.Point("not mine") }).Join(th)
		})
		Expect(s.End).To(Equal(sched.Panicked))
		Expect(s.Panic).To(Equal("sched: the Thread of root is used by thief"))
	})
})

var _ = Describe("Unwinding", func() {
	It("goes on at the next switch point of code that recovers", func() {
		recovered, after := 0, false
		swallow := func(f func()) {
			defer func() {
				if r := recover(); r != nil {
					recovered++
				}
			}()
			f()
		}
		var mu, other sched.Mutex
		var table sched.RWMutex
		unlocked := false
		s := explore(onward(), func(th *sched.Thread) {
			stubborn := sched.Go(th, "stubborn", func(th *sched.Thread) {
				swallow(func() { th.WaitUntil("never", nil, func() bool { return false }) })
				for _, op := range []func(){
					func() { th.Point("p") }, func() { mu.Lock(th) }, func() { th.Sleep(1) },
					func() { sched.Go(th, "late", func(*sched.Thread) { after = true }) },
					func() { th.Abort("late") },
					func() { th.WaitUntil("true", nil, func() bool { return true }) },
				} {
					swallow(op)
				}
				other.Unlock(th)
				table.Unlock(th)
				table.RUnlock(th)
				unlocked = true
				th.Point("the last")
				after = true
			})
			th.WaitUntil("stubborn", nil, stubborn.Waits)
		})
		Expect(recovered).To(Equal(7))
		Expect(unlocked).To(BeTrue(), "unlocking does not panic now, whoever holds the lock")
		Expect(after).To(BeFalse())
		Expect(s.End).To(Equal(sched.Done))
		Expect(s.Crash).To(BeEmpty())
	})

	It("drops what deferred functions panic with", func() {
		s := explore(onward(), func(th *sched.Thread) {
			messy := sched.Go(th, "messy", func(th *sched.Thread) {
				defer func() { panic("in a deferred function") }()
				th.WaitUntil("never", nil, func() bool { return false })
			})
			th.WaitUntil("messy", nil, messy.Waits)
			th.Abort("first")
		})
		Expect(s.End).To(Equal(sched.Crashed))
		Expect(s.Panic).To(BeNil())
	})

	It("panics with an error that says what it is", func() {
		var got any
		explore(onward(), func(th *sched.Thread) {
			defer func() { got = recover() }()
			th.WaitUntil("never", nil, func() bool { return false })
		})
		Expect(got).To(MatchError("sched: the schedule has ended (deadlock) and its tasks are being unwound"))
	})
})

func plantedPanic(v any) { panic(v) }
