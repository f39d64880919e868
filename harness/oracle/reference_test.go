package oracle

import (
	"math"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// naive is the definition of a matrix product, in 64-bit integers.
func naive(a, b []float32, m, k, n int) []int64 {
	out := make([]int64, m*n)
	for i := range m {
		for j := range n {
			for p := range k {
				out[i*n+j] += int64(a[i*k+p]) * int64(b[p*n+j])
			}
		}
	}
	return out
}

func wide(values []int32) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = int64(v)
	}
	return out
}

func TestReferenceIsTheProduct(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		dim := rapid.IntRange(0, 13)
		m, k, n := dim.Draw(rt, "m"), dim.Draw(rt, "k"), dim.Draw(rt, "n")
		// 13 products of 12,000 squared stay below 2^31, and reach far beyond 16 bits.
		element := rapid.Map(rapid.IntRange(-12000, 12000), func(i int) float32 { return float32(i) })
		a := rapid.SliceOfN(element, m*k, m*k).Draw(rt, "a")
		b := rapid.SliceOfN(element, k*n, k*n).Draw(rt, "b")
		got, want := Reference(a, b, m, k, n), naive(a, b, m, k, n)
		g.Expect(wide(got)).To(Equal(want))
	})
}

func TestReferenceOfInputs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		kind := rapid.SampledFrom([]Inputs{Mixed, Seed}).Draw(rt, "kind")
		a, b := problem(kind, drawID(rt))
		got, want := Reference(a, b, sizeM, sizeK, sizeN), naive(a, b, sizeM, sizeK, sizeN)
		g.Expect(slices.Equal(wide(got), want)).To(BeTrue())
	})
}

// The sums at the ends of int32 are where a low half borrows from its
// neighbour.
func TestReferenceAtTheEndsOfInt32(t *testing.T) {
	g := NewWithT(t)
	// Row of A times columns of B: half*half + half*(half-1) = 2^31 - half, and
	// half*-half + half*-half = -2^31.
	const half = 1 << 15
	a := []float32{half, half}
	b := []float32{
		half, -half, -half, half,
		half - 1, -half, -half, half - 1,
	}
	g.Expect(Reference(a, b, 1, 2, 4)).To(Equal([]int32{
		math.MaxInt32 - half + 1, math.MinInt32, math.MinInt32, math.MaxInt32 - half + 1,
	}))
}

func TestReferenceRefusesWrongLengths(t *testing.T) {
	g := NewWithT(t)
	for _, bad := range []func(){
		func() { Reference(make([]float32, 5), make([]float32, 6), 2, 3, 2) },
		func() { Reference(make([]float32, 6), make([]float32, 5), 2, 3, 2) },
		func() { Reference(nil, nil, -1, 0, 0) },
	} {
		g.Expect(bad).To(PanicWith(ContainSubstring("oracle: Reference of")))
	}
}
