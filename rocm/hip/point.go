package hip

import "rocstress/harness/sched"

// The points in front of the rocBLAS calls that race over one handle, and of
// what takes its device away.
const (
	PointCreate    sched.Point = "hip.blas.create"     // before rocblas_create_handle
	PointSetStream sched.Point = "hip.blas.set-stream" // before rocblas_set_stream
	PointSgemm     sched.Point = "hip.blas.sgemm"      // before rocblas_sgemm
	PointGemmEx    sched.Point = "hip.blas.gemm-ex"    // before rocblas_gemm_ex
	PointReset     sched.Point = "hip.device.reset"    // before hipDeviceReset
	PointCompile   sched.Point = "hip.rtc.compile"     // before hiprtcCompileProgram
)

// Points returns every point, in the order above.
func Points() []sched.Point {
	return []sched.Point{PointCreate, PointSetStream, PointSgemm, PointGemmEx, PointReset, PointCompile}
}
