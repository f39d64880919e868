package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vbauerster/mpb/v8"
	"golang.org/x/sys/unix"

	"rocstress/harness"
)

// sharedBuffer is a bytes.Buffer for writers of other goroutines.
type sharedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (s *sharedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sharedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func finished(o harness.Outcome, done int) harness.Progress {
	return harness.Progress{
		Record: harness.Record{Scenario: "first-gemm", Arm: "removed", Run: 1, Child: done, Outcome: o},
		Done:   done, Planned: 40, Elapsed: time.Duration(done) * 500 * time.Millisecond,
	}
}

var _ = Describe("progress", func() {
	It("counts rate, time left and failures by outcome", func() {
		c := newCounter(40)
		Expect(c.String()).To(Equal("0 of 40 children; failed: none"))
		c.add(finished(harness.Pass, 1))
		c.add(finished(harness.WrongResult, 2))
		c.add(finished(harness.WrongResult, 3))
		c.add(finished(harness.HostCrash, 4))
		Expect(c.String()).To(Equal("4 of 40 children, 2/s, about 18s left; failed: wrong_result 2, host_crash 1"))
		c.add(finished(harness.NotMeasured, 40))
		Expect(c.String()).To(Equal("40 of 40 children, 2/s; failed: wrong_result 2, host_crash 1; not measured: 1"))
	})

	It("takes the rate of a resumed campaign from what it ran itself", func() {
		c := newCounter(40)
		p := finished(harness.Pass, 24)
		p.Earlier, p.Elapsed = 20, 2*time.Second
		c.add(p)
		Expect(c.String()).To(Equal("24 of 40 children, 2/s, about 8s left; failed: none"))
	})

	It("prints a line at a tick, where something has happened", func() {
		var out sharedBuffer
		ticks := make(chan time.Time)
		stopped := false
		l := newLines(&out, 40, ticks, func() { stopped = true })
		tick := func() {
			ticks <- time.Time{}
			ticks <- time.Time{} // taken once the first has been dealt with
		}
		l.observe(finished(harness.Pass, 1))
		Expect(out.String()).To(BeEmpty())
		tick()
		tick()
		Expect(strings.Count(out.String(), "\n")).To(Equal(1), out.String())
		l.line("FAIL")
		l.observe(finished(harness.Pass, 2))
		tick()
		l.stop()
		Expect(stopped).To(BeTrue())
		Expect(out.String()).To(MatchRegexp(`^1 of 40 .*\nFAIL\n2 of 40 .*\n$`))
	})

	It("draws a bar on a terminal and prints above it", func() {
		var out sharedBuffer
		b := newBar(&out, 40, mpb.ForceTTY(), mpb.WithAutoRefresh())
		b.observe(finished(harness.WrongResult, 1))
		b.line("FAIL first-gemm")
		Eventually(out.String).Should(And(ContainSubstring("FAIL first-gemm\n"), ContainSubstring("1 of 40 children")))
		b.stop()
		after := out.String()
		b.counts.add(finished(harness.Pass, 2))
		Consistently(out.String, "300ms").Should(Equal(after))
	})

	It("keeps what a child printed from acting on a terminal", func() {
		r := harness.Record{Scenario: "s", Arm: "a", Run: 1, Child: 2, Outcome: harness.HostAbort, Signature: "\x1b[2J\n::error::x"}
		Expect(failureLine(r, "stress replay d")).To(Equal(
			`FAIL s, a, run 1, child 2: host_abort: \x1b[2J\n::error::x` + "\n     reproduce: stress replay d"))
	})
})

var _ = Describe("where a line can be drawn over", func() {
	// pty returns the far end of a pseudo-terminal of so many columns.
	pty := func(columns uint16) *os.File {
		GinkgoHelper()
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(master.Close)
		n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
		Expect(err).NotTo(HaveOccurred())
		Expect(unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)).To(Succeed())
		Expect(unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})).To(Succeed())
		far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(far.Close)
		return far
	}
	It("is a terminal with a size", func() {
		Expect(canRedraw(pty(80), nil)).To(BeTrue())
		Expect(canRedraw(pty(80), []string{"TERM=dumb"})).To(BeFalse())
		Expect(canRedraw(pty(0), nil)).To(BeFalse())
		Expect(canRedraw(&sharedBuffer{}, nil)).To(BeFalse())
		null, err := os.Open(os.DevNull)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(null.Close)
		Expect(canRedraw(null, nil)).To(BeFalse())
	})
})
