package sim_test

import (
	"bytes"
	"log"
	"os"
	"os/exec"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// crashOnPurpose is what the re-executed test binary does. It returns only if
// the crash did not happen.
func crashOnPurpose(mode string) {
	th := sched.Free(nil).NewThread("main")
	switch mode {
	case "segv":
		sim.Crash(th, syscall.SIGSEGV, "test")
	case "abort":
		sim.Crash(th, syscall.SIGABRT, "test")
	case "use-after-free":
		useFreedHandle(th, func(d *sim.Driver, h rocm.BLAS) error { return d.RocBLASSetStream(th, h, 0) })
	case "double-free":
		useFreedHandle(th, func(d *sim.Driver, h rocm.BLAS) error { return d.RocBLASDestroyHandle(th, h) })
	default:
		log.Fatalf("unknown crash %q", mode)
	}
	log.Fatalf("still alive after %q", mode)
}

func useFreedHandle(th *sched.Thread, use func(*sim.Driver, rocm.BLAS) error) {
	d, err := sim.Open(sim.DefaultConfig())
	if err != nil {
		log.Fatal(err)
	}
	h, err := d.RocBLASCreateHandle(th)
	if err != nil {
		log.Fatal(err)
	}
	if err := d.RocBLASDestroyHandle(th, h); err != nil {
		log.Fatal(err)
	}
	log.Fatal(use(d, h))
}

var _ = Describe("Crash", func() {
	DescribeTable("ends the process by the signal itself, without a Go traceback",
		func(mode string, want syscall.Signal) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), crashEnv+"="+mode, "GOTRACEBACK=all")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			Expect(err).To(BeAssignableToTypeOf(&exec.ExitError{}), out.String())
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			Expect(status.Signaled()).To(BeTrue(), "exit %d: %s", status.ExitStatus(), out.String())
			Expect(status.Signal()).To(Equal(want))
			Expect(out.String()).To(BeEmpty())
		},
		Entry("a segmentation fault", "segv", syscall.SIGSEGV),
		Entry("an abort", "abort", syscall.SIGABRT),
		Entry("binding a freed handle", "use-after-free", syscall.SIGSEGV),
		Entry("freeing a handle twice", "double-free", syscall.SIGSEGV),
	)
})
