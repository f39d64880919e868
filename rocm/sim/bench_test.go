package sim_test

import (
	"testing"

	"rocstress/harness/oracle"
	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

const benchM, benchN, benchK = 64, 64, 128

// BenchmarkFirstGEMM is the device work of one child of the scenario
// first-gemm: 8 threads, 33 rounds of loaded stream, poison, two copies in,
// GEMM [64,128] x [128,64], copy out.
func BenchmarkFirstGEMM(b *testing.B) {
	for _, load := range []struct {
		name  string
		words uint64
	}{{"idle", 0}, {"loaded", 512 << 20 / 4 / 10_000}} {
		b.Run(load.name, func(b *testing.B) {
			for b.Loop() {
				firstGEMM(b, load.words)
			}
		})
	}
}

func firstGEMM(b *testing.B, filler uint64) {
	const threads, rounds = 8, 33
	rt := sched.Free(nil)
	main := rt.NewThread("main")
	d, err := sim.Open(sim.DefaultConfig())
	check(b, err)
	var tasks []*sched.Task
	for range threads {
		tasks = append(tasks, sched.Go(main, "worker", func(th *sched.Thread) {
			w := newBenchWorker(b, d, th)
			for range rounds {
				w.round(b, filler)
			}
		}))
	}
	for _, t := range tasks {
		t.Join(main)
	}
	check(b, d.Close(main))
	rt.Wait()
}

type benchWorker struct {
	d       *sim.Driver
	th      *sched.Thread
	s       rocm.Stream
	h       rocm.BLAS
	fill    rocm.Ptr
	g       rocm.SGEMM
	a, b, c rocm.HostMem
}

func newBenchWorker(b *testing.B, d *sim.Driver, th *sched.Thread) *benchWorker {
	w := &benchWorker{d: d, th: th, g: rocm.SGEMM{M: benchM, N: benchN, K: benchK, Alpha: 1, LDA: benchM, LDB: benchK, LDC: benchM}}
	var err error
	ptr := func(words uint64) rocm.Ptr {
		p, err := d.Malloc(th, 4*words)
		check(b, err)
		return p
	}
	host := func(words int) rocm.HostMem {
		m, err := d.HostAlloc(th, words)
		check(b, err)
		return m
	}
	w.s, err = d.StreamCreate(th)
	check(b, err)
	w.h, err = d.RocBLASCreateHandle(th)
	check(b, err)
	check(b, d.RocBLASSetStream(th, w.h, w.s))
	w.fill, w.g.A, w.g.B, w.g.C = ptr(1<<16), ptr(benchM*benchK), ptr(benchK*benchN), ptr(benchM*benchN)
	w.a, w.b, w.c = host(benchM*benchK), host(benchK*benchN), host(benchM*benchN)
	return w
}

func (w *benchWorker) round(b *testing.B, filler uint64) {
	check(b, w.d.MemsetD32Async(w.th, w.fill, 0, filler, w.s))
	check(b, w.d.MemsetD32Async(w.th, w.g.C, 0x7fc0beef, benchM*benchN, w.s))
	check(b, w.d.MemcpyHtoDAsync(w.th, w.g.A, w.a, len(w.a.Words), w.s))
	check(b, w.d.MemcpyHtoDAsync(w.th, w.g.B, w.b, len(w.b.Words), w.s))
	check(b, w.d.RocBLASSgemm(w.th, w.h, w.g))
	check(b, w.d.MemcpyDtoHAsync(w.th, w.c, w.g.C, len(w.c.Words), w.s))
	check(b, w.d.StreamSynchronize(w.th, w.s))
}

// BenchmarkSgemm is one GEMM of first-gemm on an idle stream, host to host.
func BenchmarkSgemm(b *testing.B) {
	rt := sched.Free(nil)
	th := rt.NewThread("main")
	d, err := sim.Open(sim.DefaultConfig().WithoutLatency())
	check(b, err)
	w := newBenchWorker(b, d, th)
	for b.Loop() {
		check(b, d.RocBLASSgemm(th, w.h, w.g))
		check(b, d.StreamSynchronize(th, w.s))
	}
	check(b, d.Close(th))
	rt.Wait()
}

// BenchmarkGemmEx is the same in bf16, on a matrix unit that is exact and on
// one that is not.
func BenchmarkGemmEx(b *testing.B) {
	for _, arch := range []string{"gfx90a", "gfx1151"} {
		b.Run(arch, func(b *testing.B) {
			rt := sched.Free(nil)
			th := rt.NewThread("main")
			cfg := sim.DefaultConfig().WithoutLatency()
			cfg.Arch = arch
			d, err := sim.Open(cfg)
			check(b, err)
			w := newBenchWorker(b, d, th)
			bf16 := make([]float32, 2*len(w.a.Words))
			oracle.Fill(oracle.Mixed, bf16, oracle.ProblemID{Seed: 1, Rounds: 1}, oracle.MatrixA)
			oracle.PackBF16(w.a.Words, bf16)
			for _, p := range []rocm.Ptr{w.g.A, w.g.B} {
				check(b, d.MemcpyHtoDAsync(th, p, w.a, len(w.a.Words), w.s))
			}
			g := rocm.GemmEx{M: benchM, N: benchN, K: benchK, A: w.g.A, LDA: benchM, B: w.g.B, LDB: benchK, C: w.g.C, LDC: benchM}
			for b.Loop() {
				check(b, d.RocBLASGemmEx(th, w.h, g))
				check(b, d.StreamSynchronize(th, w.s))
			}
			check(b, d.Close(th))
			rt.Wait()
		})
	}
}

func check(b *testing.B, err error) {
	if err != nil {
		b.Error(err)
	}
}
