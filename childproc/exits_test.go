package childproc_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

var _ = Describe("a child that ends by itself", func() {
	b := newBed()

	It("reports an exit code", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "exit3"})
		Expect(e.Code).To(Equal(3))
		Expect(e.Killed).To(BeFalse())
		Expect(e.KillSignals).To(BeEmpty())
		Expect(e.LeakedPipes).To(BeFalse())
		Expect(e.Evidence).To(BeZero())
		Expect(e.User + e.System).To(BeNumerically(">", 0))
		Expect(e.MaxRSS).To(BeNumerically(">", 1<<20))
		Expect(e.Stdout.Total() + e.Stderr.Total() + e.Events.Total()).To(BeZero())
	})

	DescribeTable("reports a signal from the wait status",
		func(ctx SpecContext, sig syscall.Signal) {
			e := b.run(ctx, childproc.Spec{Entry: "raise", Orders: wire.Spec{Run: int(sig)}})
			Expect(e.Signal).To(Equal(sig))
			Expect(e.Killed).To(BeFalse())
		},
		Entry(nil, unix.SIGSEGV), Entry(nil, unix.SIGABRT), Entry(nil, unix.SIGBUS), Entry(nil, unix.SIGKILL))

	It("tells a signal from a shell's code for one", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Path: "sh", Args: []string{"-c", "exit 139"}})
		Expect(e.Code).To(Equal(139))
	})

	It("lets a panic crash the Go way, with all goroutines", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "panic"})
		Expect(e.Code).To(Equal(2))
		Expect(e.Stderr.String()).To(And(ContainSubstring("panic: on purpose"), ContainSubstring("created by rocstress/childproc.Main")))
	})

	It("lets a nil dereference crash the Go way", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "nil"})
		Expect(e.Code).To(Equal(2))
		Expect(e.Stderr.String()).To(ContainSubstring("nil pointer dereference"))
	})

	It("runs many at once", func(ctx SpecContext) {
		codes := make(chan int, 24)
		for range cap(codes) {
			go func() {
				defer GinkgoRecover()
				e, err := b.l.Run(ctx, childproc.Spec{Entry: "exit3"})
				Expect(err).NotTo(HaveOccurred())
				codes <- e.Code
			}()
		}
		for range cap(codes) {
			Eventually(ctx, codes).WithTimeout(30 * time.Second).Should(Receive(Equal(3)))
		}
		// The last sender may be a moment from the end of its Run.
		Eventually(b.l.Close).WithTimeout(soon).Should(Succeed())
	})

	It("cannot be closed under a running child, nor used once closed", func(ctx SpecContext) {
		cctx, ready := onReady(ctx)
		var during error
		b.run(cctx, childproc.Spec{Entry: "sleep", OnEvent: func(e wire.Event) {
			during = b.l.Close()
			ready(e)
		}})
		Expect(during).To(MatchError(ContainSubstring("1 children are running")))
		Expect(b.l.Close()).To(Succeed())
		Expect(startError(b.l, ctx, childproc.Spec{Entry: "noop"})).To(MatchError(os.ErrClosed))
	})
})

var _ = Describe("the surroundings of a child", func() {
	b := newBed()

	It("gives an entry its environment, and hides the contract from programs it starts", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{
			Entry: "inherits",
			Env:   append(os.Environ(), "ROCSTRESS_OTHER=1", "GOTRACEBACK=none", "KEPT=yes"),
		})
		Expect(e.Code).To(Equal(0))
		Expect(e.Env).To(And(ContainElements("GOTRACEBACK=all", "KEPT=yes", "ROCSTRESS_CHILD=inherits"),
			Not(ContainElement("GOTRACEBACK=none")), Not(ContainElement("ROCSTRESS_OTHER=1"))))
		Expect(b.only("env").Detail).To(And(ContainSubstring("KEPT=yes"), Not(ContainSubstring("ROCSTRESS_"))))
		Expect(b.only("fds").Detail).To(Equal(inherited()))
		Expect(b.only("stdin").Detail).To(Equal(os.DevNull))
		Expect(b.only("pgid").Count).To(Equal(e.PID))
		self, err := os.Executable()
		Expect(err).NotTo(HaveOccurred())
		Expect(self).To(ContainSubstring(b.only("comm").Detail))
	})

	It("gives a foreign program no part of the contract", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{
			Path: "sh", Args: []string{"-c", "env; pwd; ls /proc/self/fd"},
			Env: []string{"PATH=" + os.Getenv("PATH"), "ROCSTRESS_CHILD=noop", "GOTRACEBACK=none"},
			Dir: "/",
		})
		Expect(e.Env).To(ConsistOf("PATH="+os.Getenv("PATH"), "GOTRACEBACK=none"))
		Expect(e.Stdout.String()).To(And(ContainSubstring("GOTRACEBACK=none"), Not(ContainSubstring("ROCSTRESS")),
			HaveSuffix("\n/\n"+inherited())))
	})

	It("gives the settings of a test ABI to an entry alone", func(ctx SpecContext) {
		env := append(os.Environ(), wire.EnvABI+"=arch=x")
		Expect(b.run(ctx, childproc.Spec{Entry: "noop", Env: env}).Env).To(ContainElement(wire.EnvABI + "=arch=x"))
		Expect(b.run(ctx, childproc.Spec{Path: "true", Env: env}).Env).NotTo(ContainElement(HavePrefix("ROCSTRESS_")))
	})

	It("has no core limit but zero, and leaves the driver's alone", func(ctx SpecContext) {
		b.run(ctx, childproc.Spec{Entry: "core-limit"})
		if why := b.told("skip"); len(why) > 0 {
			Skip("the core limit cannot be raised here: " + why[0].Detail)
		}
		Expect(b.only("child").Detail).To(Equal("0"))
		Expect(b.only("driver").Count).To(Equal(1 << 20))
	})

	It("is of the same build even after the file was removed", func(ctx SpecContext) {
		self, err := os.ReadFile("/proc/self/exe")
		Expect(err).NotTo(HaveOccurred())
		copied := GinkgoT().TempDir() + "/copy"
		Expect(os.WriteFile(copied, self, 0o755)).To(Succeed())
		b.run(ctx, childproc.Spec{Path: copied, Entry: "replaced"})
		Expect(b.only("code").Count).To(Equal(3))
	})
})

var _ = Describe("the child contract", func() {
	b := newBed()

	It("refuses an unknown entry, naming it and those there are", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "nope"})
		Expect(e.Code).To(Equal(childproc.ExitOrders))
		Expect(e.Stderr.String()).To(And(ContainSubstring(`"nope"`), ContainSubstring("unknown entry"),
			ContainSubstring("close-fd3, core-limit"), ContainSubstring("torn")))
	})

	DescribeTable("refuses orders it cannot have understood",
		func(spec []string, pipes bool, says string) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), append(spec, wire.EnvChild+"=noop")...)
			if pipes {
				r, w, err := os.Pipe()
				Expect(err).NotTo(HaveOccurred())
				defer r.Close()
				defer w.Close()
				cmd.ExtraFiles = []*os.File{w, r}
			}
			out, _ := cmd.CombinedOutput()
			Expect(string(out)).To(ContainSubstring(says))
			Expect(cmd.ProcessState.ExitCode()).To(Equal(childproc.ExitOrders))
		},
		Entry("missing", nil, true, "ROCSTRESS_SPEC is not set"),
		Entry("malformed", []string{`ROCSTRESS_SPEC={"v":`}, true, "ROCSTRESS_SPEC: unexpected EOF"),
		Entry("unknown version", []string{`ROCSTRESS_SPEC={"v":99}`}, true, "version 99"),
		Entry("unknown field", []string{`ROCSTRESS_SPEC={"v":1,"colour":"red"}`}, true, "colour"),
		Entry("no events pipe", []string{`ROCSTRESS_SPEC={"v":1}`}, false, "descriptor 3"))

	It("runs an entry for a well-formed document by hand, until the lifeline ends", func() {
		er, ew, err := os.Pipe()
		Expect(err).NotTo(HaveOccurred())
		defer er.Close()
		lr, lw, err := os.Pipe()
		Expect(err).NotTo(HaveOccurred())
		defer lr.Close()
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), wire.EnvChild+"=sleep", `ROCSTRESS_SPEC={"v":1}`)
		cmd.ExtraFiles = []*os.File{ew, lr}
		Expect(cmd.Start()).To(Succeed())
		Expect(ew.Close()).To(Succeed())
		_, err = er.Read(make([]byte, 100))
		Expect(err).NotTo(HaveOccurred())
		Expect(running(cmd.Process.Pid)).To(BeTrue())
		Expect(lw.Close()).To(Succeed())
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		Eventually(ended).WithTimeout(soon).Should(BeClosed())
		Expect(cmd.ProcessState.ExitCode()).To(Equal(childproc.ExitOrphaned))
	})
})

var _ = Describe("a child that never ran", func() {
	b := newBed()

	It("names the binary that is missing", func(ctx SpecContext) {
		err := startError(b.l, ctx, childproc.Spec{Path: "/no/such/program"})
		Expect(err).To(MatchError(unix.ENOENT))
		Expect(err).To(MatchError(ContainSubstring("start /no/such/program: exec: ENOENT (2)")))
		err = startError(b.l, ctx, childproc.Spec{Path: "no-such-program"})
		Expect(err).To(MatchError(os.ErrNotExist))
		Expect(err).To(MatchError(ContainSubstring("look up in PATH: not found")))
	})

	It("names the binary that is not executable", func(ctx SpecContext) {
		path := GinkgoT().TempDir() + "/text"
		Expect(os.WriteFile(path, []byte("text\n"), 0o644)).To(Succeed())
		err := startError(b.l, ctx, childproc.Spec{Path: path, Entry: "noop"})
		Expect(err).To(MatchError(unix.EACCES))
		Expect(err).To(MatchError(ContainSubstring("EACCES (13)")))
		Expect(os.Chmod(path, 0o755)).To(Succeed())
		Expect(startError(b.l, ctx, childproc.Spec{Path: path})).To(MatchError(unix.ENOEXEC))
	})

	It("names the directory that is missing", func(ctx SpecContext) {
		err := startError(b.l, ctx, childproc.Spec{Entry: "noop", Dir: "/no/such/dir"})
		Expect(err).To(MatchError(And(ContainSubstring("chdir /no/such/dir"), ContainSubstring("ENOENT"))))
	})

	It("refuses a spec that makes no sense", func(ctx SpecContext) {
		for _, s := range []childproc.Spec{{Deadline: -1}, {Grace: -1}, {KeepBytes: -1}} {
			Expect(startError(b.l, ctx, s)).To(MatchError(ContainSubstring("negative")))
		}
		big := wire.Spec{Scenario: strings.Repeat("x", 1<<20)}
		Expect(startError(b.l, ctx, childproc.Spec{Entry: "noop", Orders: big})).
			To(MatchError(ContainSubstring("encode orders")))
	})

	It("does not start for a context that has ended", func(ctx SpecContext) {
		cctx, ready := onReady(ctx)
		ready(wire.Event{})
		Expect(startError(b.l, cctx, childproc.Spec{Entry: "noop"})).To(MatchError(cctx.Err()))
	})

	It("leaks nothing when it runs out of descriptors, at whatever step", func(ctx SpecContext) {
		e := b.run(ctx, childproc.Spec{Entry: "few-files"})
		Expect(e.Code).To(Equal(0), e.Stderr.String())
		// Three pipes, a pidfd and the runtime's own pipe for errors of exec.
		Expect(b.only("refused").Count).To(BeNumerically(">=", 7))
		Expect(b.only("refused").Detail).To(BeEmpty())
		Expect(b.only("leaked").Detail).To(BeEmpty())
		Expect(b.told("refusal")[0].Detail).To(ContainSubstring("pipe: EMFILE (24), too many open files: raise the limit"))
	})
})
