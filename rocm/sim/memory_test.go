package sim_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

var _ = Describe("Memory", func() {
	It("is junk when it is new, also where it was used before", func() {
		r := newRig(nil)
		p := must(r.Malloc(r.th, 8))
		Expect(r.read(p, 2, 0)).To(Equal([]uint32{sim.FreshWord, sim.FreshWord}))
		r.write(p, 1, 2)
		must0(r.Free(r.th, p))
		Expect(r.Malloc(r.th, 8)).To(Equal(p), "a freed address comes back")
		Expect(r.read(p, 2, 0)).To(Equal([]uint32{sim.FreshWord, sim.FreshWord}))
	})

	It("is finite, for each device", func() {
		r := newRig(func(c *sim.Config) { c.Memory, c.Devices = 8192, 2 })
		p := must(r.Malloc(r.th, 4097)) // two pages
		_, err := r.Malloc(r.th, 1)
		Expect(err).To(haveCode("hip", rocm.HipErrorOutOfMemory))
		must0(r.SetDevice(r.th, 1))
		must(r.Malloc(r.th, 8192))
		must0(r.Free(r.th, p))
		must0(r.SetDevice(r.th, 0))
		must(r.Malloc(r.th, 8192))
	})

	It("refuses what it did not give", func() {
		r := newRig(nil)
		p := must(r.Malloc(r.th, 64))
		Expect(r.Free(r.th, p+4)).To(haveCode("hip", rocm.HipErrorInvalidValue))
		must0(r.Free(r.th, 0))
		must0(r.Free(r.th, p))
		Expect(r.Free(r.th, p)).To(haveCode("hip", rocm.HipErrorInvalidValue))
		m := must(r.HostAlloc(r.th, 4))
		Expect(r.MemcpyHtoDAsync(r.th, p, m, 5, 0)).To(haveCode("hip", rocm.HipErrorInvalidValue))
		must0(r.HostFree(r.th, m))
		Expect(r.HostFree(r.th, m)).To(haveCode("hip", rocm.HipErrorInvalidValue))
		Expect(r.MemcpyHtoDAsync(r.th, p, m, 1, 0)).To(haveCode("hip", rocm.HipErrorInvalidValue))
		_, err := r.HostAlloc(r.th, 1<<40)
		Expect(err).To(haveCode("hip", rocm.HipErrorOutOfMemory))
	})

	It("is freed after the work that uses it", func() {
		r := newRig(nil)
		s := must(r.StreamCreate(r.th))
		p := must(r.Malloc(r.th, 4))
		r.load(s)
		must0(r.MemsetD32Async(r.th, p, 1, 1, s))
		must0(r.Free(r.th, p))
		must0(r.StreamSynchronize(r.th, s)) // no fault
	})
})

var _ = Describe("An address that is not mapped", func() {
	// faults lists accesses that the page table refuses.
	faults := map[string]func(r *rig, p rocm.Ptr, s rocm.Stream) error{
		"a memset past the last page": func(r *rig, p rocm.Ptr, s rocm.Stream) error {
			return r.MemsetD32Async(r.th, p, 1, 1025, s)
		},
		"a copy from freed memory": func(r *rig, p rocm.Ptr, s rocm.Stream) error {
			must0(r.Free(r.th, p))
			return r.MemcpyDtoHAsync(r.th, must(r.HostAlloc(r.th, 1)), p, 1, s)
		},
		"a copy to the null page": func(r *rig, _ rocm.Ptr, s rocm.Stream) error {
			return r.MemcpyHtoDAsync(r.th, 64, must(r.HostAlloc(r.th, 1)), 1, s)
		},
		"a misaligned copy": func(r *rig, p rocm.Ptr, s rocm.Stream) error {
			return r.MemcpyHtoDAsync(r.th, p+2, must(r.HostAlloc(r.th, 1)), 1, s)
		},
		"a kernel that stores 2^40 bytes past its buffer": func(r *rig, p rocm.Ptr, s rocm.Stream) error {
			f := must(r.LoadKernel(r.th, &rocm.Kernel{Name: "stray", Body: func(mem rocm.KernelMemory, l rocm.Launch) error {
				return mem.Store(l.Args[0].Ptr+1<<40, []uint32{42})
			}}))
			one := rocm.Dim3{X: 1, Y: 1, Z: 1}
			return r.Launch(r.th, f, rocm.Launch{Grid: one, Block: one, Stream: s, Args: []rocm.Arg{{Ptr: p, IsPtr: true}}})
		},
		"a GEMM whose output is too small": func(r *rig, p rocm.Ptr, s rocm.Stream) error {
			h := must(r.RocBLASCreateHandle(r.th))
			must0(r.RocBLASSetStream(r.th, h, s))
			return r.RocBLASSgemm(r.th, h, rocm.SGEMM{M: 1025, N: 1, K: 1, Alpha: 1, A: p, LDA: 1025, B: p, LDB: 1, C: p, LDC: 1025})
		},
		"a GEMM of nonsense size": func(r *rig, p rocm.Ptr, s rocm.Stream) error {
			h := must(r.RocBLASCreateHandle(r.th))
			must0(r.RocBLASSetStream(r.th, h, s))
			const n = 1<<31 - 1
			return r.RocBLASSgemm(r.th, h, rocm.SGEMM{M: n, N: n, K: n, Alpha: 1, A: p, LDA: n, B: p, LDB: n, C: p, LDC: n})
		},
	}
	for name, access := range faults {
		It("ends the device for every thread: "+name, func() {
			r := newRig(nil)
			p, s := must(r.Malloc(r.th, 4096)), must(r.StreamCreate(r.th))
			must0(access(r, p, s)) // the call succeeds: the fault comes later
			Expect(r.StreamSynchronize(r.th, s)).To(haveCode("hip", rocm.HipErrorIllegalAddress))
			expectDead(r, p, r.th)
			expectDead(r, p, r.rt.NewThread("other"))
		})
	}

	It("inside the last page of an allocation is not noticed", func() {
		r := newRig(nil)
		p := must(r.Malloc(r.th, 4))
		must0(r.MemsetD32Async(r.th, p, 1, 1024, 0))
		must0(r.StreamSynchronize(r.th, 0))
	})

	It("wakes who waits for another stream, and stops that stream", func() {
		r := newRig(nil)
		s, busy := must(r.StreamCreate(r.th)), must(r.StreamCreate(r.th))
		started, end := make(chan struct{}), make(chan struct{})
		endless := must(r.LoadKernel(r.th, &rocm.Kernel{Name: "endless", Body: func(rocm.KernelMemory, rocm.Launch) error {
			close(started)
			<-end
			return nil
		}}))
		p, out, one := must(r.Malloc(r.th, 4)), must(r.HostAlloc(r.th, 1)), rocm.Dim3{X: 1, Y: 1, Z: 1}
		must0(r.Launch(r.th, endless, rocm.Launch{Grid: one, Block: one, Stream: busy}))
		must0(r.MemcpyDtoHAsync(r.th, out, p, 1, busy))
		<-started
		waiter := sched.Go(r.th, "waiter", func(th *sched.Thread) {
			defer GinkgoRecover()
			Expect(r.StreamSynchronize(th, busy)).To(haveCode("hip", rocm.HipErrorIllegalAddress))
		})
		r.load(s) // so that the waiter waits before the fault comes
		must0(r.MemsetD32Async(r.th, 4096, 0, 1, s))
		waiter.Join(r.th) // while the kernel runs on
		close(end)
		must0(r.Close(r.th)) // joins the workers
		Expect(out.Words).To(Equal([]uint32{0}), "what was queued behind never ran")
	})

})

// expectDead checks that each kind of call fails at once on th.
func expectDead(r *rig, p rocm.Ptr, th *sched.Thread) {
	GinkgoHelper()
	_, mallocErr := r.Malloc(th, 4)
	_, getErr := r.GetDevice(th)
	_, countErr := r.DeviceCount(th)
	_, streamErr := r.StreamCreate(th)
	for _, err := range []error{
		mallocErr, getErr, countErr, streamErr, r.SetDevice(th, 0), r.Free(th, p),
		r.StreamQuery(th, 0), r.StreamSynchronize(th, 0), r.MemsetD32Async(th, p, 0, 1, 0),
	} {
		Expect(err).To(haveCode("hip", rocm.HipErrorIllegalAddress))
	}
	_, err := r.RocBLASCreateHandle(th)
	Expect(err).To(haveCode("rocblas", rocm.RocBLASInternalError))
}
