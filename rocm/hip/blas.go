package hip

import (
	"math"
	"unsafe"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// Values of rocblas-types.h.
const (
	operationNone = 111 // rocblas_operation_none
	datatypeF32   = 151 // rocblas_datatype_f32_r
	datatypeBF16  = 168 // rocblas_datatype_bf16_r
	algoStandard  = 0   // rocblas_gemm_algo_standard
)

var _ rocm.BF16Library = (*Driver)(nil)

func blasStatus(fn blasFn, code int) error {
	return rocm.RocBLASError(blasSymbols[fn].name, code)
}

// RocBLASCreateHandle creates a handle on the calling thread's current device,
// bound to the null stream. It can take seconds.
func (d *Driver) RocBLASCreateHandle(th *sched.Thread) (rocm.BLAS, error) {
	th.Point(PointCreate)
	var h uintptr
	code := call(d.blas.fn[fnCreateHandle], uintptr(unsafe.Pointer(&h)))
	if err := blasStatus(fnCreateHandle, code); err != nil {
		return 0, err
	}
	return rocm.BLAS(h), nil
}

// RocBLASDestroyHandle frees a handle. rocBLAS follows it: a handle freed
// before may end the process.
func (d *Driver) RocBLASDestroyHandle(_ *sched.Thread, h rocm.BLAS) error {
	return blasStatus(fnDestroyHandle, call(d.blas.fn[fnDestroyHandle], uintptr(h)))
}

// RocBLASSetStream binds h to s.
func (d *Driver) RocBLASSetStream(th *sched.Thread, h rocm.BLAS, s rocm.Stream) error {
	th.Point(PointSetStream)
	return blasStatus(fnSetStream, call(d.blas.fn[fnSetStream], uintptr(h), uintptr(s)))
}

// RocBLASSgemm enqueues g. A dimension that rocblas_int cannot hold is
// rocblas_status_invalid_size, as a negative one is to rocBLAS itself.
func (d *Driver) RocBLASSgemm(th *sched.Thread, h rocm.BLAS, g rocm.SGEMM) error {
	if !fitInt(g.M, g.N, g.K, g.LDA, g.LDB, g.LDC) {
		return blasStatus(fnSgemm, rocm.RocBLASInvalidSize)
	}
	th.Point(PointSgemm)
	// Host pointers, read before the call returns: the pointer mode of a new
	// handle is host.
	alpha, beta := g.Alpha, g.Beta
	code := call(d.blas.fn[fnSgemm], uintptr(h), operationNone, operationNone,
		cInt(g.M), cInt(g.N), cInt(g.K),
		uintptr(unsafe.Pointer(&alpha)), uintptr(g.A), cInt(g.LDA), uintptr(g.B), cInt(g.LDB),
		uintptr(unsafe.Pointer(&beta)), uintptr(g.C), cInt(g.LDC))
	return blasStatus(fnSgemm, code)
}

// RocBLASGemmEx enqueues g, with sizes as in RocBLASSgemm. The result may
// differ in the last bits from one architecture to another: gfx11 does not
// accumulate exactly.
func (d *Driver) RocBLASGemmEx(th *sched.Thread, h rocm.BLAS, g rocm.GemmEx) error {
	if !fitInt(g.M, g.N, g.K, g.LDA, g.LDB, g.LDC) {
		return blasStatus(fnGemmEx, rocm.RocBLASInvalidSize)
	}
	th.Point(PointGemmEx)
	alpha, beta := float32(1), float32(0) // of the compute type
	const solution, flags = 0, 0
	code := call(d.blas.fn[fnGemmEx], uintptr(h), operationNone, operationNone,
		cInt(g.M), cInt(g.N), cInt(g.K), uintptr(unsafe.Pointer(&alpha)),
		uintptr(g.A), datatypeBF16, cInt(g.LDA),
		uintptr(g.B), datatypeBF16, cInt(g.LDB), uintptr(unsafe.Pointer(&beta)),
		uintptr(g.C), datatypeBF16, cInt(g.LDC),
		uintptr(g.C), datatypeBF16, cInt(g.LDC),
		datatypeF32, algoStandard, solution, flags)
	return blasStatus(fnGemmEx, code)
}

// fitInt reports whether rocblas_int, 32 bits, holds every size.
func fitInt(sizes ...int) bool {
	for _, n := range sizes {
		if n > math.MaxInt32 || n < math.MinInt32 {
			return false
		}
	}
	return true
}
