package harness_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
	"rocstress/harness"
)

// TestMain re-executes this binary as children that misbehave.
func TestMain(m *testing.M) {
	childproc.Main(map[string]childproc.Entry{harness.ChildEntry: misbehave})
	os.Exit(m.Run())
}

// misbehave does what its orders call a scenario.
func misbehave(o wire.Spec, ev *wire.Writer) int {
	greet(ev)
	switch o.Scenario {
	case "exits-3":
		return 3
	case "segv", "abrt":
		return becomeSignal(o.Scenario)
	case "spins":
		for n := uint64(1); n != 0; n++ {
		}
	case "sleeps":
		time.Sleep(time.Hour)
	case "ignores-signals":
		signal.Ignore(unix.SIGTERM, unix.SIGQUIT)
		time.Sleep(time.Hour)
	case "grandchild":
		cmd := exec.Command("setsid", "sleep", "60")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	case "floods":
		flood()
	case "garbage":
		raw([]byte("\x00\xff no event\n"))
	case "long-line":
		raw(append(bytes.Repeat([]byte{'x'}, 10<<20), '\n'))
	case "closes-events":
		_ = unix.Close(wire.EventsFD)
		return 0
	case "done-then-dies":
		finish(ev)
		return becomeSignal("segv")
	case "done-twice":
		finish(ev)
	case "no-done":
		return 0
	case "panics":
		panic("on purpose")
	}
	finish(ev)
	return 0
}

func greet(ev *wire.Writer) {
	_ = ev.Send(wire.Event{Kind: wire.KindHello, Hello: &wire.Hello{V: wire.SpecVersion, PID: os.Getpid()}})
}

func finish(ev *wire.Writer) { _ = ev.Send(wire.Event{Kind: wire.KindDone}) }

// becomeSignal turns the process into a shell that dies by a signal: Go's own
// handlers would turn most of them into exit code 2.
func becomeSignal(name string) int {
	err := syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -" + name + " $$"}, os.Environ())
	fmt.Fprintln(os.Stderr, "exec:", err)
	return 9
}

func raw(b []byte) {
	for len(b) > 0 {
		n, err := unix.Write(wire.EventsFD, b)
		if err != nil {
			panic(err)
		}
		b = b[n:]
	}
}

// flood writes 1 GiB to each stream, both at once.
func flood() {
	var wg sync.WaitGroup
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		wg.Go(func() {
			chunk := bytes.Repeat([]byte("all is well, nothing to see here\n"), 1<<11)
			for left := 1 << 30; left > 0; left -= len(chunk) {
				if _, err := f.Write(chunk); err != nil {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
}

// observe runs one child that misbehaves as name says, under a short deadline.
func observe(ctx SpecContext, name, path string, deadline time.Duration) harness.Observation {
	GinkgoHelper()
	launcher, err := childproc.NewLauncher()
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(launcher.Close()).To(Succeed()) }()
	c := harness.Campaign{
		Plan: harness.Plan{Runs: 1, Children: 1, Parallel: 1, Device: "sim", Scenarios: []harness.ScenarioPlan{{
			Name: name, Arms: []harness.Arm{{Name: harness.ArmRun}}, Deadline: deadline,
		}}},
		Run: func(runCtx context.Context, s childproc.Spec) (childproc.Exit, error) {
			s.Grace = 300 * time.Millisecond
			return launcher.Run(runCtx, s)
		},
		Path: path,
	}
	o, err := c.RunChild(ctx, harness.Key{Scenario: name, Arm: harness.ArmRun, Run: 1, Child: 1})
	Expect(err).NotTo(HaveOccurred())
	return o
}

// What a child can do to itself, and what that is called.
var _ = Describe("A child that misbehaves", Ordered, func() {
	const long, short = 5 * time.Minute, 500 * time.Millisecond
	DescribeTable("is called what it is",
		func(ctx SpecContext, name string, deadline time.Duration, want harness.Outcome, check func(harness.Record)) {
			before := openFiles()
			o := observe(ctx, name, "", deadline)
			Expect(o.Record.Outcome).To(Equal(want), "evidence: %s", o.Record.Evidence)
			if check != nil {
				check(o.Record)
			}
			Expect(syscall.Kill(o.PID, 0)).To(MatchError(syscall.ESRCH), "the process is gone")
			Expect(openFiles()).To(BeNumerically("<=", before))
		},
		Entry(nil, "behaves", long, harness.Pass, nil),
		Entry(nil, "exits-3", long, harness.HostAbort, func(r harness.Record) { Expect(r.Exit.Code).To(Equal(3)) }),
		Entry(nil, "segv", long, harness.HostCrash, func(r harness.Record) { Expect(r.Exit.Signal).To(Equal("SIGSEGV")) }),
		Entry(nil, "abrt", long, harness.HostAbort, func(r harness.Record) { Expect(r.Exit.Signal).To(Equal("SIGABRT")) }),
		Entry(nil, "panics", long, harness.HostAbort, func(r harness.Record) { Expect(r.Exit.Code).To(Equal(2)) }),
		Entry(nil, "spins", short, harness.Timeout, func(r harness.Record) { Expect(r.Flags.HarnessKilled).To(BeTrue()) }),
		Entry(nil, "sleeps", short, harness.Timeout, func(r harness.Record) { Expect(r.Flags.HarnessKilled).To(BeTrue()) }),
		Entry(nil, "ignores-signals", short, harness.Timeout, func(r harness.Record) { Expect(r.Exit.Signal).To(Equal("SIGKILL")) }),
		Entry(nil, "grandchild", long, harness.Pass, func(r harness.Record) { Expect(r.Flags.LeakedPipes).To(BeTrue()) }),
		Entry(nil, "floods", long, harness.Pass, nil),
		Entry(nil, "garbage", long, harness.Incomplete, nil),
		Entry(nil, "long-line", long, harness.Incomplete, nil),
		Entry(nil, "closes-events", long, harness.Incomplete, nil),
		Entry(nil, "no-done", long, harness.Incomplete, nil),
		Entry(nil, "done-then-dies", long, harness.HostCrash, func(r harness.Record) { Expect(r.Flags.Phase).To(Equal(wire.PhaseTeardown)) }),
		Entry(nil, "done-twice", long, harness.Incomplete, nil),
	)
	It("is not measured where its binary is missing or not executable", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		plain := filepath.Join(dir, "plain")
		Expect(os.WriteFile(plain, []byte("no program"), 0o600)).To(Succeed())
		for path, why := range map[string]string{filepath.Join(dir, "missing"): "ENOENT", plain: "EACCES"} {
			o := observe(ctx, "behaves", path, long)
			Expect(o.Record.Outcome).To(Equal(harness.NotMeasured))
			Expect(o.Record.Evidence).To(And(ContainSubstring(path), ContainSubstring(why)))
		}
	})
})

func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	Expect(err).NotTo(HaveOccurred())
	return len(entries)
}
