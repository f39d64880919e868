package childproc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

// bed is one Launcher with the checks that every spec ends with: no
// descriptor, no goroutine and no process is left.
type bed struct {
	l      *childproc.Launcher
	events []wire.Event // of the last run
}

// newBed must be called while a container is built.
func newBed() *bed {
	b := &bed{}
	var fds map[string]bool
	var ignore goleak.Option
	BeforeEach(func() {
		ignore = goleak.IgnoreCurrent()
		fds = openFiles()
		var err error
		b.l, err = childproc.NewLauncher()
		Expect(err).NotTo(HaveOccurred())
		b.events = nil
	})
	AfterEach(func() {
		Expect(b.l.Close()).To(Succeed())
		Expect(openedSince(fds)).To(BeEmpty(), "open descriptors")
		Expect(goleak.Find(ignore)).To(Succeed())
	})
	return b
}

// run runs s, and checks what must hold for any child.
func (b *bed) run(ctx context.Context, s childproc.Spec) childproc.Exit {
	GinkgoHelper()
	fds := openFiles()
	on := s.OnEvent
	b.events = nil
	s.OnEvent = func(e wire.Event) {
		b.events = append(b.events, e)
		if on != nil {
			on(e)
		}
	}
	e, err := b.l.Run(ctx, s)
	Expect(err).NotTo(HaveOccurred())
	Expect(e.PID).To(BeNumerically(">", 1))
	Expect(unix.Kill(e.PID, 0)).To(MatchError(unix.ESRCH), "the child is still there")
	Expect(openedSince(fds)).To(BeEmpty(), "open descriptors after Run")
	Expect(e.WaitError).To(BeEmpty())
	Expect(e.Unkillable).To(BeFalse())
	Expect(e.Core).To(BeFalse())
	Expect(e.Dur).To(BeNumerically(">", 0))
	Expect(e.Code == -1).To(Equal(e.Signal != 0))
	return e
}

// told returns the checks named name that the child sent.
func (b *bed) told(name string) []*wire.Check {
	var out []*wire.Check
	for _, e := range b.events {
		if e.Kind == wire.KindCheck && e.Check.Name == name {
			out = append(out, e.Check)
		}
	}
	return out
}

// only returns the one check named name.
func (b *bed) only(name string) *wire.Check {
	GinkgoHelper()
	c := b.told(name)
	Expect(c).To(HaveLen(1), name)
	return c[0]
}

// onReady returns a context for run and an OnEvent that cancels it at the
// first event.
func onReady(ctx context.Context) (context.Context, func(wire.Event)) {
	ctx, cancel := context.WithCancel(ctx)
	var once sync.Once
	return ctx, func(wire.Event) { once.Do(cancel) }
}

// running reports whether pid is a process that has not ended. Orphans may
// stay zombies for a while where nobody reaps them.
func running(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// startError returns the error of a Run that must not start.
func startError(l *childproc.Launcher, ctx context.Context, s childproc.Spec) *childproc.StartError {
	GinkgoHelper()
	fds := openFiles()
	e, err := l.Run(ctx, s)
	var se *childproc.StartError
	Expect(errors.As(err, &se)).To(BeTrue(), "%v", err)
	Expect(e).To(BeZero())
	Expect(openedSince(fds)).To(BeEmpty(), "open descriptors after a failed start")
	return se
}

// inherited returns the descriptors that any program started here has: what
// the one who started the tests passed on is nothing of ours.
func inherited() string {
	GinkgoHelper()
	out, err := exec.Command("ls", "/proc/self/fd").Output()
	Expect(err).NotTo(HaveOccurred())
	return string(out)
}

const soon = 2 * time.Second
