package sched_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
)

var _ = Describe("Explore", func() {
	It("runs one task at a time and records where each stood", func() {
		var order []string
		s := explore(onward(), func(th *sched.Thread) {
			w := sched.Go(th, "worker", func(th *sched.Thread) {
				order = append(order, "worker")
				th.Point("inside")
				order = append(order, "worker again")
			})
			order = append(order, "root")
			w.Join(th)
			order = append(order, "joined")
		})
		Expect(order).To(Equal([]string{"root", "worker", "worker again", "joined"}))
		Expect(lines(s)).To(Equal([]string{
			"root start", "root go worker", "worker start", "worker point inside", "root join worker",
		}))
		Expect(s.Choices).To(Equal([]int{0, 0, 1, 1, 0}))
		Expect(s.End).To(Equal(sched.Done))
		Expect(s.Task).To(Equal(-1))
		Expect(s.Blocked).To(BeEmpty())
	})

	It("lets the new task run before Go returns, if the strategy says so", func() {
		var order []string
		explore(highest(), func(th *sched.Thread) {
			w := sched.Go(th, "worker", func(*sched.Thread) { order = append(order, "worker") })
			order = append(order, "root")
			w.Join(th)
		})
		Expect(order).To(Equal([]string{"worker", "root"}))
	})

	It("tells the strategy who ran, who can run and where they stand", func() {
		var states []sched.State
		explore(pickFunc(func(s sched.State) int {
			s.Enabled = append([]sched.Choice(nil), s.Enabled...)
			states = append(states, s)
			return len(s.Enabled) - 1
		}), func(th *sched.Thread) {
			w := sched.Go(th, "worker", func(th *sched.Thread) { th.Point("inside") })
			w.Join(th)
		})
		root := sched.Choice{ID: 0, Name: "root", Op: sched.OpGo, At: "worker"}
		Expect(states).To(Equal([]sched.State{
			{Current: -1, Enabled: []sched.Choice{{ID: 0, Name: "root", Op: sched.OpStart}}, Step: 0},
			{Current: 0, Enabled: []sched.Choice{root, {ID: 1, Name: "worker", Op: sched.OpStart}}, Step: 1},
			{Current: 1, Enabled: []sched.Choice{root, {ID: 1, Name: "worker", Op: sched.OpPoint, At: "inside"}}, Step: 2},
			{Current: -1, Enabled: []sched.Choice{root}, Step: 3}, // worker has ended
			{Current: 0, Enabled: []sched.Choice{{ID: 0, Name: "root", Op: sched.OpJoin, At: "worker"}}, Step: 4},
		}))
	})

	It("gives threads of a controlled run", func() {
		explore(lowest(), func(th *sched.Thread) {
			Expect(th.Controlled()).To(BeTrue())
			Expect([]any{th.Name(), th.ID()}).To(Equal([]any{"root", 0}))
			type key struct{}
			th.SetValue(key{}, 1)
			sched.Go(th, "other", func(th *sched.Thread) {
				Expect(th.ID()).To(Equal(1))
				Expect(th.Value(key{})).To(BeNil())
			}).Join(th)
			Expect(th.Value(key{})).To(Equal(1))
			Expect(func() { sched.RuntimeOf(th).NewThread("stray") }).To(PanicWith(ContainSubstring("use Go")))
		})
	})

	It("leaves the steps out where asked to, and nothing else", func() {
		root := func(th *sched.Thread) {
			together(th, func(th *sched.Thread) { th.Point("x") }, func(th *sched.Thread) { th.Sleep(1) })
		}
		full := sched.Explore(sched.Config{Strategy: sched.RandomWalk(4)}, root)
		bare := sched.Explore(sched.Config{Strategy: sched.RandomWalk(4), NoSteps: true}, root)
		Expect(bare.Steps).To(BeNil())
		Expect(bare.Choices).To(Equal(full.Choices))
		Expect(full.Steps).NotTo(BeEmpty())
		full.Steps = nil
		Expect(bare).To(Equal(full))
	})

	It("aborts the tasks that are left when root returns", func() {
		unwound := 0
		var mu sched.Mutex
		s := explore(onward(), func(th *sched.Thread) {
			for range 3 {
				sched.Go(th, "daemon", func(th *sched.Thread) {
					defer func() { unwound++ }()
					mu.Lock(th)
					defer mu.Unlock(th)
					th.WaitUntil("for ever", nil, func() bool { return false })
				})
			}
			for range 5 {
				th.Point("elsewhere")
			}
			sched.Go(th, "never started", func(*sched.Thread) { unwound += 100 })
			th.WaitUntil("a daemon", nil, func() bool { return mu.Held() })
		})
		Expect(s.End).To(Equal(sched.Done))
		Expect(s.Blocked).To(BeEmpty())
		Expect(unwound).To(BeElementOf(1, 2, 3), "those that had started")
	})
})

var _ = Describe("The virtual clock", func() {
	It("moves to a sleeper's wake time when it is picked, not before", func() {
		var at []time.Duration
		s := explore(highest(), func(th *sched.Thread) {
			w := sched.Go(th, "worker", func(th *sched.Thread) {
				for range 3 {
					th.Point("step")
				}
				at = append(at, th.Now())
			})
			th.Sleep(time.Hour)
			at = append(at, th.Now())
			th.Busy(time.Minute)
			th.Sleep(-time.Minute)
			w.Join(th)
			at = append(at, th.Now())
		})
		Expect(at).To(Equal([]time.Duration{0, time.Hour, time.Hour + time.Minute}))
		Expect(s.Clock).To(Equal(time.Hour + time.Minute))
	})

	It("lets a short sleep outlast a long one: a latency is a lower bound", func() {
		var order []string
		explore(sched.Replay([]int{0, 1, 0, 2, 2}), func(th *sched.Thread) {
			short := sched.Go(th, "short", func(th *sched.Thread) {
				th.Sleep(time.Second)
				order = append(order, "short")
				Expect(th.Now()).To(Equal(time.Minute), "time never runs backwards")
			})
			long := sched.Go(th, "long", func(th *sched.Thread) {
				th.Sleep(time.Minute)
				order = append(order, "long")
			})
			short.Join(th)
			long.Join(th)
		})
		Expect(order).To(Equal([]string{"long", "short"}))
	})

	It("times a wait out only where nothing else can run, the earliest deadline first", func() {
		var order []string
		never := func() bool { return false }
		s := explore(lowest(), func(th *sched.Thread) {
			wait := func(name string, deadline time.Duration) *sched.Task {
				return sched.Go(th, name, func(th *sched.Thread) {
					if th.WaitUntilDeadline(name, nil, deadline, never) {
						panic("it cannot hold")
					}
					order = append(order, name)
					Expect(th.Now()).To(Equal(max(deadline, time.Second)))
				})
			}
			late, early := wait("late", time.Hour), wait("early", time.Minute)
			past := wait("past", -5)
			th.Sleep(time.Second)
			order = append(order, "slept")
			late.Join(th)
			early.Join(th)
			past.Join(th)
		})
		Expect(s.End).To(Equal(sched.Done), "%v", s.Panic)
		Expect(order).To(Equal([]string{"slept", "past", "early", "late"}))
		Expect(lines(s)).To(ContainElement("late timeout late"))
		Expect(s.Clock).To(Equal(time.Hour))
	})

	It("does not time out a wait whose condition comes true", func() {
		done := false
		s := explore(highest(), func(th *sched.Thread) {
			sched.Go(th, "worker", func(th *sched.Thread) {
				th.Sleep(time.Hour)
				done = true
				var c sched.Cond
				c.Wake(th) // nothing to do, but allowed
			})
			Expect(th.WaitUntilDeadline("done", nil, time.Millisecond, func() bool { return done })).To(BeTrue())
		})
		Expect(s.End).To(Equal(sched.Done), "%v", s.Panic)
		Expect(s.Clock).To(Equal(time.Hour))
	})
})

var _ = Describe("Controlled locks", func() {
	It("disable whoever cannot take them", func() {
		inside, most := 0, 0
		var mu sched.Mutex
		for seed := range uint64(200) {
			s := explore(sched.RandomWalk(seed), func(th *sched.Thread) {
				var tasks []*sched.Task
				for range 3 {
					tasks = append(tasks, sched.Go(th, "worker", func(th *sched.Thread) {
						mu.Lock(th)
						inside++
						most = max(most, inside)
						th.Point("inside")
						inside--
						mu.Unlock(th)
					}))
				}
				for _, t := range tasks {
					t.Join(th)
				}
			})
			Expect(s.End).To(Equal(sched.Done))
		}
		Expect(most).To(Equal(1))
	})

	It("let readers share and a writer be alone", func() {
		readers, mostReaders, writers := 0, 0, 0
		mu := sched.NewRWMutex("table")
		for seed := range uint64(300) {
			s := explore(sched.RandomWalk(seed), func(th *sched.Thread) {
				var tasks []*sched.Task
				for range 2 {
					tasks = append(tasks, sched.Go(th, "reader", func(th *sched.Thread) {
						mu.RLock(th)
						readers++
						mostReaders = max(mostReaders, readers)
						Expect(writers).To(BeZero())
						th.Point("reading")
						readers--
						mu.RUnlock(th)
					}))
					tasks = append(tasks, sched.Go(th, "writer", func(th *sched.Thread) {
						mu.Lock(th)
						writers++
						th.Point("writing")
						Expect([]int{writers, readers}).To(Equal([]int{1, 0}))
						writers--
						mu.Unlock(th)
					}))
				}
				for _, t := range tasks {
					t.Join(th)
				}
			})
			Expect(s.End).To(Equal(sched.Done), "%v", s.Panic)
		}
		Expect(mostReaders).To(Equal(2))
	})

	It("hold new readers back once a writer waits, as sync.RWMutex does", func() {
		mu := sched.NewRWMutex("table")
		s := explore(onward(), func(th *sched.Thread) {
			mu.RLock(th)
			sched.Go(th, "writer", mu.Lock)
			th.WaitUntil("the writer", nil, func() bool { return mu.WriterWaits() })
			mu.RLock(th)
		})
		Expect(s.End).To(Equal(sched.Deadlock))
		Expect(s.Blocked).To(Equal([]sched.BlockedTask{
			{Task: 0, Name: "root", Op: sched.OpRLock, At: "table", Holders: []string{"writer (waiting for readers)", "root"}},
			{Task: 1, Name: "writer", Op: sched.OpDrain, At: "table", Holders: []string{"writer (waiting for readers)", "root"}},
		}))
	})

	DescribeTable("refuse to be unlocked by someone else",
		func(unlock func(th *sched.Thread), text string) {
			s := explore(lowest(), func(th *sched.Thread) { unlock(th) })
			Expect(s.End).To(Equal(sched.Panicked))
			Expect(s.Panic).To(Equal(text))
		},
		Entry("Mutex", func(th *sched.Thread) { sched.NewMutex("m").Unlock(th) }, "sched: root unlocks m, which it does not hold"),
		Entry("unnamed", func(th *sched.Thread) { new(sched.Mutex).Unlock(th) }, "sched: root unlocks #1, which it does not hold"),
		Entry("RWMutex", func(th *sched.Thread) { sched.NewRWMutex("m").Unlock(th) }, "sched: root unlocks m, which it does not hold"),
		Entry("reader", func(th *sched.Thread) { sched.NewRWMutex("m").RUnlock(th) }, "sched: root read-unlocks m, which it does not hold"),
		Entry("another task's", func(th *sched.Thread) {
			var mu sched.Mutex
			sched.Go(th, "owner", func(th *sched.Thread) { mu.Lock(th) }).Join(th)
			mu.Unlock(th)
		}, "sched: root unlocks #1, which it does not hold"),
	)

	It("start afresh in the next schedule", func() {
		var mu sched.Mutex
		for range 2 {
			s := explore(lowest(), func(th *sched.Thread) { mu.Lock(th) })
			Expect(s.End).To(Equal(sched.Done))
			Expect(lines(s)).To(ContainElement("root lock #1"))
		}
	})
})
