package hip

import (
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

// The CUDA test ABI over a fake CUDA: what it passes on and how it answers.
// TestConformance runs the whole suite on it.
var _ = Describe("the CUDA test ABI", Ordered, func() {
	var lib, path string

	BeforeAll(func() {
		built, err := buildABI("nvidia")
		skipUnbuildable(err)
		dir := GinkgoT().TempDir()
		skipUnbuildable(fakeCUDA(dir))
		lib, path = EnvHIP+"="+built, "LD_LIBRARY_PATH="+dir
	})

	It("is labelled with the GPU it runs on", func() {
		var s surveyed
		reexec("survey", &s, lib, path, "ROCSTRESS_ABI=arch=gfx942")
		Expect(s.TestABI).To(Equal("HIP test ABI over CUDA, fake GPU"))
		Expect(s.HIPVersion).To(Equal("test ABI over CUDA 13.0"))
		Expect(s.BLASVersion).To(Equal("cuBLAS 13.0.2"))
		Expect(s.Devices).To(ConsistOf(rocm.DeviceProps{Name: "HIP test ABI over CUDA, fake GPU", Arch: "gfx942",
			TotalMemory: 1 << 30, MaxThreadsPerBlock: 1024, MultiProcessors: 20, WarpSize: 32}))
	})

	It("lists the CUDA libraries behind it", func() {
		var o opened
		reexec("open", &o, lib, path)
		Expect(o.Err).To(Equal(seen{}))
		var names []string
		for _, l := range o.Desc.Libraries {
			names = append(names, l.Name)
		}
		Expect(names).To(ContainElement("libcuda.so.1"))
	})

	It("answers 100 where CUDA is missing or has no device", func() {
		for _, vars := range [][]string{{lib, "LD_LIBRARY_PATH=/nonexistent", "CUDA_VISIBLE_DEVICES="}, {lib, path, "FAKE_CUDA=devices=0"}} {
			var o opened
			reexec("open", &o, vars...)
			Expect(o.Err.Kind).To(Equal("no device"), o.Err.Text)
			Expect(o.Err.Code).To(Equal(rocm.HipErrorNoDevice))
		}
	})

	It("keeps the current device of each thread", func() {
		var got []int
		reexec("threads", &got, lib, path, "FAKE_CUDA=devices=4")
		Expect(got).To(Equal([]int{0, 1, 2, 3}))
	})

	It("loses the device for every thread", func() {
		var f faulted
		reexec("fault", &f, lib, path)
		Expect(f.Enqueue).To(Equal(seen{}))
		for _, s := range []seen{f.Sync, f.Later, f.Other, f.Count} {
			Expect(s.Code).To(Equal(rocm.HipErrorIllegalAddress), s.Text)
		}
		Expect(f.BLAS.Code).To(Equal(rocm.RocBLASInternalError))
	})

	It("misroutes as cuBLAS does", func() {
		var r misrouted
		reexec("misroute", &r, lib, path, "FAKE_CUDA=select=300ms,memset-rate=512KiB")
		Expect(r).To(Equal(misrouted{Own: unwritten, Drained: math.Float32bits(15)}))
	})

	It("orders events", func() {
		var r eventful
		reexec("events", &r, lib, path, "FAKE_CUDA=memset-rate=256KiB")
		Expect(r.Pending).To(Equal(rocm.HipErrorNotReady))
		Expect(r.Value).To(Equal(uint32(7)))
		Expect(r.Destroyed).To(Equal(rocm.HipErrorInvalidHandle))
	})

	It("fails on demand", func() {
		var all []seen
		reexec("injected", &all, lib, path, "ROCSTRESS_ABI=create-fails=2,create-status=5,set-stream-fails=1")
		Expect(all).To(HaveLen(5))
		Expect([]int{all[0].Code, all[1].Code, all[2].Code, all[3].Code, all[4].Code}).
			To(Equal([]int{rocm.RocBLASMemoryError, rocm.RocBLASMemoryError, 0, rocm.RocBLASInternalError, 0}))
	})

	It("refuses a setting that only the CPU has", func() {
		var o opened
		stderr := reexec("open", &o, lib, path, "ROCSTRESS_ABI=memory=1GiB")
		Expect(o.Err.Code).To(Equal(3), "hipErrorNotInitialized")
		Expect(stderr).To(ContainSubstring("memory=1GiB: unknown key; accepted keys: arch create-fails create-status set-stream-fails"))
	})
})
