package childproc

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// stuck is a target that no signal ends, as a thread inside a kernel driver.
type stuck struct {
	ended  chan struct{}
	ending syscall.Signal // that ends it after all; 0: none
	got    []syscall.Signal
	groups []bool
}

func (s *stuck) done() <-chan struct{} { return s.ended }

func (s *stuck) signal(sig syscall.Signal, group bool) {
	s.got, s.groups = append(s.got, sig), append(s.groups, group)
	if sig == s.ending {
		close(s.ended)
	}
}

func testLadder(collected *int) ladder {
	return ladder{
		deadline: time.Millisecond,
		grace:    time.Millisecond,
		killWait: time.Millisecond,
		first:    unix.SIGQUIT,
		began:    time.Now(),
		evidence: func() Evidence { *collected++; return Evidence{At: 1} },
	}
}

func TestLadderGivesUp(t *testing.T) {
	g := NewWithT(t)
	s, n, e := &stuck{ended: make(chan struct{})}, 0, Exit{}
	testLadder(&n).climb(t.Context(), s, &e)
	g.Expect(e.Unkillable).To(BeTrue())
	g.Expect(s.got).To(Equal([]syscall.Signal{unix.SIGQUIT, unix.SIGKILL}))
	g.Expect(s.groups).To(Equal([]bool{false, true}))
	g.Expect(e.KillReason).To(Equal(ReasonDeadline))
	g.Expect(e.Evidence.At).To(BeEquivalentTo(1))
	g.Expect(n).To(Equal(1))
}

func TestLadderStopsAtTheSignalThatEnds(t *testing.T) {
	for _, sig := range []syscall.Signal{unix.SIGQUIT, unix.SIGKILL} {
		g := NewWithT(t)
		s, n, e := &stuck{ended: make(chan struct{}), ending: sig}, 0, Exit{}
		l := testLadder(&n)
		l.killWait = time.Minute
		if sig == unix.SIGQUIT {
			l.grace = time.Minute
		}
		l.climb(t.Context(), s, &e)
		g.Expect(e.Unkillable).To(BeFalse())
		g.Expect(s.got[len(s.got)-1]).To(Equal(sig))
	}
}

func TestLadderSparesWhatEndsDuringEvidence(t *testing.T) {
	g := NewWithT(t)
	s, n, e := &stuck{ended: make(chan struct{})}, 0, Exit{}
	l := testLadder(&n)
	l.evidence = func() Evidence { close(s.ended); return Evidence{} }
	l.climb(t.Context(), s, &e)
	g.Expect(e.Killed).To(BeFalse())
	g.Expect(s.got).To(BeEmpty())
}

func TestLadderTakesNoEvidenceOnCancel(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, n, e := &stuck{ended: make(chan struct{}), ending: unix.SIGQUIT}, 0, Exit{}
	l := testLadder(&n)
	l.deadline, l.grace = time.Hour, time.Minute
	l.climb(ctx, s, &e)
	g.Expect(e.KillReason).To(Equal(ReasonCanceled))
	g.Expect(n).To(BeZero())
}

// started starts a child that sleeps, behind the back of Run.
func started(t *testing.T) *process {
	t.Helper()
	g := NewWithT(t)
	path, err := exec.LookPath("sleep")
	g.Expect(err).NotTo(HaveOccurred())
	l, err := NewLauncher()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(l.Close()).To(Succeed()) })
	rep := l.request(t.Context(), startRequest{cmd: command{path: path, argv: []string{"sleep", "60"}}, reply: make(chan startReply, 1)})
	g.Expect(rep.err).NotTo(HaveOccurred())
	return newProcess(rep)
}

func TestAbandonJoinsTheWatcherOfARunningChild(t *testing.T) {
	g := NewWithT(t)
	p, e := started(t), Exit{}
	p.abandon(&e)
	p.close()
	g.Expect(e.Code).To(Equal(-1))
	g.Expect(e.Dur).To(BeNumerically(">", 0))
	g.Expect(p.ended).NotTo(BeClosed())
	g.Expect(unix.Kill(p.pid, unix.SIGKILL)).To(Succeed())
	g.Expect(unix.Wait4(p.pid, nil, 0, nil)).To(Equal(p.pid))
}

func TestChildReapedByOthersIsTold(t *testing.T) {
	for _, when := range []string{"before its end was seen", "after"} {
		t.Run(when, func(t *testing.T) {
			g := NewWithT(t)
			p, e := started(t), Exit{}
			p.signal(unix.SIGKILL, false)
			if when == "after" {
				<-p.ended
			}
			_, err := unix.Wait4(p.pid, nil, 0, nil)
			g.Expect(err).NotTo(HaveOccurred())
			<-p.ended
			p.reap(&e)
			p.close()
			g.Expect(e.Code).To(Equal(-1))
			g.Expect(e.WaitError).To(ContainSubstring("no child processes"))
			g.Expect(p.os.Signal(unix.SIGKILL)).To(MatchError(ContainSubstring("released")), "its handle was kept")
		})
	}
}
