package rocm_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

func TestRocm(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "rocm")
	// Ginkgo leaves its own interrupt handler behind.
	goleak.VerifyNone(t, goleak.IgnoreAnyFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2"))
}

// rig is a Device on a simulated runtime, with what a test needs to use it.
type rig struct {
	rt       *sched.Runtime
	th       *sched.Thread
	drv      *sim.Driver
	dev      *rocm.Device
	warnings []string
}

// newRig opens a Device on a simulated runtime with the given settings, and
// closes both when the spec ends.
func newRig(settings string, removed ...string) *rig {
	GinkgoHelper()
	cfg, err := sim.ParseConfig(settings)
	Expect(err).NotTo(HaveOccurred())
	drv, err := sim.Open(cfg)
	Expect(err).NotTo(HaveOccurred())
	set, err := rocm.ParseSet(removed)
	Expect(err).NotTo(HaveOccurred())
	rt := sched.Free(nil)
	r := &rig{rt: rt, th: rt.NewThread("test"), drv: drv}
	r.dev, err = rocm.NewDevice(r.th, drv, rocm.Config{
		Removed: set,
		Warn:    func(line string) { r.warnings = append(r.warnings, line) },
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		Expect(r.dev.Close(r.th)).To(Succeed())
		Expect(drv.Close(r.th)).To(Succeed())
		rt.Wait()
	})
	return r
}

// multiply runs [[1 2] [3 4]] x [[5 6] [7 8]] on a stream of its own and
// returns the words of the result and the route it took.
func multiply(th *sched.Thread, drv rocm.Driver, dev *rocm.Device) ([]uint32, rocm.Route, error) {
	s, err := dev.NewStream(th)
	if err != nil {
		return nil, "", err
	}
	host, err := drv.HostAlloc(th, 12)
	if err != nil {
		return nil, "", err
	}
	mem, err := drv.Malloc(th, 48)
	if err != nil {
		return nil, "", err
	}
	copy(host.Words, floats(1, 2, 3, 4, 5, 6, 7, 8))
	if err := drv.MemsetD32Async(th, mem+32, poison, 4, s); err != nil {
		return nil, "", err
	}
	if err := drv.MemcpyHtoDAsync(th, mem, host, 8, s); err != nil {
		return nil, "", err
	}
	route, err := dev.Gemm(th, s, rocm.GEMM{M: 2, K: 2, N: 2, A: mem, B: mem + 16, C: mem + 32})
	if err != nil {
		return nil, route, err
	}
	if err := drv.MemcpyDtoHAsync(th, host.Slice(8, 4), mem+32, 4, s); err != nil {
		return nil, route, err
	}
	if err := drv.StreamSynchronize(th, s); err != nil {
		return nil, route, err
	}
	return append([]uint32(nil), host.Words[8:]...), route, nil
}
