package rocm

import (
	"errors"
	"fmt"
	"math"

	"rocstress/harness/sched"
)

// naiveKernel is the fallback GEMM, loaded by its first user.
type naiveKernel struct {
	// mu is never held together with Device.mu.
	mu     sched.Mutex
	fn     Function // guarded by mu
	loaded bool     // guarded by mu
}

const naiveBlock = 256 // threads a block, below every AMD limit

// naiveGEMM enqueues g as one thread an element.
func (d *Device) naiveGEMM(th *sched.Thread, s Stream, g GEMM) error {
	if g.Type != F32 {
		return errors.New("no route for this GEMM: rocBLAS cannot be used and the naive kernel takes f32 only")
	}
	l, ok := d.drv.(Launcher)
	if !ok {
		return fmt.Errorf("no route for this GEMM: rocBLAS cannot be used and the %s driver launches no kernels",
			d.drv.Describe(th).Driver)
	}
	fn, err := d.naiveFunction(th, l)
	if err != nil {
		return err
	}
	blocks := (uint32(g.M*g.N) + naiveBlock - 1) / naiveBlock
	return l.Launch(th, fn, Launch{
		Grid: Dim3{blocks, 1, 1}, Block: Dim3{naiveBlock, 1, 1}, Stream: s,
		Args: []Arg{
			{Ptr: g.A, IsPtr: true}, {Ptr: g.B, IsPtr: true}, {Ptr: g.C, IsPtr: true},
			{Int: int32(g.M)}, {Int: int32(g.K)}, {Int: int32(g.N)},
		},
	})
}

func (d *Device) naiveFunction(th *sched.Thread, l Launcher) (Function, error) {
	d.naive.mu.Lock(th)
	defer d.naive.mu.Unlock(th)
	if d.naive.loaded {
		return d.naive.fn, nil
	}
	if err := d.MakeCurrent(th); err != nil {
		return 0, err
	}
	fn, err := l.LoadKernel(th, NaiveGEMMKernel())
	if err != nil {
		return 0, err
	}
	d.naive.fn, d.naive.loaded = fn, true
	return fn, nil
}

// NaiveGEMMKernel returns the fallback GEMM: arguments A, B, C, M, K, N,
// row-major f32, one thread an element of C, in blocks along X.
func NaiveGEMMKernel() *Kernel {
	return &Kernel{
		Name: "rocstress_naive_gemm_f32",
		Source: `extern "C" __global__ void rocstress_naive_gemm_f32(
    const float* a, const float* b, float* c, int m, int k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) sum += a[(i / n) * k + p] * b[p * n + i % n];
  c[i] = sum;
}
`,
		Body: naiveBody,
	}
}

func naiveBody(mem KernelMemory, l Launch) error {
	m, k, n := int(l.Args[3].Int), int(l.Args[4].Int), int(l.Args[5].Int)
	a, b := make([]uint32, m*k), make([]uint32, k*n)
	if err := mem.Load(a, l.Args[0].Ptr); err != nil {
		return err
	}
	if err := mem.Load(b, l.Args[1].Ptr); err != nil {
		return err
	}
	threads := min(int(l.Grid.X*l.Block.X), m*n)
	c := make([]uint32, threads)
	for i := range c {
		var sum float32
		for p := range k {
			sum += math.Float32frombits(a[i/n*k+p]) * math.Float32frombits(b[p*n+i%n])
		}
		c[i] = math.Float32bits(sum)
	}
	return mem.Store(l.Args[2].Ptr, c)
}
