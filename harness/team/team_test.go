package team

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"rocstress/childproc/wire"
	"rocstress/harness/sched"
)

var errPlanted = errors.New("planted")

var _ = Describe("Run", func() {
	It("gives every member its own index, thread and OS thread, which end with it", func(ctx context.Context) {
		const n = 8
		var tids [n]int
		var ids [n]int
		rt := sched.Free(nil)
		_, err := Run(ctx, Config{Threads: n, Runtime: rt, Name: "worker"}, func(_ context.Context, m *Member) error {
			tids[m.Index], ids[m.Index] = unix.Gettid(), m.Thread.ID()
			if want := fmt.Sprintf("worker-%d", m.Index); m.Thread.Name() != want {
				return fmt.Errorf("thread is named %s, want %s", m.Thread.Name(), want)
			}
			if err := m.Barrier(); err != nil {
				return err
			}
			if unix.Gettid() != tids[m.Index] {
				return errors.New("moved to another OS thread")
			}
			return nil
		})
		Expect(err).NotTo(HaveOccurred())
		seenTID, seenID := map[int]bool{}, map[int]bool{}
		for i := range n {
			seenTID[tids[i]], seenID[ids[i]] = true, true
		}
		Expect(seenTID).To(HaveLen(n))
		Expect(seenID).To(HaveLen(n))
		for _, tid := range tids {
			if tid == os.Getpid() {
				continue // the first thread of a process only ever parks
			}
			Eventually(func() error {
				_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
				return err
			}).Should(MatchError(os.ErrNotExist))
		}
	})

	It("raises GOMAXPROCS while it runs and puts it back", func(ctx context.Context) {
		before := runtime.GOMAXPROCS(0)
		var during atomic.Int32
		_, err := Run(ctx, Config{Threads: 5}, func(context.Context, *Member) error {
			during.Store(int32(runtime.GOMAXPROCS(0)))
			return nil
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(int(during.Load())).To(Equal(before + 5))
		Expect(runtime.GOMAXPROCS(0)).To(Equal(before))
	})

	It("refuses a team of nobody", func(ctx context.Context) {
		_, err := Run(ctx, Config{}, nil)
		Expect(err).To(MatchError("start a team of 0 threads: at least 1 is needed"))
	})

	It("returns the earliest error of a body, named and matchable, and every one in Errs", func(ctx context.Context) {
		first := make(chan struct{})
		res, err := Run(ctx, Config{Threads: 3}, func(ctx context.Context, m *Member) error {
			switch m.Index {
			case 0:
				<-ctx.Done() // until 2 has failed
				return errors.New("later")
			case 2:
				close(first)
				return errPlanted
			}
			<-first
			return nil
		})
		Expect(err).To(MatchError(errPlanted))
		Expect(err).To(MatchError("member-2: planted"))
		Expect(res.Errs).To(HaveExactElements(MatchError("later"), BeNil(), MatchError(errPlanted)))
	})

	It("merges operations by thread and round, and keeps them on errors", func(ctx context.Context) {
		res, err := Run(ctx, Config{Threads: 2}, func(_ context.Context, m *Member) error {
			for _, round := range []int{1, 0} {
				m.Record(Op{Round: round, Route: "rocblas", Status: "ok", Start: 5, End: time.Duration(10 * (round + 1))})
			}
			if m.Index == 1 {
				return errPlanted
			}
			return nil
		})
		Expect(err).To(MatchError(errPlanted))
		op := func(thread, round int, end int64) wire.Op {
			return wire.Op{Thread: thread, Round: round, Route: "rocblas", Status: "ok", StartNS: 5, EndNS: end}
		}
		Expect(res.Ops).To(Equal([]wire.Op{op(0, 0, 10), op(0, 1, 20), op(1, 0, 10), op(1, 1, 20)}))
	})

	It("lets a panic end the process", func() {
		cmd := exec.Command("/proc/self/exe", "-test.run=^$")
		cmd.Env = append(os.Environ(), panicEnv+"=1")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		Expect(errors.As(err, &exit)).To(BeTrue(), "%v", err)
		Expect(exit.ExitCode()).To(Equal(2), string(out))
		Expect(string(out)).To(ContainSubstring("panic: planted panic"))
		Expect(string(out)).NotTo(ContainSubstring("swallowed"))
	})
})

var _ = Describe("A barrier of a team", func() {
	It("lets nobody pass before all are there, and measures the release", func(ctx context.Context) {
		const n = 8
		var arrived atomic.Int32
		res, err := Run(ctx, Config{Threads: n}, func(_ context.Context, m *Member) error {
			arrived.Add(1)
			if err := m.Barrier(); err != nil {
				return err
			}
			if got := arrived.Load(); got != n {
				return fmt.Errorf("passed when %d of %d had arrived", got, n)
			}
			return nil
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(res.SkewNS).To(HaveLen(n))
		Expect(res.SkewNS).To(ContainElement(BeZero()))
		Expect(res.SkewNS).To(HaveEach(BeNumerically(">=", 0)))
	})

	DescribeTable("breaks when a member ends before it arrived",
		func(ctx context.Context, leave func() error, cause string) {
			res, err := Run(ctx, Config{Threads: 4}, func(_ context.Context, m *Member) error {
				if m.Index == 3 {
					return leave()
				}
				return m.Barrier()
			})
			Expect(err).To(HaveOccurred())
			var broken *BrokenError
			for i := range 3 {
				Expect(errors.As(res.Errs[i], &broken)).To(BeTrue())
				Expect(broken.By).To(Equal("member-3"))
				Expect(broken.Members).To(Equal(4))
				Expect(broken.Error()).To(HaveSuffix(cause))
			}
			Expect(res.SkewNS).To(BeNil())
		},
		Entry("with an error", func() error { return errPlanted }, "had arrived: planted"),
		Entry("without one", func() error { return nil }, "had arrived: left without an error"),
		Entry("by Goexit", func() error { runtime.Goexit(); return nil }, "had arrived: the body did not return"),
	)

	It("reports the cause of a break rather than its echo", func(ctx context.Context) {
		_, err := Run(ctx, Config{Threads: 4}, func(_ context.Context, m *Member) error {
			if m.Index == 3 {
				return errPlanted
			}
			return m.Barrier()
		})
		Expect(err).To(MatchError("member-3: planted"))
	})

	It("breaks when the caller's ctx ends", func(ctx context.Context) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		returned := make(chan error, 2)
		_, err := Run(ctx, Config{Threads: 3}, func(_ context.Context, m *Member) error {
			if m.Index > 0 {
				err := m.Barrier()
				returned <- err
				return err
			}
			cancel(errPlanted)
			<-returned // both of them, before this one arrives or ends
			<-returned
			return nil
		})
		var broken *BrokenError
		Expect(errors.As(err, &broken)).To(BeTrue())
		Expect(broken.By).To(Equal("the caller"))
		Expect(err).To(MatchError(errPlanted))
	}, SpecTimeout(20*time.Second))

	It("stays open for members that fail after it", func(ctx context.Context) {
		res, err := Run(ctx, Config{Threads: 4}, func(_ context.Context, m *Member) error {
			if err := m.Barrier(); err != nil {
				return err
			}
			if m.Index == 0 {
				return errPlanted
			}
			return nil
		})
		Expect(err).To(MatchError("member-0: planted"))
		Expect(res.Errs[1:]).To(HaveEach(BeNil()))
		Expect(res.SkewNS).To(HaveLen(4))
	})

	It("can be left out", func(ctx context.Context) {
		res, err := Run(ctx, Config{Threads: 4}, func(context.Context, *Member) error { return nil })
		Expect(err).NotTo(HaveOccurred())
		Expect(res.SkewNS).To(BeNil())
	})

	It("panics when called twice", func(ctx context.Context) {
		_, err := Run(ctx, Config{Threads: 1}, func(_ context.Context, m *Member) (err error) {
			defer func() { err = fmt.Errorf("%v", recover()) }()
			_ = m.Barrier()
			return m.Barrier()
		})
		Expect(err).To(MatchError("member-0: team: Barrier called twice by member-0"))
	})
})

var _ = Describe("Overlap", func() {
	It("is that of first operations, from the release to their end", func(ctx context.Context) {
		const n = 4
		var inside atomic.Int32
		all := make(chan struct{})
		res, err := Run(ctx, Config{Threads: n}, func(_ context.Context, m *Member) error {
			m.Record(Op{Round: -1, Status: "ok", End: m.Thread.Now()}) // a warm-up, before the barrier
			if err := m.Barrier(); err != nil {
				return err
			}
			if inside.Add(1) == n {
				close(all)
			}
			<-all // so all of them were inside at once
			m.Record(Op{Status: "ok", End: m.Thread.Now()})
			m.Record(Op{Round: 1, Status: "ok", End: m.Thread.Now()})
			return nil
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(res.Overlap).To(Equal(n))
	})

	It("ends where FirstOpDone says, whatever is recorded later", func(ctx context.Context) {
		turn := make(chan struct{}, 1)
		turn <- struct{}{}
		one := func(record bool) Result {
			res, err := Run(ctx, Config{Threads: 3}, func(_ context.Context, m *Member) error {
				if err := m.Barrier(); err != nil {
					return err
				}
				<-turn
				m.released = m.Thread.Now() // as if released one after the other
				if !record {
					m.FirstOpDone()
				}
				for start := m.Thread.Now(); m.Thread.Now() == start; { // the clock moves on
					runtime.Gosched()
				}
				turn <- struct{}{}
				m.Record(Op{Status: "ok", End: time.Hour})
				return nil
			})
			Expect(err).NotTo(HaveOccurred())
			return res
		}
		Expect(one(false).Overlap).To(Equal(1))
		Expect(one(true).Overlap).To(Equal(3), "known bad beside it: the same run by its records")
	})

	It("is 0 where nobody did anything", func(ctx context.Context) {
		res, err := Run(ctx, Config{Threads: 2}, func(_ context.Context, m *Member) error { return m.Barrier() })
		Expect(err).NotTo(HaveOccurred())
		Expect(res.Overlap).To(BeZero())
	})
})

var _ = Describe("The barrier's two stages", func() {
	for _, spin := range []bool{false, true} {
		It(fmt.Sprintf("release everyone (spin %v)", spin), func() {
			for range 200 {
				const n = 4
				b := newBarrier(n, spin)
				errs := make(chan error, n)
				for range n {
					go func() { errs <- b.wait() }()
				}
				for range n {
					Expect(<-errs).To(Succeed())
				}
				b.breakBy("late", errPlanted)
				Expect(b.broken).To(BeNil(), "an open barrier does not break")
			}
		})
	}

	It("do not spin for ever beside a party without a core", func() {
		b := newBarrier(2, true)
		b.rendezvous() // alone: returns by its limit
		Expect(b.released.Load()).To(BeFalse())
	})

	It("keep the first cause", func() {
		b := newBarrier(2, true)
		b.breakBy("a", errPlanted)
		b.breakBy("b", nil)
		Expect(b.wait()).To(MatchError("barrier broken by a after 0 of 2 members had arrived: planted"))
		Expect(strings.Count(b.wait().Error(), "planted")).To(Equal(1), "and every later caller gets it")
	})
})
