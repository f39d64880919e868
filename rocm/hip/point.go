package hip

import "rocstress/harness/sched"

// The points in front of the rocBLAS calls that race over one handle.
const (
	PointCreate    sched.Point = "hip.blas.create"     // before rocblas_create_handle
	PointSetStream sched.Point = "hip.blas.set-stream" // before rocblas_set_stream
	PointSgemm     sched.Point = "hip.blas.sgemm"      // before rocblas_sgemm
)

// Points returns every point, in the order above.
func Points() []sched.Point { return []sched.Point{PointCreate, PointSetStream, PointSgemm} }
