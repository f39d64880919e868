package conformance

import "rocstress/rocm"

// addKernel adds an integer to each of the first n words of a buffer.
func addKernel() *rocm.Kernel {
	return &rocm.Kernel{
		Name: "rocstress_conformance_add",
		Source: `extern "C" __global__ void rocstress_conformance_add(unsigned int* p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += (unsigned int)v;
}
`,
		Body: func(mem rocm.KernelMemory, l rocm.Launch) error {
			n := min(int(l.Grid.X)*int(l.Block.X), int(l.Args[1].Int))
			words := make([]uint32, n)
			if err := mem.Load(words, l.Args[0].Ptr); err != nil {
				return err
			}
			for i := range words {
				words[i] += uint32(l.Args[2].Int)
			}
			return mem.Store(l.Args[0].Ptr, words)
		},
	}
}

// launcher returns the Driver's Launcher, or nil where it has none: such a
// Driver has no naive GEMM, which the contract allows.
func (e *env) launcher() (rocm.Launcher, rocm.Function) {
	l, ok := e.drv.(rocm.Launcher)
	if !ok {
		return nil, 0
	}
	f, err := l.LoadKernel(e.th, addKernel())
	e.must(err)
	return l, f
}

func addLaunch(p rocm.Ptr, n, v int, block uint32, s rocm.Stream) rocm.Launch {
	return rocm.Launch{
		Grid: rocm.Dim3{X: (uint32(n) + block - 1) / block, Y: 1, Z: 1}, Block: rocm.Dim3{X: block, Y: 1, Z: 1}, Stream: s,
		Args: []rocm.Arg{{Ptr: p, IsPtr: true}, {Int: int32(n)}, {Int: int32(v)}},
	}
}

func launches(e *env) {
	l, f := e.launcher()
	if l == nil {
		return
	}
	const n = 1000
	s, p := e.stream(), e.malloc(n+1)
	want := distinct(n+1, 5)
	e.write(p, want, s)
	e.must(l.Launch(e.th, f, addLaunch(p, n, 7, 256, s)))
	e.must(l.Launch(e.th, f, addLaunch(p, n, -3, 64, s)))
	for i := range n {
		want[i] += 4
	}
	e.wantWords("buffer after two launches", e.read(p, n+1, s), want)
}

// oversizedBlock is refused by the call, and the device goes on.
func oversizedBlock(e *env) {
	l, f := e.launcher()
	if l == nil {
		return
	}
	props, err := e.drv.DeviceProps(e.th, 0)
	e.must(err)
	const n = 100
	s, p := e.stream(), e.malloc(n)
	e.write(p, make([]uint32, n), s)
	block := uint32(props.MaxThreadsPerBlock) * 2
	e.wantCode("launch of an oversized block", l.Launch(e.th, f, addLaunch(p, n, 1, block, s)), "hip", rocm.HipErrorInvalidValue)
	e.wantWords("buffer after a refused launch", e.read(p, n, s), make([]uint32, n))
	e.must(l.Launch(e.th, f, addLaunch(p, n, 1, 64, s)))
	want := make([]uint32, n)
	for i := range want {
		want[i] = 1
	}
	e.wantWords("buffer after the next launch", e.read(p, n, s), want)
}
