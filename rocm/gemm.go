package rocm

import "rocstress/harness/sched"

// Route is the way a GEMM was taken.
type Route string

// The routes.
const (
	RouteRocBLAS Route = "rocblas"
	RouteNaive   Route = "naive"
)

// GEMM is C = A B in f32, row-major and dense: A is [M,K], B is [K,N], C is
// [M,N].
type GEMM struct {
	M, K, N int
	A, B, C Ptr
}

// Gemm enqueues g on s and returns the route it took. The type is f32, so
// rocBLAS is asked first, under a lease, and the naive kernel takes what
// rocBLAS cannot.
func (d *Device) Gemm(th *sched.Thread, s Stream, g GEMM) (Route, error) {
	if !d.RocBLASAvailable(th) {
		return RouteNaive, d.naiveGEMM(th, s, g)
	}
	lease, err := d.AcquireRocBLAS(th, s)
	if err != nil {
		return RouteRocBLAS, err
	}
	defer lease.Release(th)
	return RouteRocBLAS, lease.SGEMM(th, columnMajor(g))
}

// columnMajor states a row-major product in rocBLAS's column-major terms. A
// row-major matrix read column-major is its transpose, and C' = B' A'.
func columnMajor(g GEMM) SGEMM {
	return SGEMM{
		M: g.N, N: g.M, K: g.K, Alpha: 1,
		A: g.B, LDA: g.N,
		B: g.A, LDB: g.K,
		C: g.C, LDC: g.N,
	}
}
