package conformance

import (
	"math"

	"rocstress/rocm"
)

// product is one GEMM of small integers with the memory it needs.
type product struct {
	rocm.SGEMM
	before, want []uint32 // C before and after, with its padding
}

// newProduct fills a, b and c for a GEMM whose operands are seeded by seed.
func (e *env) newProduct(g rocm.SGEMM, seed int, s rocm.Stream) *product {
	a, b, c := operand(g.LDA*g.K, 3*seed), operand(g.LDB*g.N, 3*seed+1), operand(g.LDC*g.N, 3*seed+2)
	p := &product{SGEMM: g, before: bits(c)}
	p.A, p.B, p.C = e.malloc(len(a)), e.malloc(len(b)), e.malloc(len(c))
	e.write(p.A, bits(a), s)
	e.write(p.B, bits(b), s)
	for j := range g.N {
		for i := range g.M {
			var sum float32
			for k := range g.K {
				sum += a[k*g.LDA+i] * b[j*g.LDB+k]
			}
			at := j*g.LDC + i
			if g.Beta == 0 {
				p.before[at] = poison // and so C must not be read
				c[at] = g.Alpha * sum
			} else {
				c[at] = g.Alpha*sum + g.Beta*c[at]
			}
		}
	}
	p.want = bits(c)
	return p
}

// operand returns n small integers that differ between rows, columns and
// seeds.
func operand(n, seed int) []float32 {
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	v := make([]float32, n)
	for i := range v {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		v[i] = float32(int(x%9) - 4)
	}
	return v
}

func bits(v []float32) []uint32 {
	words := make([]uint32, len(v))
	for i := range v {
		// Adding 0 turns -0 into +0: a sum of zero may come with either sign.
		words[i] = math.Float32bits(v[i] + 0)
	}
	return words
}

// positive turns the words of -0 into those of +0.
func positive(words []uint32) []uint32 {
	for i, w := range words {
		if w == 1<<31 {
			words[i] = 0
		}
	}
	return words
}

func (e *env) poisonC(p *product, s rocm.Stream) { e.write(p.C, p.before, s) }

func (e *env) readC(p *product, s rocm.Stream) []uint32 {
	return positive(e.read(p.C, len(p.want), s))
}

// dense returns a GEMM without padding.
func dense(m, n, k int) rocm.SGEMM {
	return rocm.SGEMM{M: m, N: n, K: k, Alpha: 1, LDA: m, LDB: k, LDC: m}
}

func exactProducts(e *env) {
	s, h := e.stream(), e.handle()
	e.must(e.drv.RocBLASSetStream(e.th, h, s))
	padded := rocm.SGEMM{M: 17, N: 9, K: 33, Alpha: 1, LDA: 20, LDB: 40, LDC: 23}
	scaled := rocm.SGEMM{M: 8, N: 12, K: 5, Alpha: -2, Beta: 3, LDA: 8, LDB: 5, LDC: 8}
	for i, g := range []rocm.SGEMM{
		dense(1, 1, 1), dense(2, 3, 4), dense(64, 64, 128), dense(31, 1, 7), dense(1, 31, 7), padded, scaled,
	} {
		p := e.newProduct(g, i, s)
		e.poisonC(p, s)
		e.must(e.drv.RocBLASSgemm(e.th, h, p.SGEMM))
		e.wantWords("product", e.readC(p, s), p.want)
	}
}

// boundStream proves where a GEMM is enqueued: while the bound stream is loaded
// its output stays as it was, whatever else has finished.
func boundStream(e *env) {
	own, other, h := e.stream(), e.stream(), e.handle()
	p := e.newProduct(dense(16, 8, 32), 1, own)
	e.must(e.drv.RocBLASSetStream(e.th, h, other))
	e.must(e.drv.RocBLASSgemm(e.th, h, p.SGEMM)) // the first GEMM of a handle may load code and wait
	e.sync(other)
	e.whileLoaded(other, func() {
		e.poisonC(p, own)
		e.must(e.drv.RocBLASSgemm(e.th, h, p.SGEMM))
		e.sync(own)
		e.sync(0)
		e.staysUnwritten(p.C, p.before, own, other)
	})
	e.wantWords("product after its stream", e.readC(p, own), p.want)
}

// staysUnwritten looks at C through own for a part of the time that busy is
// loaded for, long enough for a GEMM that waits for nothing to show.
func (e *env) staysUnwritten(c rocm.Ptr, before []uint32, own, busy rocm.Stream) {
	for until := e.th.Now() + fillerTime/4; e.th.Now() < until; {
		got := e.read(c, len(before), own)
		err := e.drv.StreamQuery(e.th, busy)
		if err == nil {
			return // no longer loaded: what was read may be either
		}
		if !rocm.IsNotReady(err) {
			e.must(err)
		}
		e.wantWords("output of a product that waits on its loaded stream", got, before)
	}
}

// rebinding binds a handle away from a loaded stream: the next GEMM is done
// while that stream is busy.
func rebinding(e *env) {
	loaded, free, h := e.stream(), e.stream(), e.handle()
	p := e.newProduct(dense(16, 8, 32), 2, free)
	e.must(e.drv.RocBLASSetStream(e.th, h, loaded))
	e.must(e.drv.RocBLASSgemm(e.th, h, p.SGEMM)) // as above
	e.sync(loaded)
	e.whileLoaded(loaded, func() {
		e.poisonC(p, free)
		e.must(e.drv.RocBLASSetStream(e.th, h, free))
		e.must(e.drv.RocBLASSgemm(e.th, h, p.SGEMM))
		e.wantWords("product on the new binding", e.readC(p, free), p.want)
		e.must(e.drv.RocBLASSetStream(e.th, h, loaded))
	})
}

func nullHandle(e *env) {
	s := e.stream()
	p := e.newProduct(dense(4, 4, 4), 3, s)
	e.poisonC(p, s)
	e.wantCode("sgemm on the null handle", e.drv.RocBLASSgemm(e.th, 0, p.SGEMM), "rocblas", rocm.RocBLASInvalidHandle)
	e.wantCode("set_stream on the null handle", e.drv.RocBLASSetStream(e.th, 0, s), "rocblas", rocm.RocBLASInvalidHandle)
	e.wantCode("destroy of the null handle", e.drv.RocBLASDestroyHandle(e.th, 0), "rocblas", rocm.RocBLASInvalidHandle)
	e.sync(0)
	e.wantWords("output of a refused product", e.read(p.C, len(p.before), s), p.before)
}
