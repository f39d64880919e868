package rocm

import "rocstress/harness/sched"

// The points of the protocol, in the order a thread passes them.
const (
	PointFlagRead   sched.Point = "rocblas.flag-read"   // before the ready flag is read
	PointHandleRead sched.Point = "rocblas.handle-read" // before the handle is read
	PointFlagSet    sched.Point = "rocblas.flag-set"    // before the ready flag is set
	PointCreate     sched.Point = "rocblas.create"      // before rocblas_create_handle
	PointPublish    sched.Point = "rocblas.publish"     // handle created, before it is stored
	PointBindCheck  sched.Point = "rocblas.bind-check"  // before the bound stream is compared
	PointBind       sched.Point = "rocblas.bind"        // before rocblas_set_stream
	PointBound      sched.Point = "rocblas.bound"       // bound, before the GEMM
	PointEnqueued   sched.Point = "rocblas.enqueued"    // GEMM enqueued, before the release
	PointProbeRead  sched.Point = "arch.probe-read"     // before a lazy fact's flag is read
	PointProbe      sched.Point = "arch.probe"          // flag set, before the fact is computed
	PointBF16Probe  sched.Point = "bf16.probe"          // before the probe GEMM
	PointReset      sched.Point = "bf16.reset"          // probe failed, before the device is reset
	PointRecreate   sched.Point = "bf16.recreate"       // device reset, before the handle is destroyed
)

// PointInfo describes a point for people.
type PointInfo struct {
	Point sched.Point
	Where string
}

// Points returns every point of this package.
func Points() []PointInfo {
	return []PointInfo{
		{PointFlagRead, "before the ready flag is read"},
		{PointHandleRead, "before the handle is read"},
		{PointFlagSet, "before the ready flag is set"},
		{PointCreate, "before rocblas_create_handle"},
		{PointPublish, "between the creation of the handle and its publication"},
		{PointBindCheck, "before the bound stream is compared"},
		{PointBind, "before rocblas_set_stream"},
		{PointBound, "between bind and GEMM"},
		{PointEnqueued, "between GEMM and release"},
		{PointProbeRead, "before the flag of a lazy architecture fact is read (without arch-at-construction)"},
		{PointBF16Probe, "before the bf16 probe GEMM (without no-reset-probe)"},
		{PointReset, "between the failed probe and the reset of the device (without no-reset-probe)"},
		{PointRecreate, "between the reset and the destruction of the handle (without no-reset-probe)"},
		{PointProbe, "between that flag and the computation of the fact (without arch-at-construction)"},
	}
}
