package sim_test

import (
	"fmt"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// The race detector is the oracle of these specs: whatever callers do without
// locks, nothing inside the driver is a data race.
var _ = Describe("Eight threads without any lock", func() {
	const threads, rounds, n = 8, 60, 16

	It("may rebind one handle under each other's GEMMs", func() {
		r := newRig(nil)
		h := must(r.RocBLASCreateHandle(r.th))
		a, b := r.upload(bits(make([]float32, n*n)...)...), r.upload(bits(make([]float32, n*n)...)...)
		hammer(r, threads, func(th *sched.Thread) {
			s, c := must(r.StreamCreate(th)), must(r.Malloc(th, 4*n*n))
			out := must(r.HostAlloc(th, n*n))
			for range rounds {
				must0(r.MemsetD32Async(th, a, 0, n*n, s)) // under the GEMMs of the others
				must0(r.MemsetD32Async(th, b, 0, n*n, s))
				must0(r.RocBLASSetStream(th, h, s))
				must0(r.RocBLASSgemm(th, h, rocm.SGEMM{M: n, N: n, K: n, Alpha: 1, A: a, LDA: n, B: b, LDB: n, C: c, LDC: n}))
				must0(r.MemcpyDtoHAsync(th, out, c, n*n, s))
				must0(r.StreamSynchronize(th, s))
				for _, w := range out.Words {
					if w != 0 && w != sim.FreshWord {
						Fail(fmt.Sprintf("word %#x is neither fresh nor a result", w))
					}
				}
			}
		})
	})

	It("may share buffers, streams and everything else", func() {
		r := newRig(func(c *sim.Config) { c.Devices, c.Create = 2, 0 })
		shared := must(r.StreamCreate(r.th))
		p := must(r.Malloc(r.th, 4096))
		out := must(r.HostAlloc(r.th, 1024))
		hammer(r, threads, func(th *sched.Thread) {
			rng := rand.New(rand.NewPCG(7, uint64(th.ID())))
			for range rounds {
				churn(r, th, rng, shared, p, out)
			}
		})
		must0(r.StreamSynchronize(r.th, shared))
	})

	It("may go on while the device faults", func() {
		r := newRig(nil)
		p := must(r.Malloc(r.th, 4096))
		hammer(r, threads, func(th *sched.Thread) {
			for i := range rounds {
				at := p
				if i == rounds/2 {
					at = 64
				}
				s, err := r.StreamCreate(th)
				if err == nil {
					err = r.MemsetD32Async(th, at, 1, 1024, s)
				}
				if err == nil {
					err = r.StreamSynchronize(th, s)
				}
				if err != nil {
					Expect(err).To(haveCode("hip", rocm.HipErrorIllegalAddress))
				}
			}
		})
	})
})

// hammer runs f on n threads and joins them.
func hammer(r *rig, n int, f func(th *sched.Thread)) {
	var tasks []*sched.Task
	for i := range n {
		tasks = append(tasks, sched.Go(r.th, fmt.Sprintf("hammer-%d", i), func(th *sched.Thread) {
			defer GinkgoRecover()
			f(th)
		}))
	}
	for _, t := range tasks {
		t.Join(r.th)
	}
}

// churn makes one random legal call after another, on objects of its own and
// on shared ones.
func churn(r *rig, th *sched.Thread, rng *rand.Rand, shared rocm.Stream, p rocm.Ptr, out rocm.HostMem) {
	switch rng.IntN(6) {
	case 0:
		s := must(r.StreamCreate(th))
		must0(r.MemsetD32Async(th, p, rng.Uint32(), 64, s))
		must0(r.StreamDestroy(th, s))
	case 1:
		must0(r.MemsetD32Async(th, p, rng.Uint32(), 1024, shared))
	case 2:
		must0(r.MemcpyDtoHAsync(th, out, p, 1024, shared))
	case 3:
		must0(r.Free(th, must(r.Malloc(th, 1+rng.Uint64N(1<<16)))))
	case 4:
		h := must(r.RocBLASCreateHandle(th))
		must0(r.RocBLASSetStream(th, h, shared))
		must0(r.RocBLASDestroyHandle(th, h))
	case 5:
		must0(r.SetDevice(th, rng.IntN(2)))
		must0(r.StreamSynchronize(th, 0))
	}
}
