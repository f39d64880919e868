package sched_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
)

// patience bounds waits that are lost if they last as long.
const patience = 20 * time.Second

var _ = Describe("A free run", func() {
	var rt *sched.Runtime
	var th *sched.Thread
	BeforeEach(func() {
		rt = sched.Free(nil)
		th = rt.NewThread("root")
	})

	It("joins tasks with all they did", func() {
		for range 200 {
			value := 0 // no atomic: the race detector sees a missing order
			task := sched.Go(th, "worker", func(th *sched.Thread) {
				for range 20 {
					runtime.Gosched() // time for a Join that does not wait
				}
				if !th.Controlled() && th.Name() == "worker" {
					value = 1
				}
			})
			task.Join(th)
			Expect(value).To(Equal(1))
		}
	})

	It("waits for every goroutine that Go started", func() {
		var ended atomic.Int32
		release := make(chan struct{})
		for range 8 {
			sched.Go(th, "outer", func(th *sched.Thread) {
				sched.Go(th, "inner", func(*sched.Thread) {
					<-release
					ended.Add(1)
				})
				ended.Add(1)
			})
		}
		close(release)
		rt.Wait()
		Expect(ended.Load()).To(BeEquivalentTo(16))
	})

	It("numbers its threads", func() {
		Expect(th.ID()).To(Equal(0))
		Expect(rt.NewThread("next").ID()).To(Equal(1))
	})

	It("excludes by Mutex and RWMutex", func() {
		var mu sched.Mutex
		table := sched.NewRWMutex("table")
		n, m := 0, 0
		for range 4 {
			sched.Go(th, "worker", func(th *sched.Thread) {
				for range 500 {
					mu.Lock(th)
					n++
					mu.Unlock(th)
					table.Lock(th)
					m++
					table.Unlock(th)
					table.RLock(th)
					_ = m
					table.RUnlock(th)
				}
			})
		}
		rt.Wait()
		Expect([]int{n, m}).To(Equal([]int{2000, 2000}))
	})

	// Two threads hand a token to and fro: one lost wake-up and both sleep
	// for ever.
	It("never loses a wake-up", func() {
		const rounds = 30000
		var token atomic.Int32
		var cond sched.Cond
		var stuck atomic.Bool
		for me := range int32(2) {
			sched.Go(th, "player", func(th *sched.Thread) {
				for range rounds {
					mine := func() bool { return token.Load() == me }
					if !th.WaitUntilDeadline("token", &cond, th.Now()+patience, mine) {
						stuck.Store(true)
						return
					}
					token.Store(1 - me)
					cond.Wake(th)
				}
			})
		}
		rt.Wait()
		Expect(stuck.Load()).To(BeFalse())
	})

	It("wakes every waiter of a Cond", func() {
		var open atomic.Bool
		var cond sched.Cond
		var through atomic.Int32
		for range 16 {
			sched.Go(th, "waiter", func(th *sched.Thread) {
				th.WaitUntil("open", &cond, open.Load)
				through.Add(1)
			})
		}
		open.Store(true)
		cond.Wake(th)
		rt.Wait()
		Expect(through.Load()).To(BeEquivalentTo(16))
	})

	DescribeTable("keeps a deadline",
		func(cond *sched.Cond) {
			start := th.Now()
			never := func() bool { return false }
			Expect(th.WaitUntilDeadline("never", cond, start+5*time.Millisecond, never)).To(BeFalse())
			Expect(th.Now() - start).To(BeNumerically(">=", 5*time.Millisecond))
			Expect(th.WaitUntilDeadline("never", cond, start, never)).To(BeFalse(), "a past one")
			Expect(th.WaitUntilDeadline("true", cond, start, func() bool { return true })).To(BeTrue())
		},
		Entry("with a Cond", new(sched.Cond)),
		Entry("polling", nil),
	)

	It("polls with a growing pause where nobody can wake it", func() {
		var at []time.Duration
		th.WaitUntil("ninth look", nil, func() bool {
			at = append(at, th.Now())
			return len(at) == 9
		})
		for i := 2; i < len(at); i++ {
			want := min(20*time.Microsecond<<(i-2), time.Millisecond)
			Expect(at[i]-at[i-1]).To(BeNumerically(">=", want), "pause %d", i)
		}
	})

	It("sleeps and is busy at least as long as asked", func() {
		for _, pause := range []func(time.Duration){th.Sleep, th.Busy} {
			start := th.Now()
			pause(3 * time.Millisecond)
			Expect(th.Now() - start).To(BeNumerically(">=", 3*time.Millisecond))
			pause(-1)
		}
	})

	It("pauses at points as its Delayer says", func() {
		d := &recordingDelayer{}
		rt := sched.Free(d)
		for range 2 {
			th := rt.NewThread("worker")
			start := th.Now()
			th.Point("a")
			th.Point("b")
			Expect(th.Now() - start).To(BeNumerically(">=", 2*time.Millisecond))
		}
		Expect(d.asked).To(Equal([]string{"0a", "0b", "1a", "1b"}))
	})

	It("panics on Abort, which has no process to end", func() {
		Expect(func() { th.Abort("SIGABRT") }).To(PanicWith("sched: abort: SIGABRT"))
	})
})

type recordingDelayer struct {
	mu    sync.Mutex
	asked []string // guarded by mu
}

func (d *recordingDelayer) Delay(thread int, p sched.Point) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, string(rune('0'+thread))+string(p))
	return time.Millisecond
}
