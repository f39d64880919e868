package oracle

import "fmt"

// Reference returns the product of a, m x k, and b, k x n, all row-major, in
// exact 32-bit integer arithmetic. The elements must be integers of at most
// MaxExact, and no sum may leave the range of int32: Fill's inputs keep that
// for every k up to MaxK. It panics where a length does not match.
func Reference(a, b []float32, m, k, n int) []int32 {
	if m < 0 || k < 0 || n < 0 || len(a) != m*k || len(b) != k*n {
		panic(fmt.Sprintf("oracle: Reference of [%d,%d] x [%d,%d] with %d and %d elements", m, k, k, n, len(a), len(b)))
	}
	pairs := (n + 1) / 2
	packed := packPairs(b, k, n)
	sums := make([]int64, pairs)
	out := make([]int32, m*n)
	for i := range m {
		clear(sums)
		addProducts(sums, a[i*k:(i+1)*k], packed)
		unpackPairs(out[i*n:(i+1)*n], sums)
	}
	return out
}

// packPairs lays the columns of b, k x n, two to a word: even columns in the
// low half, odd ones in the high half. One 64-bit multiplication then serves
// two columns. A negative low half borrows from the high one, which
// unpackPairs gives back.
func packPairs(b []float32, k, n int) []int64 {
	pairs := (n + 1) / 2
	packed := make([]int64, k*pairs)
	for p := range k {
		row, dst := b[p*n:(p+1)*n], packed[p*pairs:(p+1)*pairs]
		for j := range n / 2 {
			dst[j] = int64(row[2*j]) + int64(row[2*j+1])<<32
		}
		if n%2 == 1 {
			dst[pairs-1] = int64(row[n-1])
		}
	}
	return packed
}

// addProducts adds a row of a times packed to sums. Four rows of packed are
// taken at once, so that a sum is loaded and stored a quarter as often.
func addProducts(sums []int64, row []float32, packed []int64) {
	pairs := len(sums)
	p := 0
	for ; p+4 <= len(row); p += 4 {
		a0, a1, a2, a3 := int64(row[p]), int64(row[p+1]), int64(row[p+2]), int64(row[p+3])
		b0 := packed[p*pairs:][:pairs]
		b1 := packed[(p+1)*pairs:][:pairs]
		b2 := packed[(p+2)*pairs:][:pairs]
		b3 := packed[(p+3)*pairs:][:pairs]
		for j := range sums {
			sums[j] += a0*b0[j] + a1*b1[j] + a2*b2[j] + a3*b3[j]
		}
	}
	for ; p < len(row); p++ {
		a0, b0 := int64(row[p]), packed[p*pairs:][:pairs]
		for j := range sums {
			sums[j] += a0 * b0[j]
		}
	}
}

func unpackPairs(dst []int32, sums []int64) {
	for j := range len(dst) / 2 {
		low := int32(sums[j])
		dst[2*j] = low
		dst[2*j+1] = int32((sums[j] - int64(low)) >> 32)
	}
	if len(dst)%2 == 1 {
		dst[len(dst)-1] = int32(sums[len(sums)-1])
	}
}

// Magnitude returns sum|a b| for each element of the product: the scale of
// the rounding errors that a bf16 GEMM may make.
func Magnitude(a, b []float32, m, k, n int) []int32 {
	return Reference(magnitudes(a), magnitudes(b), m, k, n)
}

func magnitudes(src []float32) []float32 {
	dst := make([]float32, len(src))
	for i, f := range src {
		dst[i] = max(f, -f)
	}
	return dst
}
