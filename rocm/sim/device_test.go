package sim_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/rocm"
	"rocstress/rocm/sim"
)

var _ = Describe("A runtime without a device", func() {
	It("says so, and fails every call that needs one", func() {
		r := newRig(func(c *sim.Config) { c.Devices = 0 })
		_, err := r.DeviceCount(r.th)
		var none *rocm.NoDeviceError
		Expect(err).To(BeAssignableToTypeOf(none))
		Expect(err).To(MatchError(ContainSubstring("hipErrorNoDevice (100)")))
		_, err = r.Malloc(r.th, 4)
		Expect(err).To(haveCode("hip", rocm.HipErrorNoDevice))
		_, err = r.RocBLASCreateHandle(r.th)
		Expect(err).To(haveCode("rocblas", rocm.RocBLASInternalError))
		Expect(r.StreamSynchronize(r.th, 0)).To(haveCode("hip", rocm.HipErrorNoDevice))
	})
})

var _ = Describe("A closed runtime", func() {
	It("fails every call and closes twice", func() {
		r := newRig(nil)
		must0(r.Close(r.th))
		must0(r.Close(r.th))
		_, err := r.StreamCreate(r.th)
		Expect(err).To(haveCode("hip", 4))
		Expect(r.MemsetD32Async(r.th, 0, 0, 1, 0)).To(haveCode("hip", 4))
	})
})

var _ = Describe("Devices", func() {
	It("have null streams of their own", func() {
		r := newRig(func(c *sim.Config) { c.Devices = 2 })
		r.load(0)
		must0(r.SetDevice(r.th, 1))
		must0(r.StreamQuery(r.th, 0))
		must0(r.SetDevice(r.th, 0))
		Expect(rocm.IsNotReady(r.StreamQuery(r.th, 0))).To(BeTrue())
	})

	It("have the properties of the settings", func() {
		r := newRig(func(c *sim.Config) { c.Arch = "gfx90a:sramecc+:xnack-" })
		Expect(r.DeviceProps(r.th, 0)).To(Equal(rocm.DeviceProps{
			Name: "simulated gfx90a", Arch: "gfx90a:sramecc+:xnack-", TotalMemory: 1 << 30,
			MaxThreadsPerBlock: 1024, MultiProcessors: 20, WarpSize: 32,
		}))
	})
})

var _ = Describe("A kernel launch", func() {
	DescribeTable("is checked by the call", func(grid, block rocm.Dim3, code int) {
		r := newRig(nil)
		ran := 0
		f := must(r.LoadKernel(r.th, &rocm.Kernel{Name: "k", Body: func(rocm.KernelMemory, rocm.Launch) error {
			ran++
			return nil
		}}))
		err := r.Launch(r.th, f, rocm.Launch{Grid: grid, Block: block})
		must0(r.StreamSynchronize(r.th, 0))
		if code == 0 {
			must0(err)
			Expect(ran).To(Equal(1))
			return
		}
		Expect(err).To(haveCode("hip", code))
		Expect(ran).To(BeZero())
	},
		Entry("the largest block", rocm.Dim3{X: 1, Y: 1, Z: 1}, rocm.Dim3{X: 16, Y: 64, Z: 1}, 0),
		Entry("a block of 2048", rocm.Dim3{X: 1, Y: 1, Z: 1}, rocm.Dim3{X: 2048, Y: 1, Z: 1}, rocm.HipErrorInvalidValue),
		Entry("a product of 2^96", rocm.Dim3{X: 1, Y: 1, Z: 1}, rocm.Dim3{X: 1 << 31, Y: 1 << 31, Z: 1 << 31}, rocm.HipErrorInvalidValue),
		Entry("an empty block", rocm.Dim3{X: 1, Y: 1, Z: 1}, rocm.Dim3{X: 1, Y: 0, Z: 1}, rocm.HipErrorInvalidValue),
		Entry("an empty grid", rocm.Dim3{X: 1, Y: 1, Z: 0}, rocm.Dim3{X: 1, Y: 1, Z: 1}, rocm.HipErrorInvalidValue),
		Entry("2^32-1 threads in a dimension", rocm.Dim3{X: 1<<32 - 1, Y: 1, Z: 1}, rocm.Dim3{X: 1, Y: 1, Z: 1}, 0),
		Entry("2^32 threads in a dimension", rocm.Dim3{X: 1 << 22, Y: 1, Z: 1}, rocm.Dim3{X: 1024, Y: 1, Z: 1}, rocm.HipErrorInvalidConfiguration),
	)

	It("needs a kernel with a body, and a loaded one", func() {
		r := newRig(nil)
		_, err := r.LoadKernel(r.th, &rocm.Kernel{Name: "source only", Source: "..."})
		Expect(err).To(haveCode("hiprtc", 6))
		one := rocm.Dim3{X: 1, Y: 1, Z: 1}
		Expect(r.Launch(r.th, 12, rocm.Launch{Grid: one, Block: one})).To(haveCode("hip", rocm.HipErrorInvalidHandle))
	})
})
