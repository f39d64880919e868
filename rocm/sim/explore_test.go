package sim_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// shared is two threads that multiply through one handle, each into an output
// of its own, and read it back on a stream of its own.
type shared struct {
	locked   bool
	unequal  int // outputs that were not as they should be
	failures []error
}

const sharedThreads = 2

func (x *shared) root(th *sched.Thread) {
	d, err := sim.Open(sim.DefaultConfig().WithoutLatency())
	x.note(err)
	h, err := d.RocBLASCreateHandle(th)
	x.note(err)
	mu := sched.NewMutex("handle")
	var tasks []*sched.Task
	for range sharedThreads {
		tasks = append(tasks, sched.Go(th, "worker", func(th *sched.Thread) { x.worker(th, d, h, mu) }))
	}
	for _, t := range tasks {
		t.Join(th)
	}
	x.note(d.Close(th))
}

func (x *shared) worker(th *sched.Thread, d *sim.Driver, h rocm.BLAS, mu *sched.Mutex) {
	s, err := d.StreamCreate(th)
	x.note(err)
	in, err := d.HostAlloc(th, 1)
	x.note(err)
	in.Words[0] = bits(3)[0]
	p, err := d.Malloc(th, 4)
	x.note(err)
	c, err := d.Malloc(th, 4)
	x.note(err)
	x.note(d.MemcpyHtoDAsync(th, p, in, 1, s))
	if x.locked {
		mu.Lock(th)
	}
	x.note(d.RocBLASSetStream(th, h, s))
	x.note(d.RocBLASSgemm(th, h, rocm.SGEMM{M: 1, N: 1, K: 1, Alpha: 1, A: p, LDA: 1, B: p, LDB: 1, C: c, LDC: 1}))
	if x.locked {
		mu.Unlock(th)
	}
	x.note(d.MemcpyDtoHAsync(th, in, c, 1, s))
	x.note(d.StreamSynchronize(th, s))
	if in.Words[0] != bits(9)[0] {
		x.unequal++
	}
}

func (x *shared) note(err error) {
	if err != nil {
		x.failures = append(x.failures, err)
	}
}

var _ = Describe("Under a controller", func() {
	const schedules = 500

	explore := func(locked bool, seed uint64) (*shared, sched.Schedule) {
		x := &shared{locked: locked}
		s := sched.Explore(sched.Config{Strategy: sched.RandomWalk(seed)}, x.root)
		Expect(s.End).To(Equal(sched.Done), "seed %d: %v", seed, s)
		Expect(x.failures).To(BeEmpty())
		return x, s
	}

	It("some schedule misroutes an unlocked GEMM, and the same decisions do it again", func() {
		for seed := range uint64(schedules) {
			x, s := explore(false, seed)
			if x.unequal == 0 {
				continue
			}
			for range 20 {
				again := &shared{}
				Expect(sched.Explore(sched.Config{Strategy: sched.Replay(s.Choices)}, again.root)).To(Equal(s))
				Expect(again.unequal).To(Equal(x.unequal))
			}
			return
		}
		Fail("no schedule misrouted a GEMM")
	})

	It("no schedule misroutes a locked one", func() {
		for seed := range uint64(schedules) {
			x, _ := explore(true, seed)
			Expect(x.unequal).To(BeZero(), "seed %d", seed)
		}
	})

	It("a crash is the end of the schedule", func() {
		s := sched.Explore(sched.Config{Strategy: sched.RandomWalk(1)}, func(th *sched.Thread) {
			d := must(sim.Open(sim.DefaultConfig().WithoutLatency()))
			h := must(d.RocBLASCreateHandle(th))
			must0(d.RocBLASDestroyHandle(th, h))
			must0(d.RocBLASSetStream(th, h, 0))
		})
		Expect(s.End).To(Equal(sched.Crashed))
		Expect(s.Crash).To(Equal("SIGSEGV: use of a rocBLAS handle after it was freed"))
	})

	It("latencies are virtual", func() {
		var took int64
		s := sched.Explore(sched.Config{Strategy: sched.RandomWalk(1)}, func(th *sched.Thread) {
			cfg := sim.DefaultConfig()
			cfg.Create = 3_600_000_000_000 // an hour
			d := must(sim.Open(cfg))
			must(d.RocBLASCreateHandle(th))
			took = int64(th.Now())
		})
		Expect(s.End).To(Equal(sched.Done))
		Expect(took).To(BeNumerically(">=", int64(3_600_000_000_000)))
	})
})

// BenchmarkExplore is one schedule of two threads that share a handle.
func BenchmarkExplore(b *testing.B) {
	steps := 0
	for seed := uint64(0); b.Loop(); seed++ {
		x := &shared{locked: true}
		s := sched.Explore(sched.Config{Strategy: sched.RandomWalk(seed)}, x.root)
		steps += len(s.Steps)
		if s.End != sched.Done || x.unequal > 0 || len(x.failures) > 0 {
			b.Fatalf("%v %+v", s.End, x)
		}
	}
	b.ReportMetric(float64(steps)/float64(b.N), "steps/schedule")
}
