package hip

import (
	"math"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/rocm"
)

var _ = Describe("the CPU test ABI", func() {
	It("is told from hardware by its label", func() {
		var s surveyed
		reexec("survey", &s, cpuABI())
		Expect(s.TestABI).To(Equal("HIP test ABI over pthreads"))
		Expect(s.Usable).To(BeTrue())
		Expect(s.HIPVersion).To(Equal("test ABI over pthreads"))
		Expect(s.BLAS.Path).To(Equal(s.HIP.Path), "rocBLAS comes from the same library")
		Expect(s.HIP.BuildID).To(MatchRegexp("^[0-9a-f]{40}$"))
		Expect(s.Devices).To(ConsistOf(rocm.DeviceProps{
			Name: "HIP test ABI over pthreads", Arch: "gfx1151", TotalMemory: 1 << 30,
			MaxThreadsPerBlock: 1024, MultiProcessors: 20, WarpSize: 32,
		}))
	})

	It("opens, describes itself and closes twice", func() {
		var o opened
		reexec("open", &o, cpuABI(), "ROCSTRESS_ABI=devices=3,arch=gfx90a:sramecc+:xnack-,memory=128MiB,warp=64")
		Expect(o.Err).To(Equal(seen{}))
		Expect(o.Desc.Driver).To(Equal("hip"))
		Expect(o.Desc.Simulated).To(BeFalse())
		Expect(o.Desc.TestABI).To(Equal("HIP test ABI over pthreads"))
		Expect(o.Desc.AbortsOnFault).To(BeFalse())
		Expect(o.Desc.Libraries).To(HaveLen(1))
		Expect(o.Props.Arch).To(Equal("gfx90a:sramecc+:xnack-"))
		Expect(o.Props.TotalMemory).To(Equal(uint64(128 << 20)))
		Expect(o.Props.WarpSize).To(Equal(64))
		Expect(o.ErrFar.Kind).To(Equal("no device"))
		Expect(o.ErrFar.Text).To(ContainSubstring("device 5 asked for, devices 0 to 2 exist"))
	})

	It("answers 100 without a device", func() {
		var o opened
		reexec("open", &o, cpuABI(), "ROCSTRESS_ABI=devices=0")
		Expect(o.Err.Kind).To(Equal("no device"))
		Expect(o.Err.Code).To(Equal(rocm.HipErrorNoDevice))
	})

	It("loses the device for every thread on a bad address", func() {
		var f faulted
		stderr := reexec("fault", &f, cpuABI())
		Expect(f.Enqueue).To(Equal(seen{}), "the stream meets the address, not the call")
		for _, s := range []seen{f.Sync, f.Later, f.Other, f.Count} {
			Expect(s.Code).To(Equal(rocm.HipErrorIllegalAddress), s.Text)
		}
		Expect(f.BLAS.Code).To(Equal(rocm.RocBLASInternalError))
		Expect(stderr).To(ContainSubstring("Memory access fault by GPU"))
	})

	It("ends every wait when the device is lost", func() {
		var all []seen
		reexec("waiter", &all, cpuABI(), "ROCSTRESS_ABI=memset-rate=64")
		Expect(all).To(HaveLen(2))
		Expect(all[0]).To(Equal(seen{}))
		Expect(all[1].Code).To(Equal(rocm.HipErrorIllegalAddress), all[1].Text)
	})

	It("is not handed a copy that leaves its host memory", func() {
		var all []seen
		reexec("copies", &all, cpuABI())
		Expect(all).To(HaveLen(5))
		for _, s := range all {
			Expect(s.Code).To(Equal(rocm.HipErrorInvalidValue), s.Text)
		}
	})

	It("fails on demand", func() {
		var all []seen
		reexec("injected", &all, cpuABI(), "ROCSTRESS_ABI=create-fails=2,create-status=5,set-stream-fails=1,create=1us")
		Expect(all).To(HaveLen(5))
		Expect([]int{all[0].Code, all[1].Code, all[2].Code, all[3].Code, all[4].Code}).
			To(Equal([]int{rocm.RocBLASMemoryError, rocm.RocBLASMemoryError, 0, rocm.RocBLASInternalError, 0}))
	})

	It("routes a GEMM by the binding at the moment it launches", func() {
		var r misrouted
		reexec("misroute", &r, cpuABI(), "ROCSTRESS_ABI=select=300ms,memset-rate=512KiB")
		Expect(r.Err).To(Equal(seen{}))
		Expect(r.Status).To(Equal(seen{}), "a misrouted GEMM is a success to its caller")
		Expect(r.Own).To(Equal(uint32(unwritten)))
		Expect(r.Drained).To(Equal(math.Float32bits(15)))
	})

	It("keeps the current device of each thread", func() {
		var got []int
		reexec("threads", &got, cpuABI(), "ROCSTRESS_ABI=devices=4")
		Expect(got).To(Equal([]int{0, 1, 2, 3}))
	})

	It("orders events with their streams", func() {
		var r eventful
		reexec("events", &r, cpuABI(), "ROCSTRESS_ABI=memset-rate=256KiB")
		Expect(r).To(Equal(eventful{
			Fresh: 0, Pending: rocm.HipErrorNotReady, LastError: 0, Synchronized: 0, Done: 0,
			Value: 7, Destroyed: rocm.HipErrorInvalidHandle, LastAfter: rocm.HipErrorInvalidHandle,
		}))
	})

	DescribeTable("refuses settings loudly",
		func(settings, says string) {
			var o opened
			stderr := reexec("open", &o, cpuABI(), "ROCSTRESS_ABI="+settings)
			Expect(o.Err.Kind).To(Equal("status"))
			Expect(o.Err.Code).To(Equal(3), "hipErrorNotInitialized")
			Expect(strings.Count(stderr, "ROCSTRESS_ABI")).To(Equal(1), "one line")
			Expect(stderr).To(ContainSubstring(says))
		},
		Entry("unknown key", "colour=red", "colour=red: unknown key; accepted keys: arch devices memory"),
		Entry("no value", "devices", "devices: want key=value"),
		Entry("word for a number", "devices=two", "devices=two: want a whole number"),
		Entry("trailing text", "devices=2x", "devices=2x: want a whole number"),
		Entry("too many", "devices=17", "devices=17: the value is out of range"),
		Entry("duration without a unit", "create=5", "create=5: want a duration"),
		Entry("two dots", "create=1.2.3ms", "want a duration"),
		Entry("unknown unit", "memory=1TB", "want a whole number, with KiB"),
		Entry("given twice", "warp=32,warp=64", "warp=64: the key is given twice"),
		Entry("empty item", "warp=32,", "want key=value"),
		Entry("status zero", "create-status=0", "out of range"),
		Entry("empty arch", "arch=", "want an architecture"),
	)

	It("takes every key that it shares with the simulated device", func() {
		var o opened
		reexec("open", &o, cpuABI(), "ROCSTRESS_ABI=arch=gfx1100,devices=2,memory=64MiB,max-threads=512,warp=64,"+
			"processors=8,create=1m0.5us,set-stream=0s,select=1.5us,compile=1ms,launch=0,memset-rate=1GiB,copy-rate=0,"+
			"gemm-rate=1000000,create-fails=0,create-status=1,set-stream-fails=0,set-stream-status=15,"+
			"gemm-ex-fails=1,gemm-ex-status=2")
		Expect(o.Err).To(Equal(seen{}))
		Expect(o.Props).To(Equal(rocm.DeviceProps{Name: "HIP test ABI over pthreads", Arch: "gfx1100",
			TotalMemory: 64 << 20, MaxThreadsPerBlock: 512, MultiProcessors: 8, WarpSize: 64}))
	})

	It("has no data race, however callers race", func() {
		dir := GinkgoT().TempDir()
		hammer := filepath.Join(dir, "hammer")
		args := append([]string{"-std=gnu11", "-g", "-O1", "-fsanitize=thread"}, sources("common", "cpu")...)
		if _, err := compile(append(args, "check/hammer.c", "-o", hammer, "-lpthread")...); err != nil {
			if strings.Contains(err.Error(), "tsan") {
				Skip("needs a compiler with ThreadSanitizer: " + err.Error())
			}
			skipUnbuildable(err)
		}
		cmd := exec.Command(hammer)
		cmd.Env = append(cleanEnv(), "ROCSTRESS_ABI=create=10us,compile=10us,devices=2")
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "unexpected memory mapping") {
			Skip("ThreadSanitizer cannot run with this kernel's address layout")
		}
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(BeEmpty())
	})
})
