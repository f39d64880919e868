package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math"

	"rocstress/childproc/wire"
	"rocstress/harness/oracle"
	"rocstress/harness/sched"
	"rocstress/harness/team"
	"rocstress/rocm"
)

// gemmWork is concurrent GEMMs of integer matrices, each checked exactly:
// every thread has its own stream and buffers, and all share one Device.
type gemmWork struct {
	env    *Env
	dev    *rocm.Device
	typ    rocm.Type
	inputs oracle.Inputs
	filler filler
	stream rocm.Stream                            // of the body's own thread
	before func(*sched.Thread, *gemmWorker) error // ahead of each GEMM; may be nil
	// workers has one slot a thread, each written by its thread alone.
	workers []*gemmWorker
}

// gemmWorker is what one thread works with. Host memory holds all rounds one
// after another, so that nothing is computed or compared between two GEMMs:
// slow host work there thins the overlap out.
type gemmWorker struct {
	stream       rocm.Stream
	a, b, c      rocm.Ptr
	hostA, hostB rocm.HostMem
	hostC        rocm.HostMem
	want         [][]int32 // a round
	magnitude    [][]int32 // a round; bf16 only
	rounds       int       // finished without an error
	naive        int       // GEMMs among them that did not take rocBLAS
}

func newGEMMWork(env *Env, typ rocm.Type) (*gemmWork, error) {
	inputs, err := oracle.ParseInputs(env.Spec.Settings.Inputs)
	if err != nil {
		return nil, err
	}
	load, err := ParseLoad(env.Spec.Settings.Load)
	if err != nil {
		return nil, err
	}
	dev, err := env.NewDevice()
	if err != nil {
		return nil, err
	}
	w := &gemmWork{env: env, dev: dev, typ: typ, inputs: inputs, workers: make([]*gemmWorker, env.Spec.Settings.Threads)}
	if w.stream, err = dev.NewStream(env.Thread); err != nil {
		return nil, err
	}
	w.filler, err = newFiller(env.Thread, env.Driver, w.stream, env.device.TotalMemory, load)
	return w, err
}

// run releases all threads at once into their GEMMs and reports what they
// measured. The error is the first that a thread met.
func (w *gemmWork) run(ctx context.Context) error {
	if err := w.env.phase(wire.PhaseRun); err != nil {
		return err
	}
	result, err := team.Run(ctx, team.Config{
		Threads: len(w.workers), Runtime: w.env.Runtime, Name: "gemm",
	}, w.member)
	return errors.Join(err, w.env.sendTeam(result))
}

func (w *gemmWork) member(_ context.Context, m *team.Member) error {
	t, err := w.prepare(m.Thread, m.Index)
	if err != nil {
		return err
	}
	w.workers[m.Index] = t
	if err := m.Barrier(); err != nil {
		return err
	}
	for r := range w.env.Spec.Settings.Rounds {
		start := m.Thread.Now()
		if w.before != nil {
			if err := w.before(m.Thread, t); err != nil {
				return fmt.Errorf("thread %d, before round %d: %w", m.Index, r, err)
			}
		}
		route, err := w.round(m.Thread, t, m.Index, r)
		op := team.Op{Round: r, Route: string(route), Status: "ok", Start: start, End: m.Thread.Now()}
		if err != nil {
			op.Status = err.Error()
		}
		m.Record(op)
		if err != nil {
			return fmt.Errorf("thread %d, round %d: %w", m.Index, r, err)
		}
		if route == rocm.RouteNaive {
			t.naive++
		}
		t.rounds++
	}
	return nil
}

// prepare makes everything a thread needs before the barrier: stream, memory,
// inputs and references. It runs no GEMM.
func (w *gemmWork) prepare(th *sched.Thread, index int) (*gemmWorker, error) {
	drv, rounds := w.env.Driver, w.env.Spec.Settings.Rounds
	t := &gemmWorker{}
	var err error
	if t.stream, err = w.dev.NewStream(th); err != nil {
		return nil, err
	}
	a, b, c := w.words()
	for _, buf := range []struct {
		dev   *rocm.Ptr
		host  *rocm.HostMem
		words int
	}{{&t.a, &t.hostA, a}, {&t.b, &t.hostB, b}, {&t.c, &t.hostC, c}} {
		if *buf.dev, err = drv.Malloc(th, uint64(buf.words)*4); err != nil {
			return nil, err
		}
		if *buf.host, err = drv.HostAlloc(th, buf.words*rounds); err != nil {
			return nil, err
		}
		if err = drv.MemsetD32Async(th, *buf.dev, w.inputPoison(), uint64(buf.words), t.stream); err != nil {
			return nil, err
		}
	}
	w.fill(t, index)
	for i := range t.hostC.Words {
		t.hostC.Words[i] = w.poison(index, i/c)
	}
	return t, drv.StreamSynchronize(th, t.stream)
}

// words returns how many words the three matrices of a GEMM have.
func (w *gemmWork) words() (a, b, c int) {
	s := w.env.Spec.Settings.Shape
	if w.typ == rocm.BF16 {
		return oracle.BF16Words(s.M * s.K), oracle.BF16Words(s.K * s.N), oracle.BF16Words(s.M * s.N)
	}
	return s.M * s.K, s.K * s.N, s.M * s.N
}

// fill makes the inputs and references of all rounds of a thread.
func (w *gemmWork) fill(t *gemmWorker, index int) {
	set := w.env.Spec.Settings
	s := set.Shape
	aWords, bWords, _ := w.words()
	a, b := make([]float32, s.M*s.K), make([]float32, s.K*s.N)
	for r := range set.Rounds {
		id := oracle.ProblemID{Seed: w.env.Spec.Seed, Thread: index, Round: r, Rounds: set.Rounds}
		oracle.Fill(w.inputs, a, id, oracle.MatrixA)
		oracle.Fill(w.inputs, b, id, oracle.MatrixB)
		t.want = append(t.want, oracle.Reference(a, b, s.M, s.K, s.N))
		pack := putFloats
		if w.typ == rocm.BF16 {
			pack = oracle.PackBF16
			t.magnitude = append(t.magnitude, oracle.Magnitude(a, b, s.M, s.K, s.N))
		}
		pack(t.hostA.Words[r*aWords:(r+1)*aWords], a)
		pack(t.hostB.Words[r*bWords:(r+1)*bWords], b)
	}
}

// round enqueues one GEMM with everything around it on the thread's stream and
// waits for it: filler, poison, inputs, GEMM, result.
func (w *gemmWork) round(th *sched.Thread, t *gemmWorker, index, r int) (rocm.Route, error) {
	s, drv := w.env.Spec.Settings.Shape, w.env.Driver
	a, b, c := w.words()
	if err := w.filler.enqueue(th, drv, t.stream); err != nil {
		return "", err
	}
	if err := drv.MemsetD32Async(th, t.c, w.poison(index, r), uint64(c), t.stream); err != nil {
		return "", err
	}
	if err := drv.MemcpyHtoDAsync(th, t.a, t.hostA.Slice(r*a, a), a, t.stream); err != nil {
		return "", err
	}
	if err := drv.MemcpyHtoDAsync(th, t.b, t.hostB.Slice(r*b, b), b, t.stream); err != nil {
		return "", err
	}
	route, err := w.dev.Gemm(th, t.stream, rocm.GEMM{Type: w.typ, M: s.M, K: s.K, N: s.N, A: t.a, B: t.b, C: t.c})
	if err != nil {
		return route, err
	}
	if err := drv.MemcpyDtoHAsync(th, t.hostC.Slice(r*c, c), t.c, c, t.stream); err != nil {
		return route, err
	}
	return route, drv.StreamSynchronize(th, t.stream)
}

// poison is the word that fills the output of a thread's round.
func (w *gemmWork) poison(index, round int) uint32 {
	buffer := uint64(index*w.env.Spec.Settings.Rounds + round)
	if w.typ == rocm.BF16 {
		return oracle.PoisonBF16(buffer)
	}
	return oracle.Poison(buffer)
}

// inputPoison backs device memory before anything is written to it.
func (w *gemmWork) inputPoison() uint32 {
	if w.typ == rocm.BF16 {
		return oracle.InputPoisonBF16
	}
	return oracle.InputPoison
}

func putFloats(dst []uint32, src []float32) {
	for i, f := range src {
		dst[i] = math.Float32bits(f)
	}
}

// release frees what the threads allocated and closes the Device.
func (w *gemmWork) release() error {
	th, drv := w.env.Thread, w.env.Driver
	var errs []error
	for _, t := range w.workers {
		if t == nil {
			continue
		}
		errs = append(errs, drv.StreamDestroy(th, t.stream))
		for _, p := range []rocm.Ptr{t.a, t.b, t.c} {
			errs = append(errs, drv.Free(th, p))
		}
		for _, m := range []rocm.HostMem{t.hostA, t.hostB, t.hostC} {
			errs = append(errs, drv.HostFree(th, m))
		}
	}
	if w.filler.words > 0 {
		errs = append(errs, drv.Free(th, w.filler.mem))
	}
	errs = append(errs, drv.StreamDestroy(th, w.stream), w.dev.Close(th))
	return errors.Join(errs...)
}
