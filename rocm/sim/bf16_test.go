package sim_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/harness/oracle"
	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// padding is what lies between the columns of a matrix, and must stay there.
const padding = 0x5a5a

// halves packs bf16 elements two a word, the even one in the low half.
func halves(elements ...uint16) []uint32 {
	words := make([]uint32, oracle.BF16Words(len(elements)))
	for i, h := range elements {
		words[i/2] |= uint32(h) << (i % 2 * 16)
	}
	return words
}

func half(words []uint32, i int) uint16 { return uint16(words[i/2] >> (i % 2 * 16)) }

// layout is a column-major matrix inside a buffer of bf16: off elements, then
// columns of ld elements.
type layout struct{ rows, cols, ld, off int }

func (l layout) elements() int            { return l.off + l.ld*l.cols + 1 }
func (l layout) at(row, col int) int      { return l.off + col*l.ld + row }
func (l layout) from(p rocm.Ptr) rocm.Ptr { return p + rocm.Ptr(2*l.off) }

// spread lays a row-major matrix out, with padding around it.
func (l layout) spread(values []float32) []uint32 {
	h := make([]uint16, l.elements())
	for i := range h {
		h[i] = padding
	}
	for i, v := range values {
		h[l.at(i/l.cols, i%l.cols)] = oracle.BF16(v)
	}
	return halves(h...)
}

// gather returns the row-major elements of a matrix, and how many of those
// around it are not padding any more.
func (l layout) gather(words []uint32) (packed []uint32, spoilt int) {
	inside := map[int]bool{}
	elements := make([]uint16, l.rows*l.cols)
	for i := range elements {
		at := l.at(i/l.cols, i%l.cols)
		inside[at], elements[i] = true, half(words, at)
	}
	for i := range l.elements() {
		if !inside[i] && half(words, i) != padding {
			spoilt++
		}
	}
	return halves(elements...), spoilt
}

// problem is one bf16 GEMM of small integers, with any leading dimensions and
// offsets.
type problem struct {
	m, n, k         int
	la, lb, lc      layout
	a, b            []float32 // row-major
	want, magnitude []int32
}

func drawProblem(t *rapid.T) problem {
	draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	p := problem{m: draw("m", 1, 20), n: draw("n", 1, 20), k: draw("k", 0, 70)}
	place := func(name string, rows, cols int) layout {
		return layout{rows, cols, max(1, rows) + draw("pad "+name, 0, 3), draw("offset "+name, 0, 3)}
	}
	p.la, p.lb, p.lc = place("a", p.m, p.k), place("b", p.k, p.n), place("c", p.m, p.n)
	p.a, p.b = make([]float32, p.m*p.k), make([]float32, p.k*p.n)
	id := oracle.ProblemID{Seed: rapid.Uint64().Draw(t, "seed"), Rounds: 1}
	oracle.Fill(oracle.Mixed, p.a, id, oracle.MatrixA)
	oracle.Fill(oracle.Mixed, p.b, id, oracle.MatrixB)
	p.want = oracle.Reference(p.a, p.b, p.m, p.k, p.n)
	p.magnitude = oracle.Magnitude(p.a, p.b, p.m, p.k, p.n)
	return p
}

// poison is what every element of C is before.
const poisonHalf uint16 = 0xff81

// run multiplies on a device of an architecture. It returns the packed
// row-major result and the elements around it that were written.
func (p problem) run(g Gomega, arch string) (got []uint32, spoilt int) {
	cfg := sim.DefaultConfig().WithoutLatency()
	cfg.Arch = arch
	d, err := sim.Open(cfg)
	g.Expect(err).NotTo(HaveOccurred())
	rt := sched.Free(nil)
	th := rt.NewThread("main")
	put := func(words []uint32) (rocm.Ptr, rocm.HostMem) {
		mem, err := d.HostAlloc(th, len(words))
		g.Expect(err).NotTo(HaveOccurred())
		copy(mem.Words, words)
		at, err := d.Malloc(th, uint64(4*len(words)))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(d.MemcpyHtoDAsync(th, at, mem, len(words), 0)).To(Succeed())
		return at, mem
	}
	a, _ := put(p.la.spread(p.a))
	b, _ := put(p.lb.spread(p.b))
	before := p.lc.spread(make([]float32, p.m*p.n))
	for i := range p.m * p.n {
		at := p.lc.at(i/p.n, i%p.n)
		before[at/2] |= uint32(poisonHalf) << (at % 2 * 16)
	}
	c, out := put(before)
	h, err := d.RocBLASCreateHandle(th)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.RocBLASGemmEx(th, h, rocm.GemmEx{
		M: p.m, N: p.n, K: p.k, A: p.la.from(a), LDA: p.la.ld, B: p.lb.from(b), LDB: p.lb.ld, C: p.lc.from(c), LDC: p.lc.ld,
	})).To(Succeed())
	g.Expect(d.MemcpyDtoHAsync(th, out, c, len(out.Words), 0)).To(Succeed())
	g.Expect(d.StreamSynchronize(th, 0)).To(Succeed())
	g.Expect(d.Close(th)).To(Succeed())
	rt.Wait()
	return p.lc.gather(out.Words)
}

// TestBF16IsRoundedOnce compares exactly: sums of small integers have no
// rounding but the last.
func TestBF16IsRoundedOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		p := drawProblem(rt)
		exact := make([]uint16, len(p.want))
		for i, w := range p.want {
			exact[i] = oracle.BF16(float32(w))
		}
		got, spoilt := p.run(g, "gfx90a:sramecc+:xnack-")
		g.Expect(got).To(Equal(halves(exact...)))
		g.Expect(spoilt).To(BeZero(), "elements around C were written")
	})
}

// TestBF16OnGFX11StaysWithinTheBound is the same on a matrix unit that is not
// exact, and shows that it is not.
func TestBF16OnGFX11StaysWithinTheBound(t *testing.T) {
	inexact := 0
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		p := drawProblem(rt)
		got, spoilt := p.run(g, rapid.SampledFrom([]string{"gfx1100", "gfx1151"}).Draw(rt, "arch"))
		v := oracle.CompareBF16(got, p.want, p.magnitude, p.k, p.n, uint32(poisonHalf)<<16|uint32(poisonHalf))
		g.Expect(v.OK).To(BeTrue(), v.String())
		g.Expect(spoilt).To(BeZero(), "elements around C were written")
		for i, w := range p.want {
			if half(got, i) != oracle.BF16(float32(w)) {
				inexact++
			}
		}
	})
	NewWithT(t).Expect(inexact).To(BeNumerically(">", 0), "an exact comparison would have passed")
}

// one is the problem 1 x b, for a row of k ones and a column b.
func one(b ...float32) problem {
	k := len(b)
	p := problem{m: 1, n: 1, k: k, a: make([]float32, k), b: b}
	for i := range p.a {
		p.a[i] = 1
	}
	p.la, p.lb, p.lc = layout{1, k, 1, 0}, layout{k, 1, k, 0}, layout{1, 1, 1, 0}
	return p
}

func TestOppositeSignsFallShortOnGFX11(t *testing.T) {
	const u = 1.0 / (1 << 24)
	for _, c := range []struct {
		terms []float32
		gfx11 float32
		exact float32
	}{
		{[]float32{1, -1}, -u, 0},
		{[]float32{-1, 1}, -u, 0},
		{[]float32{3, -3}, -2 * u, 0},
		{[]float32{1, 1}, 2, 2},
		{[]float32{-1, -1}, -2, -2},
		{[]float32{0, -1}, -1, -1},
		{[]float32{2, -1, -1}, -3 * u, 0},
		{[]float32{4, -4, 4, -4}, -12 * u, 0},
		{[]float32{256, 1}, 256, 256}, // a tie, to even
		{[]float32{256, 3}, 260, 260}, // the same upwards
	} {
		g := NewWithT(t)
		got, _ := one(c.terms...).run(g, "gfx1151")
		g.Expect(oracle.FromBF16(half(got, 0))).To(Equal(c.gfx11), "%v on gfx1151", c.terms)
		got, _ = one(c.terms...).run(g, "gfx942")
		g.Expect(oracle.FromBF16(half(got, 0))).To(Equal(c.exact), "%v on gfx942", c.terms)
	}
}

var _ = Describe("A bf16 GEMM", func() {
	identity := halves(oracle.BF16(1))

	It("fails as often as it is told, and enqueues nothing then", func() {
		r := newRig(func(c *sim.Config) { c.GemmExFails, c.GemmExStatus = 2, rocm.RocBLASMemoryError })
		h, p := must(r.RocBLASCreateHandle(r.th)), r.upload(halves(oracle.BF16(2))...)
		g := rocm.GemmEx{M: 1, N: 1, K: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1}
		Expect(r.RocBLASGemmEx(r.th, 0, g)).To(haveCode("rocblas", rocm.RocBLASInvalidHandle))
		for range 2 {
			Expect(r.RocBLASGemmEx(r.th, h, g)).To(haveCode("rocblas", rocm.RocBLASMemoryError))
		}
		Expect(r.read(p, 1, 0)).To(Equal(halves(oracle.BF16(2))))
		must0(r.RocBLASGemmEx(r.th, h, g))
		Expect(r.read(p, 1, 0)).To(Equal(halves(oracle.BF16(4))))
	})

	DescribeTable("refuses bad arguments and enqueues nothing", func(change func(*rocm.GemmEx), code int) {
		r := newRig(nil)
		h, p := must(r.RocBLASCreateHandle(r.th)), r.upload(identity...)
		g := rocm.GemmEx{M: 1, N: 1, K: 1, A: p, LDA: 1, B: p, LDB: 1, C: p, LDC: 1}
		change(&g)
		Expect(r.RocBLASGemmEx(r.th, h, g)).To(haveCode("rocblas", code))
		Expect(r.read(p, 1, 0)).To(Equal(identity))
	},
		Entry("negative N", func(g *rocm.GemmEx) { g.N = -1 }, rocm.RocBLASInvalidSize),
		Entry("LDA below M", func(g *rocm.GemmEx) { g.LDA = 0 }, rocm.RocBLASInvalidSize),
		Entry("LDB below K", func(g *rocm.GemmEx) { g.K = 2 }, rocm.RocBLASInvalidSize),
		Entry("LDC below M", func(g *rocm.GemmEx) { g.M, g.LDA = 2, 2 }, rocm.RocBLASInvalidSize),
		Entry("null B", func(g *rocm.GemmEx) { g.B = 0 }, rocm.RocBLASInvalidPointer),
		Entry("null C", func(g *rocm.GemmEx) { g.C = 0 }, rocm.RocBLASInvalidPointer),
	)

	DescribeTable("faults on a matrix that is not mapped", func(change func(*rocm.GemmEx)) {
		r := newRig(nil)
		h, p := must(r.RocBLASCreateHandle(r.th)), must(r.Malloc(r.th, 4096)) // 2048 elements
		g := rocm.GemmEx{M: 2047, N: 1, K: 1, A: p, LDA: 2047, B: p, LDB: 1, C: p + 2, LDC: 2047}
		must0(r.RocBLASGemmEx(r.th, h, g))
		must0(r.StreamSynchronize(r.th, 0)) // the last element is the last of the page
		change(&g)
		must0(r.RocBLASGemmEx(r.th, h, g))
		Expect(r.StreamSynchronize(r.th, 0)).To(haveCode("hip", rocm.HipErrorIllegalAddress))
	},
		Entry("one element too many", func(g *rocm.GemmEx) { g.M, g.LDA, g.LDC = 2048, 2048, 2048 }),
		Entry("an odd address", func(g *rocm.GemmEx) { g.C++ }),
		Entry("A behind the page", func(g *rocm.GemmEx) { g.A += 4096 }),
		Entry("nonsense sizes", func(g *rocm.GemmEx) {
			const n = 1<<31 - 1
			g.M, g.N, g.K, g.LDA, g.LDB, g.LDC = n, n, n, n, n, n
		}),
	)
})
