package conformance

import (
	"math"

	"rocstress/rocm"
)

// bf16Product is one bf16 GEMM of small integers with the memory it needs.
// Elements lie two a word, the even one in the low half.
type bf16Product struct {
	rocm.GemmEx
	before []uint32  // C before, with its padding
	want   []float64 // C after, dense
	slack  []float64 // how far each element may be off before it is rounded
}

// bf16Library returns the Driver's BF16Library, or nil where it has none: such
// a Driver multiplies no bf16, which the contract allows.
func (e *env) bf16Library() rocm.BF16Library {
	lib, _ := e.drv.(rocm.BF16Library)
	return lib
}

// newBF16Product fills a, b and c for a GEMM whose operands are seeded by seed.
func (e *env) newBF16Product(g rocm.GemmEx, seed int, s rocm.Stream) *bf16Product {
	a, b, c := operand(g.LDA*g.K, 3*seed), operand(g.LDB*g.N, 3*seed+1), operand(g.LDC*g.N+1, 3*seed+2)
	p := &bf16Product{GemmEx: g}
	for j := range g.N {
		for i := range g.M {
			var sum, magnitude float64
			for k := range g.K {
				term := float64(a[k*g.LDA+i] * b[j*g.LDB+k])
				sum, magnitude = sum+term, magnitude+math.Abs(term)
			}
			// No order of the sums and no matrix unit is further off: on gfx11,
			// which adds opposite signs by one's complement, 1 + -1 is -2^-24.
			const u = 1.0 / (1 << 24)
			p.want, p.slack = append(p.want, sum), append(p.slack, 2*float64(g.K)*u*magnitude)
			c[j*g.LDC+i] = float32(math.NaN()) // and so C must not be read
		}
	}
	p.before = packBF16(c)
	p.A, p.B, p.C = e.malloc((len(a)+1)/2), e.malloc((len(b)+1)/2), e.malloc(len(p.before))
	e.write(p.A, packBF16(a), s)
	e.write(p.B, packBF16(b), s)
	return p
}

// packBF16 returns the words of a matrix.
func packBF16(v []float32) []uint32 {
	words := make([]uint32, (len(v)+1)/2)
	for i, f := range v {
		words[i/2] |= uint32(roundBF16(f)) << (i % 2 * 16)
	}
	return words
}

// roundBF16 returns the bf16 nearest to f, ties to even. A NaN stays one.
func roundBF16(f float32) uint16 {
	b := math.Float32bits(f)
	if math.IsNaN(float64(f)) {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func halfOf(words []uint32, i int) uint16 { return uint16(words[i/2] >> (i % 2 * 16)) }

func valueOf(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

func (e *env) poisonBF16(p *bf16Product, s rocm.Stream) { e.write(p.C, p.before, s) }

// wantProduct ends the clause at the first element of C that is not the bf16
// of a value within its bound, or that lies beside C and was written.
func (e *env) wantProduct(what string, p *bf16Product, s rocm.Stream) {
	got := e.read(p.C, len(p.before), s)
	for i := range 2 * len(got) {
		h, row, col := halfOf(got, i), i%p.LDC, i/p.LDC
		if row >= p.M || col >= p.N {
			if h != halfOf(p.before, i) {
				e.fatalf("%s: element %d, which is padding, was %#04x and is %#04x", what, i, halfOf(p.before, i), h)
			}
			continue
		}
		want, slack := p.want[col*p.M+row], p.slack[col*p.M+row]
		low, high := valueOf(roundBF16(float32(want-slack))), valueOf(roundBF16(float32(want+slack)))
		if v := valueOf(h); !(low <= v && v <= high) {
			e.fatalf("%s: row %d, column %d of [%d,%d] with K %d is %v (%#04x), want %v to %v",
				what, row, col, p.M, p.N, p.K, v, h, low, high)
		}
	}
}

// denseBF16 returns a GEMM without padding.
func denseBF16(m, n, k int) rocm.GemmEx {
	return rocm.GemmEx{M: m, N: n, K: k, LDA: m, LDB: k, LDC: m}
}

func bf16Products(e *env) {
	lib := e.bf16Library()
	if lib == nil {
		return
	}
	s, h := e.stream(), e.handle()
	e.must(e.drv.RocBLASSetStream(e.th, h, s))
	for i, g := range []rocm.GemmEx{
		denseBF16(1, 1, 1), denseBF16(2, 4, 8), denseBF16(64, 64, 128), denseBF16(3, 5, 7), denseBF16(31, 1, 7), denseBF16(1, 31, 7),
		{M: 17, N: 9, K: 33, LDA: 21, LDB: 35, LDC: 19}, // columns begin in the middle of words
		{M: 16, N: 8, K: 32, LDA: 24, LDB: 40, LDC: 20},
	} {
		p := e.newBF16Product(g, i, s)
		e.poisonBF16(p, s)
		e.must(lib.RocBLASGemmEx(e.th, h, p.GemmEx))
		e.wantProduct("bf16 product", p, s)
	}
}

// bf16BoundStream is boundStream in bf16.
func bf16BoundStream(e *env) {
	lib := e.bf16Library()
	if lib == nil {
		return
	}
	own, other, h := e.stream(), e.stream(), e.handle()
	p := e.newBF16Product(denseBF16(16, 8, 32), 1, own)
	e.must(e.drv.RocBLASSetStream(e.th, h, other))
	e.must(lib.RocBLASGemmEx(e.th, h, p.GemmEx)) // the first GEMM of a handle may load code and wait
	e.sync(other)
	e.whileLoaded(other, func() {
		e.poisonBF16(p, own)
		e.must(lib.RocBLASGemmEx(e.th, h, p.GemmEx))
		e.sync(own)
		e.sync(0)
		e.staysUnwritten(p.C, p.before, own, other)
	})
	e.wantProduct("bf16 product after its stream", p, own)
}

func bf16NullHandle(e *env) {
	lib := e.bf16Library()
	if lib == nil {
		return
	}
	s := e.stream()
	p := e.newBF16Product(denseBF16(4, 4, 4), 3, s)
	e.poisonBF16(p, s)
	e.wantCode("gemm_ex on the null handle", lib.RocBLASGemmEx(e.th, 0, p.GemmEx), "rocblas", rocm.RocBLASInvalidHandle)
	e.sync(0)
	e.wantWords("output of a refused bf16 product", e.read(p.C, len(p.before), s), p.before)
}
