package childproc_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

// deadline is long enough for a child to reach its entry on a busy machine.
const deadline = 2500 * time.Millisecond

var _ = Describe("a child that does not end", func() {
	b := newBed()

	DescribeTable("is made to dump its goroutines at the deadline, after evidence was taken",
		func(ctx SpecContext, entry string, busy bool, dump string) {
			e := b.run(ctx, childproc.Spec{Entry: entry, Deadline: deadline, Grace: 20 * time.Second})
			Expect(e.Killed).To(BeTrue())
			Expect(e.KillReason).To(Equal(childproc.ReasonDeadline))
			Expect(e.KillSignals).To(Equal([]string{"SIGQUIT"}))
			Expect(e.KilledAt).To(BeNumerically(">=", deadline))
			Expect(e.Dur).To(BeNumerically(">=", e.KilledAt))
			Expect(e.Code).To(Equal(2))
			Expect(e.Stderr.String()).To(And(ContainSubstring("SIGQUIT"), MatchRegexp(dump)))

			ev := e.Evidence
			Expect(ev.Error).To(BeEmpty())
			Expect(ev.At).To(BeNumerically(">=", deadline))
			Expect(ev.At).To(BeNumerically("<=", e.KilledAt))
			Expect(ev.Interval).To(BeNumerically(">=", 200*time.Millisecond))
			Expect(ev.Threads[0].PID).To(Equal(e.PID))
			Expect(ev.Threads[0].TID).To(Equal(e.PID))
			if busy {
				// A slice of the scheduler at least, however crowded the machine is.
				Expect(ev.Busy()).To(BeNumerically(">", 500*time.Microsecond))
			} else {
				Expect(ev.Busy()).To(BeNumerically("<", ev.Interval/10))
				Expect(ev.Threads).To(ContainElement(And(HaveField("State", "S"), HaveField("WChan", ContainSubstring("futex")))))
			}
		},
		// The runtime cannot print a stack that is running on another thread than
		// the one which got the signal.
		Entry("spins", "spin", true, `childproc_test\.spin|goroutine 1 .*\[running.*\n\s+goroutine running on other thread`),
		Entry("sleeps", "sleep", false, `childproc_test\.sleep`))

	It("is killed if it ignores SIGTERM and SIGQUIT", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "stubborn", Deadline: deadline, Grace: 100 * time.Millisecond})
		Expect(e.KillSignals).To(Equal([]string{"SIGQUIT", "SIGKILL"}))
		Expect(e.Signal).To(Equal(unix.SIGKILL))
		Expect(e.Dur - e.KilledAt).To(BeNumerically(">=", 100*time.Millisecond))
	})

	It("is killed even in another process group", func(ctx SpecContext) {
		cctx, ready := onReady(ctx)
		e := b.run(cctx, childproc.Spec{Entry: "stray", OnEvent: ready, Grace: 100 * time.Millisecond})
		Expect(e.Signal).To(Equal(unix.SIGKILL))
	})

	It("outlives other threads of the driver", func(ctx SpecContext) {
		cctx, ready := onReady(ctx)
		e := b.run(cctx, childproc.Spec{Entry: "sleep", OnEvent: func(e wire.Event) {
			var wg sync.WaitGroup
			meet := make(chan struct{})
			const threads = 50
			for i := range threads {
				wg.Go(func() {
					runtime.LockOSThread() // and never unlocked: the thread ends too
					if i == threads-1 {
						close(meet)
					}
					<-meet
				})
			}
			wg.Wait()
			ready(e)
		}})
		Expect(e.KillSignals).To(Equal([]string{"SIGQUIT"}))
		Expect(e.Code).To(Equal(2))
	})

	It("gets SIGABRT with its whole group if it is a foreign program", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{
			Path: "sh", Args: []string{"-c", "trap 'echo aborted; exit 5' ABRT; sleep 60 & echo $!; wait; wait"},
			Deadline: 300 * time.Millisecond,
		})
		Expect(e.KillSignals).To(Equal([]string{"SIGABRT"}))
		Expect(e.Code).To(Equal(5))
		Expect(e.Stdout.String()).To(HaveSuffix("aborted\n"))
		Expect(e.Evidence.Threads).To(ContainElement(And(HaveField("Name", "sleep"), HaveField("State", "S"))))
		Expect(e.LeakedPipes).To(BeFalse(), "the group was signalled too")
	})

	It("is ended when the context is canceled, without evidence", func(ctx SpecContext) {
		cctx, ready := onReady(ctx)
		e := b.run(cctx, childproc.Spec{Entry: "sleep", Deadline: time.Hour, OnEvent: ready})
		Expect(e.Killed).To(BeTrue())
		Expect(e.KillReason).To(Equal(childproc.ReasonCanceled))
		Expect(e.KillSignals).To(Equal([]string{"SIGQUIT"}))
		Expect(e.Stderr.String()).To(ContainSubstring("SIGQUIT"))
		Expect(e.Evidence).To(BeZero())
	})
})

var _ = Describe("descendants", func() {
	b := newBed()

	It("of the group are killed after a normal exit, and a held pipe is told", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "grandchild"})
		Expect(e.Code).To(Equal(0))
		Expect(e.Killed).To(BeFalse())
		Expect(e.LeakedPipes).To(BeTrue())
		Expect(e.Stdout.String()).To(Equal("last words\n"))
		Eventually(running).WithArguments(b.only("pid").Count).WithTimeout(soon).Should(BeFalse())
	})

	It("with a session of their own do not hold the driver", func(ctx SpecContext) {
		began := time.Now()
		e := b.run(ctx, childproc.Spec{Entry: "grandchild", Orders: wire.Spec{Scenario: "setsid"}})
		pid := b.only("pid").Count
		Expect(running(pid)).To(BeTrue())
		Expect(unix.Kill(pid, unix.SIGKILL)).To(Succeed())
		Expect(time.Since(began)).To(BeNumerically("<", 30*time.Second), "the grandchild sleeps 60")
		Expect(e.Code).To(Equal(0))
		Expect(e.LeakedPipes).To(BeTrue())
		Expect(e.Stdout.String()).To(Equal("last words\n"))
	})

	It("that keep no pipe are killed without being a leak", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{
			Path: "sh", Args: []string{"-c", "sleep 60 >/dev/null 2>&1 & echo $!"},
		})
		pid, err := strconv.Atoi(string(e.Stdout.Head[:len(e.Stdout.Head)-1]))
		Expect(err).NotTo(HaveOccurred())
		Expect(e.LeakedPipes).To(BeFalse())
		Eventually(running).WithArguments(pid).WithTimeout(soon).Should(BeFalse())
	})

	It("die with a driver that is killed by SIGKILL", func(ctx SpecContext) {
		var self, own, foreign int
		e := b.run(ctx, childproc.Spec{Entry: "driver", OnEvent: func(e wire.Event) {
			switch e.Check.Name {
			case "self":
				self = e.Check.Count
			case "own":
				own = e.Check.Count
			case "foreign":
				foreign, _ = strconv.Atoi(e.Check.Detail)
			}
			if own > 0 && foreign > 0 {
				Expect(running(own)).To(BeTrue())
				Expect(running(foreign)).To(BeTrue())
				Expect(unix.Kill(self, unix.SIGKILL)).To(Succeed()) // Run has not reaped it yet
			}
		}})
		Expect(e.Signal).To(Equal(unix.SIGKILL))
		Expect(e.Killed).To(BeFalse())
		Eventually(running).WithArguments(own).WithTimeout(soon).Should(BeFalse())
		Eventually(running).WithArguments(foreign).WithTimeout(soon).Should(BeFalse())
	})
})

var _ = Describe("a slow observer", func() {
	b := newBed()

	It("makes no leak and loses no byte", func(ctx SpecContext) {
		gate, cancel := context.WithTimeout(ctx, 600*time.Millisecond)
		defer cancel()
		var seen int
		e := b.run(ctx, childproc.Spec{
			Path: "sh", Args: []string{"-c", "head -c 60000 /dev/zero"},
			Observe: func(_ childproc.Stream, p []byte) { <-gate.Done(); seen += len(p) },
		})
		Expect(e.LeakedPipes).To(BeFalse())
		Expect(seen).To(Equal(60000))
		Expect(e.Stdout.Total()).To(BeEquivalentTo(60000))
	})
})
