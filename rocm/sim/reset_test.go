package sim_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// nothing returns a kernel that touches no memory.
func nothing() *rocm.Kernel {
	return &rocm.Kernel{Name: "nothing", Body: func(rocm.KernelMemory, rocm.Launch) error { return nil }}
}

func single(s rocm.Stream) rocm.Launch {
	one := rocm.Dim3{X: 1, Y: 1, Z: 1}
	return rocm.Launch{Grid: one, Block: one, Stream: s}
}

func square(p rocm.Ptr) rocm.SGEMM {
	return rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1}
}

var _ = Describe("A device reset", func() {
	It("lets streams finish first", func() {
		r := newRig(nil)
		s, p, out := must(r.StreamCreate(r.th)), r.upload(1), must(r.HostAlloc(r.th, 2))
		for i, s := range []rocm.Stream{s, 0} {
			r.load(s)
			must0(r.MemcpyDtoHAsync(r.th, out.Slice(i, 1), p, 1, s))
		}
		must0(r.DeviceReset(r.th))
		Expect(out.Words).To(Equal([]uint32{1, 1}))
	})

	It("takes streams, memory and functions away", func() {
		r := newRig(nil)
		s, p := must(r.StreamCreate(r.th)), r.upload(1)
		f := must(r.LoadKernel(r.th, nothing()))
		must0(r.DeviceReset(r.th))
		for _, err := range []error{
			r.StreamQuery(r.th, s), r.StreamSynchronize(r.th, s), r.StreamDestroy(r.th, s),
			r.MemsetD32Async(r.th, p, 0, 1, s), r.Launch(r.th, f, single(0)),
		} {
			Expect(err).To(haveCode("hip", rocm.HipErrorInvalidHandle))
		}
		Expect(r.Free(r.th, p)).To(haveCode("hip", rocm.HipErrorInvalidValue))
	})

	It("gives the memory back and leaves a working device", func() {
		r := newRig(func(c *sim.Config) { c.Memory = 1 << 20 })
		must(r.Malloc(r.th, 1<<20))
		must0(r.DeviceReset(r.th))
		must0(r.StreamQuery(r.th, 0))
		s, h, p := must(r.StreamCreate(r.th)), must(r.RocBLASCreateHandle(r.th)), r.upload(bits(3)...)
		must0(r.RocBLASSetStream(r.th, h, s))
		must0(r.RocBLASSgemm(r.th, h, square(p)))
		Expect(r.read(p, 1, s)).To(Equal(bits(9)))
		must0(r.Launch(r.th, must(r.LoadKernel(r.th, nothing())), single(s)))
		must0(r.StreamSynchronize(r.th, s))
	})

	It("leaves other devices alone", func() {
		r := newRig(func(c *sim.Config) { c.Devices = 2 })
		must0(r.SetDevice(r.th, 1))
		s, h, p := must(r.StreamCreate(r.th)), must(r.RocBLASCreateHandle(r.th)), r.upload(bits(3)...)
		f := must(r.LoadKernel(r.th, nothing()))
		must0(r.RocBLASSetStream(r.th, h, s))
		must0(r.SetDevice(r.th, 0))
		must0(r.DeviceReset(r.th))
		Expect(r.GetDevice(r.th)).To(BeZero())
		must0(r.SetDevice(r.th, 1))
		must0(r.RocBLASSgemm(r.th, h, square(p)))
		must0(r.Launch(r.th, f, single(s)))
		Expect(r.read(p, 1, s)).To(Equal(bits(9)))
	})

	It("makes an access to memory of before a fault", func() {
		r := newRig(nil)
		p := r.upload(1)
		must0(r.DeviceReset(r.th))
		must0(r.MemsetD32Async(r.th, p, 0, 1, 0))
		Expect(r.StreamSynchronize(r.th, 0)).To(haveCode("hip", rocm.HipErrorIllegalAddress))
		Expect(r.DeviceReset(r.th)).To(haveCode("hip", rocm.HipErrorIllegalAddress), "a faulted device stays so")
	})

	DescribeTable("takes the workspace of a rocBLAS handle, whose next GEMM is a fault",
		func(gemm func(r *rig, h rocm.BLAS, p rocm.Ptr) error) {
			r := newRig(nil)
			h := must(r.RocBLASCreateHandle(r.th))
			must0(r.DeviceReset(r.th))
			s, p := must(r.StreamCreate(r.th)), r.upload(bits(3)...)
			must0(r.RocBLASSetStream(r.th, h, s))
			must0(gemm(r, h, p))
			Expect(r.StreamSynchronize(r.th, s)).To(haveCode("hip", rocm.HipErrorIllegalAddress))
		},
		Entry("f32", func(r *rig, h rocm.BLAS, p rocm.Ptr) error { return r.RocBLASSgemm(r.th, h, square(p)) }),
		Entry("bf16", func(r *rig, h rocm.BLAS, p rocm.Ptr) error {
			return r.RocBLASGemmEx(r.th, h, rocm.GemmEx{M: 1, N: 1, K: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1})
		}),
	)

	It("leaves a rocBLAS handle bound to a stream that is gone, and to be destroyed", func() {
		r := newRig(nil)
		h := must(r.RocBLASCreateHandle(r.th))
		must0(r.RocBLASSetStream(r.th, h, must(r.StreamCreate(r.th))))
		must0(r.DeviceReset(r.th))
		p := r.upload(bits(3)...)
		Expect(r.RocBLASSgemm(r.th, h, square(p))).To(haveCode("rocblas", rocm.RocBLASInternalError))
		must0(r.RocBLASDestroyHandle(r.th, h))
		must0(r.StreamQuery(r.th, 0))
	})

	It("is refused by a closed runtime", func() {
		r := newRig(nil)
		must0(r.Close(r.th))
		Expect(r.DeviceReset(r.th)).To(haveCode("hip", 4))
	})
})

// The race detector is the oracle here too, and that every call returns.
var _ = Describe("Device resets under eight threads", func() {
	const threads, rounds = 8, 60

	// expectCode checks that err is one of the given HIP codes.
	expectCode := func(err error, codes ...int) {
		GinkgoHelper()
		var st *rocm.StatusError
		if errors.As(err, &st) {
			Expect(codes).To(ContainElement(st.Code), "%v", err)
			return
		}
		must0(err)
	}

	It("invalidate streams and nothing else where no memory is used", func() {
		r := newRig(func(c *sim.Config) { *c = c.WithoutLatency() })
		reset := sched.Go(r.th, "resetter", func(th *sched.Thread) {
			defer GinkgoRecover()
			for range rounds {
				must0(r.DeviceReset(th))
			}
		})
		hammer(r, threads, func(th *sched.Thread) {
			for range rounds {
				s, f := must(r.StreamCreate(th)), must(r.LoadKernel(th, nothing()))
				expectCode(r.Launch(th, f, single(s)), rocm.HipErrorInvalidHandle)
				expectCode(r.Launch(th, f, single(0)), rocm.HipErrorInvalidHandle) // of the function
				must0(r.StreamSynchronize(th, 0))
				expectCode(r.StreamSynchronize(th, s), rocm.HipErrorInvalidHandle)
				expectCode(r.StreamDestroy(th, s), rocm.HipErrorInvalidHandle)
			}
		})
		reset.Join(r.th)
		must0(r.StreamQuery(r.th, 0))
	})

	It("may pull memory and handles from under everybody, several at once", func() {
		r := newRig(func(c *sim.Config) { *c = c.WithoutLatency(); c.Devices = 2 })
		shared := must(r.RocBLASCreateHandle(r.th))
		out := must(r.HostAlloc(r.th, 64))
		hammer(r, threads, func(th *sched.Thread) {
			for i := range rounds {
				expectCode(r.SetDevice(th, th.ID()%2), rocm.HipErrorIllegalAddress)
				if i == rounds/2 && th.ID()%4 < 2 {
					expectCode(r.DeviceReset(th), rocm.HipErrorIllegalAddress)
				}
				s, _ := r.StreamCreate(th)
				p, err := r.Malloc(th, 256)
				if err != nil {
					expectCode(err, rocm.HipErrorIllegalAddress)
					return // somebody's access was to memory of before
				}
				use := []error{
					r.MemsetD32Async(th, p, 1, 64, s),
					r.RocBLASSgemm(th, shared, square(p)),
					r.MemcpyDtoHAsync(th, out, p, 64, s),
					r.StreamSynchronize(th, s),
					r.Free(th, p),
				}
				for _, err := range use {
					expectCode(err, rocm.HipErrorInvalidValue, rocm.HipErrorInvalidHandle,
						rocm.HipErrorIllegalAddress, rocm.RocBLASInternalError)
				}
			}
		})
	})
})

var _ = Describe("A device reset under a controller", func() {
	It("ends in every schedule, with 400 or nothing for who enqueues", func() {
		refused, accepted := 0, 0
		for seed := range uint64(500) {
			s := sched.Explore(sched.Config{Strategy: sched.RandomWalk(seed), NoSteps: true}, func(th *sched.Thread) {
				d := must(sim.Open(sim.DefaultConfig().WithoutLatency()))
				s, f := must(d.StreamCreate(th)), must(d.LoadKernel(th, nothing()))
				var resets []*sched.Task
				for range 2 {
					resets = append(resets, sched.Go(th, "resetter", func(th *sched.Thread) { must0(d.DeviceReset(th)) }))
				}
				th.Point("before the launch")
				if err := d.Launch(th, f, single(s)); err != nil {
					Expect(err).To(haveCode("hip", rocm.HipErrorInvalidHandle))
					refused++
				} else {
					accepted++
				}
				for _, t := range resets {
					t.Join(th)
				}
				must0(d.Close(th))
			})
			Expect(s.End).To(Equal(sched.Done), "seed %d: %v %v", seed, s.Blocked, s.Panic)
		}
		Expect(refused).To(BeNumerically(">", 0))
		Expect(accepted).To(BeNumerically(">", 0))
	})
})
