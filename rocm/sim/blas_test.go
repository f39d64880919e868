package sim_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/oracle"
	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

var _ = Describe("A rocBLAS handle", func() {
	It("is created by one thread at a time", func() {
		const threads, each = 4, 5 * time.Millisecond
		r := newRig(func(c *sim.Config) { c.Create = each })
		began := r.th.Now()
		var tasks []*sched.Task
		for range threads {
			tasks = append(tasks, sched.Go(r.th, "creator", func(th *sched.Thread) {
				defer GinkgoRecover()
				must(r.RocBLASCreateHandle(th))
			}))
		}
		for _, t := range tasks {
			t.Join(r.th)
		}
		Expect(r.th.Now() - began).To(BeNumerically(">=", threads*each))
	})

	It("fails to be created as often as it is told", func() {
		r := newRig(func(c *sim.Config) { c.CreateFails, c.CreateStatus = 2, rocm.RocBLASMemoryError })
		for range 2 {
			h, err := r.RocBLASCreateHandle(r.th)
			Expect(err).To(haveCode("rocblas", rocm.RocBLASMemoryError))
			Expect(h).To(BeZero())
		}
		Expect(must(r.RocBLASCreateHandle(r.th))).NotTo(BeZero())
	})

	It("keeps its binding when a new one fails", func() {
		r := newRig(func(c *sim.Config) { c.SetStreamFails = 1 })
		s, h := must(r.StreamCreate(r.th)), must(r.RocBLASCreateHandle(r.th))
		p := r.upload(bits(2)...)
		Expect(r.RocBLASSetStream(r.th, h, s)).To(haveCode("rocblas", rocm.RocBLASInternalError))
		r.load(s)
		must0(r.RocBLASSgemm(r.th, h, rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1}))
		Expect(r.read(p, 1, 0)).To(Equal(bits(4)), "it ran on the null stream")
		Expect(rocm.IsNotReady(r.StreamQuery(r.th, s))).To(BeTrue())
	})

	DescribeTable("refuses bad arguments and enqueues nothing", func(change func(*rocm.SGEMM), code int) {
		r := newRig(nil)
		h := must(r.RocBLASCreateHandle(r.th))
		p := r.upload(bits(2)...)
		g := rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1}
		change(&g)
		err := r.RocBLASSgemm(r.th, h, g)
		if code == 0 {
			must0(err)
		} else {
			Expect(err).To(haveCode("rocblas", code))
		}
		Expect(r.read(p, 1, 0)).To(Equal(bits(2)))
	},
		Entry("negative M", func(g *rocm.SGEMM) { g.M = -1 }, rocm.RocBLASInvalidSize),
		Entry("M above 2^31", func(g *rocm.SGEMM) { g.M, g.LDA, g.LDC = 1<<31, 1<<31, 1<<31 }, rocm.RocBLASInvalidSize),
		Entry("LDA below M", func(g *rocm.SGEMM) { g.LDA = 0 }, rocm.RocBLASInvalidSize),
		Entry("LDB below K", func(g *rocm.SGEMM) { g.K = 2 }, rocm.RocBLASInvalidSize),
		Entry("LDC below M", func(g *rocm.SGEMM) { g.M, g.LDA = 2, 2 }, rocm.RocBLASInvalidSize),
		Entry("null A", func(g *rocm.SGEMM) { g.A = 0 }, rocm.RocBLASInvalidPointer),
		Entry("null C", func(g *rocm.SGEMM) { g.C = 0 }, rocm.RocBLASInvalidPointer),
		Entry("nothing to do", func(g *rocm.SGEMM) { g.N = 0 }, 0),
	)
})

// The binding is read when the kernel has been chosen, so a binding by another
// thread in that time takes the GEMM along: the race of the bind lock.
var _ = Describe("A handle that is bound while a GEMM chooses its kernel", func() {
	DescribeTable("sends the GEMM to the new stream", func(before, after uint32, gemm func(d *sim.Driver, th *sched.Thread, h rocm.BLAS, p rocm.Ptr) error) {
		gate := &gate{at: sim.PointReadStream, reached: make(chan struct{}), open: make(chan struct{})}
		r := newDelayedRig(gate, nil)
		own, other, h := must(r.StreamCreate(r.th)), must(r.StreamCreate(r.th)), must(r.RocBLASCreateHandle(r.th))
		p := r.upload(before)
		must0(r.RocBLASSetStream(r.th, h, own))
		task := sched.Go(r.th, "gemm", func(th *sched.Thread) {
			defer GinkgoRecover()
			must0(gemm(r.Driver, th, h, p))
		})
		<-gate.reached
		must0(r.RocBLASSetStream(r.th, h, other))
		r.load(other)
		close(gate.open)
		task.Join(r.th)
		Expect(r.read(p, 1, own)).To(Equal([]uint32{before}))
		must0(r.StreamSynchronize(r.th, other))
		Expect(r.read(p, 1, own)).To(Equal([]uint32{after}))
	},
		Entry("f32", bits(2)[0], bits(4)[0], func(d *sim.Driver, th *sched.Thread, h rocm.BLAS, p rocm.Ptr) error {
			return d.RocBLASSgemm(th, h, rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1})
		}),
		Entry("bf16", halves(oracle.BF16(2))[0], halves(oracle.BF16(4))[0], func(d *sim.Driver, th *sched.Thread, h rocm.BLAS, p rocm.Ptr) error {
			return d.RocBLASGemmEx(th, h, rocm.GemmEx{M: 1, N: 1, K: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1})
		}),
	)
})

// gate holds the one thread that passes a point.
type gate struct {
	at            sched.Point
	reached, open chan struct{}
}

func (g *gate) Delay(_ int, p sched.Point) time.Duration {
	if p == g.at {
		close(g.reached)
		<-g.open
	}
	return 0
}
