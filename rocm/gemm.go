package rocm

import (
	"fmt"

	"rocstress/harness/sched"
)

// Route is the way a GEMM was taken.
type Route string

// The routes.
const (
	RouteRocBLAS Route = "rocblas"
	RouteNaive   Route = "naive"
)

// Type is the element type of a GEMM.
type Type int

// The element types.
const (
	F32  Type = iota // exact for small integers
	BF16             // 2 bytes, computed in f32, rounded to nearest even
)

// GEMM is C = A B, row-major and dense, all of one type: A is [M,K], B is
// [K,N], C is [M,N].
type GEMM struct {
	Type    Type
	M, K, N int
	A, B, C Ptr
}

// Gemm enqueues g on s and returns the route it took. rocBLAS is asked first,
// under a lease; the naive kernel takes what rocBLAS cannot, which must be
// f32.
func (d *Device) Gemm(th *sched.Thread, s Stream, g GEMM) (Route, error) {
	available := d.RocBLASAvailable
	if g.Type == BF16 {
		available = d.RocBLASBF16Available
	}
	if !available(th) {
		return RouteNaive, d.naiveGEMM(th, s, g)
	}
	lease, err := d.AcquireRocBLAS(th, s)
	if err != nil {
		return RouteRocBLAS, err
	}
	defer lease.Release(th)
	return RouteRocBLAS, lease.GEMM(th, g)
}

// GEMM enqueues g on the stream the handle is bound to. It panics on a
// released lease.
func (l *Lease) GEMM(th *sched.Thread, g GEMM) error {
	if l.done {
		panic("rocm: GEMM on a released lease")
	}
	th.Point(PointBound)
	err := l.dev.enqueueGEMM(th, l.handle, g)
	th.Point(PointEnqueued)
	if !l.dev.keeps(RocBLASStatusCheck) {
		return nil
	}
	return err
}

// enqueueGEMM states a row-major product in rocBLAS's column-major terms: a
// row-major matrix read column-major is its transpose, and C' = B' A'.
func (d *Device) enqueueGEMM(th *sched.Thread, h BLAS, g GEMM) error {
	if g.Type == F32 {
		return d.drv.RocBLASSgemm(th, h, SGEMM{
			M: g.N, N: g.M, K: g.K, Alpha: 1, A: g.B, LDA: g.N, B: g.A, LDB: g.K, C: g.C, LDC: g.N,
		})
	}
	lib, ok := d.drv.(BF16Library)
	if !ok {
		return fmt.Errorf("the %s driver multiplies no bf16", d.drv.Describe(th).Driver)
	}
	return lib.RocBLASGemmEx(th, h, GemmEx{
		M: g.N, N: g.M, K: g.K, A: g.B, LDA: g.N, B: g.A, LDB: g.K, C: g.C, LDC: g.N,
	})
}
