package hip

import (
	"bytes"
	"debug/elf"
	"errors"
	"math"
	"runtime"

	"rocstress/harness/oracle"
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// bench is an opened Driver with what most kernel tests need.
type bench struct {
	*Driver
	th *sched.Thread
	s  rocm.Stream
	h  rocm.BLAS
}

func newBench() (*bench, error) {
	th := sched.Free(nil).NewThread("child")
	d, err := Open(0)
	if err != nil {
		return nil, err
	}
	s, errS := d.StreamCreate(th)
	h, errH := d.RocBLASCreateHandle(th)
	return &bench{d, th, s, h}, errors.Join(errS, errH, d.RocBLASSetStream(th, h, s))
}

// put returns device memory that holds words.
func (b *bench) put(words []uint32) (rocm.Ptr, error) {
	p, err1 := b.Malloc(b.th, uint64(4*len(words)))
	m, err2 := b.HostAlloc(b.th, len(words))
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	copy(m.Words, words)
	return p, errors.Join(b.MemcpyHtoDAsync(b.th, p, m, len(words), b.s), b.StreamSynchronize(b.th, b.s))
}

// take returns n words of device memory.
func (b *bench) take(p rocm.Ptr, n int) ([]uint32, error) {
	m, err := b.HostAlloc(b.th, n)
	if err != nil {
		return nil, err
	}
	err = errors.Join(b.MemcpyDtoHAsync(b.th, m, p, n, b.s), b.StreamSynchronize(b.th, b.s))
	return m.Words, err
}

const (
	rows, inner, cols = 33, 20, 17
	poisonBuffer      = 5
)

// childProducts returns what the oracle says of the naive GEMM and of a bf16
// GEMM. Both are row-major to it.
func childProducts() any {
	runtime.LockOSThread()
	b, err := newBench()
	if err != nil {
		return []string{err.Error()}
	}
	a32, b32 := make([]float32, rows*inner), make([]float32, inner*cols)
	id := oracle.ProblemID{Seed: 7}
	oracle.Fill(oracle.Mixed, a32, id, oracle.MatrixA)
	oracle.Fill(oracle.Mixed, b32, id, oracle.MatrixB)
	naive, err1 := b.naive(a32, b32)
	bf16, err2 := b.bf16(a32, b32)
	if err := errors.Join(err1, err2, b.Close(b.th)); err != nil {
		return []string{err.Error()}
	}
	return []string{naive, bf16}
}

func (b *bench) naive(a32, b32 []float32) (string, error) {
	f, err := b.LoadKernel(b.th, rocm.NaiveGEMMKernel())
	poison := oracle.Poison(poisonBuffer)
	c32 := make([]uint32, rows*cols)
	for i := range c32 {
		c32[i] = poison
	}
	pa, errA := b.put(bitsOf(a32))
	pb, errB := b.put(bitsOf(b32))
	pc, errC := b.put(c32)
	if err := errors.Join(err, errA, errB, errC); err != nil {
		return "", err
	}
	err = b.Launch(b.th, f, naiveLaunch(b.s, pa, pb, pc))
	got, errGot := b.take(pc, rows*cols)
	return oracle.Compare(got, oracle.Reference(a32, b32, rows, inner, cols), cols, poison).String(), errors.Join(err, errGot)
}

func naiveLaunch(s rocm.Stream, pa, pb, pc rocm.Ptr) rocm.Launch {
	return rocm.Launch{
		Grid: rocm.Dim3{X: (rows*cols + 255) / 256, Y: 1, Z: 1}, Block: rocm.Dim3{X: 256, Y: 1, Z: 1}, Stream: s,
		Args: []rocm.Arg{{Ptr: pa, IsPtr: true}, {Ptr: pb, IsPtr: true}, {Ptr: pc, IsPtr: true}, {Int: rows}, {Int: inner}, {Int: cols}},
	}
}

func bitsOf(floats []float32) []uint32 {
	words := make([]uint32, len(floats))
	for i, f := range floats {
		words[i] = math.Float32bits(f)
	}
	return words
}

func (b *bench) bf16(a32, b32 []float32) (string, error) {
	pack := func(floats []float32) (rocm.Ptr, error) {
		words := make([]uint32, oracle.BF16Words(len(floats)))
		oracle.PackBF16(words, floats)
		return b.put(words)
	}
	// 33 x 17 elements are an odd number: the last word is half padding.
	c := make([]uint32, oracle.BF16Words(rows*cols))
	poison := oracle.PoisonBF16(poisonBuffer)
	for i := range c {
		c[i] = poison
	}
	pa, errA := pack(a32)
	pb, errB := pack(b32)
	pc, errC := b.put(c)
	if err := errors.Join(errA, errB, errC); err != nil {
		return "", err
	}
	// Column-major, C' = B' A'.
	err := b.RocBLASGemmEx(b.th, b.h, rocm.GemmEx{M: cols, N: rows, K: inner, A: pb, LDA: cols, B: pa, LDB: inner, C: pc, LDC: cols})
	got, errGot := b.take(pc, len(c))
	verdict := oracle.CompareBF16(got, oracle.Reference(a32, b32, rows, inner, cols),
		oracle.Magnitude(a32, b32, rows, inner, cols), inner, cols, poison)
	return verdict.String(), errors.Join(err, errGot)
}

// childRounds returns four bf16 products that lie halfway between two bf16: 257,
// 259, 261 and 263, each 16 x 16 and an odd number.
func childRounds() any {
	runtime.LockOSThread()
	b, err := newBench()
	if err != nil {
		return []float32{-1}
	}
	a, c := make([]uint32, 1), make([]uint32, 2)
	odd := make([]uint32, 4)
	oracle.PackBF16(a, []float32{16, 1})
	oracle.PackBF16(odd, []float32{16, 1, 16, 3, 16, 5, 16, 7})
	pa, errA := b.put(a)
	pb, errB := b.put(odd)
	pc, errC := b.put(c)
	if err := errors.Join(errA, errB, errC); err != nil {
		return []float32{-2}
	}
	err = b.RocBLASGemmEx(b.th, b.h, rocm.GemmEx{M: 1, N: 4, K: 2, A: pa, LDA: 1, B: pb, LDB: 2, C: pc, LDC: 1})
	words, errTake := b.take(pc, 2)
	if err := errors.Join(err, errTake); err != nil {
		return []float32{-3}
	}
	var got []float32
	for i := range 4 {
		got = append(got, oracle.FromBF16(uint16(words[i/2]>>(i%2*16))))
	}
	return got
}

// childLaunches returns what launches come to: of no kernel, of sizes at and
// past every limit, and of a good one with an address that is not mapped, with
// the wait for it.
func childLaunches() any {
	runtime.LockOSThread()
	b, err := newBench()
	if err != nil {
		return []seen{see(err)}
	}
	f, errF := b.LoadKernel(b.th, rocm.NaiveGEMMKernel())
	p, errP := b.Malloc(b.th, 4096)
	if err := errors.Join(errF, errP); err != nil {
		return []seen{see(err)}
	}
	sized := func(grid, block rocm.Dim3) error {
		l := naiveLaunch(b.s, p, p, p)
		l.Grid, l.Block, l.Args[3].Int = grid, block, 0
		return b.Launch(b.th, f, l)
	}
	all := []seen{
		see(b.Launch(b.th, 0, naiveLaunch(b.s, p, p, p))),
		see(b.Launch(b.th, f+1, naiveLaunch(b.s, p, p, p))),
		see(sized(rocm.Dim3{X: 1, Y: 1, Z: 1}, rocm.Dim3{X: 2048, Y: 1, Z: 1})),
		see(sized(rocm.Dim3{X: 1, Y: 1, Z: 1}, rocm.Dim3{X: 32, Y: 32, Z: 2})),
		see(sized(rocm.Dim3{X: 0, Y: 1, Z: 1}, rocm.Dim3{X: 64, Y: 1, Z: 1})),
		see(sized(rocm.Dim3{X: 1 << 26, Y: 1, Z: 1}, rocm.Dim3{X: 64, Y: 1, Z: 1})),
		// The index of a thread is an int: 2^30 of them leave it positive.
		see(sized(rocm.Dim3{X: 1 << 24, Y: 1, Z: 1}, rocm.Dim3{X: 64, Y: 1, Z: 1})),
		see(b.StreamSynchronize(b.th, b.s)),
	}
	return append(all, see(b.Launch(b.th, f, naiveLaunch(b.s, p+1<<40, p, p))), see(b.StreamSynchronize(b.th, b.s)))
}

// childLoads returns what loading comes to: of a good kernel, of one the test
// ABI lacks, of source without a kernel, of a kernel that the source lacks, and
// of nothing.
func childLoads() any {
	runtime.LockOSThread()
	th := sched.Free(nil).NewThread("child")
	d, err := Open(0)
	if err != nil {
		return []seen{see(err)}
	}
	good := rocm.NaiveGEMMKernel()
	var all []seen
	for _, k := range []*rocm.Kernel{
		good,
		{Name: "other", Source: "\n// extern \"C\"\nextern \"C\" __global__ void other(int* p) {}\n"},
		{Name: good.Name, Source: "extern \"C\" int " + good.Name + "(void);"},
		{Name: "other", Source: good.Source},
		nil,
	} {
		_, err := d.LoadKernel(th, k)
		all = append(all, see(err))
	}
	return append(all, see(d.Close(th)))
}

type reset struct {
	Err                               seen // anything that should have worked
	Launch, Sync, Copy, Gemm, Destroy seen // of what was there before
	Free                              seen
	Again                             string // the naive GEMM of after
	Close                             seen
}

// childReset resets the device under a kernel, a stream, memory and a handle.
func childReset() any {
	runtime.LockOSThread()
	var r reset
	b, err := newBench()
	if err != nil {
		return reset{Err: see(err)}
	}
	f, errF := b.LoadKernel(b.th, rocm.NaiveGEMMKernel())
	p, errP := b.put(make([]uint32, 4*rows*inner))
	m, errM := b.HostAlloc(b.th, 1)
	if err := errors.Join(errF, errP, errM, b.DeviceReset(b.th)); err != nil {
		return reset{Err: see(err)}
	}
	r.Launch = see(b.Launch(b.th, f, naiveLaunch(0, p, p, p)))
	r.Sync = see(b.StreamSynchronize(b.th, b.s))
	r.Copy = see(b.MemcpyHtoDAsync(b.th, p, m, 1, b.s))
	r.Gemm = see(b.RocBLASGemmEx(b.th, b.h, rocm.GemmEx{M: 1, N: 1, K: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1}))
	r.Free = see(b.Free(b.th, p))
	r.Destroy = see(b.RocBLASDestroyHandle(b.th, b.h))
	b.s, err = b.StreamCreate(b.th)
	ones := make([]float32, rows*inner)
	for i := range ones {
		ones[i] = 1
	}
	var errAgain error
	r.Again, errAgain = b.naive(ones, ones[:inner*cols])
	r.Err = see(errors.Join(err, b.HostFree(b.th, m), errAgain))
	r.Close = see(b.Close(b.th))
	return r
}

// childRebound returns what a GEMM on a handle of before a reset comes to, bound
// to a stream and given memory of after it: the binding, the GEMM, the wait.
func childRebound() any {
	runtime.LockOSThread()
	b, err := newBench()
	if err != nil {
		return []seen{see(err)}
	}
	err1 := b.DeviceReset(b.th)
	s, err2 := b.StreamCreate(b.th)
	p, err3 := b.Malloc(b.th, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return []seen{see(err)}
	}
	return []seen{
		see(b.RocBLASSetStream(b.th, b.h, s)),
		see(b.RocBLASGemmEx(b.th, b.h, rocm.GemmEx{M: 1, N: 1, K: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1})),
		see(b.StreamSynchronize(b.th, s)),
	}
}

// compiled is a code object, or why there is none.
type compiled struct {
	Err     seen
	Unknown bool // ErrUnknownArch
	Machine elf.Machine
	Type    elf.Type
	Symbols []string
}

// childCompiles compiles with the runtime that is found, which needs no device:
// the naive GEMM for several architectures, then source that is wrong.
func childCompiles() any {
	runtime.LockOSThread()
	th := sched.Free(nil).NewThread("child")
	s := newSearch()
	all := map[string]compiled{}
	rt, err := s.loadRuntime()
	if err != nil {
		return map[string]compiled{"": {Err: see(err)}}
	}
	c, err := s.loadCompiler(rt)
	if err != nil {
		return map[string]compiled{"": {Err: see(err)}}
	}
	for _, arch := range []string{"gfx90a", "gfx90a:sramecc+:xnack-", "gfx1030", "gfx1100", "gfx1151", "gfx9999"} {
		all[arch] = compileOne(th, c, rocm.NaiveGEMMKernel(), arch)
	}
	all["wrong"] = compileOne(th, c, &rocm.Kernel{Name: "wrong", Source: "\n\nint wrong( { }\n"}, "gfx90a")
	return all
}

func compileOne(th *sched.Thread, c *compiler, k *rocm.Kernel, arch string) compiled {
	code, err := c.compile(th, k, arch)
	one := compiled{Err: see(err), Unknown: errors.Is(err, ErrUnknownArch)}
	f, err := elf.NewFile(bytes.NewReader(code))
	if err != nil {
		return one
	}
	one.Machine, one.Type = f.Machine, f.Type
	symbols, _ := f.DynamicSymbols() // none is what the test then sees
	for _, s := range symbols {
		one.Symbols = append(one.Symbols, s.Name)
	}
	return one
}
