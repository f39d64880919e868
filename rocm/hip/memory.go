package hip

import (
	"math"
	"unsafe"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

const wordBytes = 4

// Malloc allocates on the calling thread's current device. Zero bytes are the
// null pointer.
func (d *Driver) Malloc(_ *sched.Thread, bytes uint64) (rocm.Ptr, error) {
	var p uint64
	code := call(d.rt.fn[fnMalloc], uintptr(unsafe.Pointer(&p)), uintptr(bytes))
	if err := d.rt.status(fnMalloc, code); err != nil {
		return 0, err
	}
	return rocm.Ptr(p), nil
}

// Free gives memory back. HIP waits for the device first.
func (d *Driver) Free(_ *sched.Thread, p rocm.Ptr) error {
	return d.rt.status(fnFree, call(d.rt.fn[fnFree], uintptr(p)))
}

// HostAlloc returns memory of hipHostMalloc with the default flags. It is C
// memory: HostMem.Words must not be used after HostFree.
func (d *Driver) HostAlloc(_ *sched.Thread, words int) (rocm.HostMem, error) {
	if words < 0 || words > math.MaxInt/wordBytes {
		return rocm.HostMem{}, d.rt.status(fnHostMalloc, rocm.HipErrorInvalidValue)
	}
	var p unsafe.Pointer
	code := call(d.rt.fn[fnHostMalloc], uintptr(unsafe.Pointer(&p)), uintptr(words)*wordBytes, 0)
	if err := d.rt.status(fnHostMalloc, code); err != nil || p == nil {
		return rocm.HostMem{}, err
	}
	return rocm.HostMem{Words: unsafe.Slice((*uint32)(p), words), Handle: uintptr(p)}, nil
}

// HostFree gives pinned memory back.
func (d *Driver) HostFree(_ *sched.Thread, m rocm.HostMem) error {
	return d.rt.status(fnHostFree, call(d.rt.fn[fnHostFree], m.Handle))
}

// MemcpyHtoDAsync enqueues a copy to the device.
func (d *Driver) MemcpyHtoDAsync(_ *sched.Thread, dst rocm.Ptr, src rocm.HostMem, words int, s rocm.Stream) error {
	if !holds(src, words) {
		return d.rt.status(fnMemcpyHtoDAsync, rocm.HipErrorInvalidValue)
	}
	if words == 0 {
		return nil
	}
	from := uintptr(unsafe.Pointer(&src.Words[0]))
	code := call(d.rt.fn[fnMemcpyHtoDAsync], uintptr(dst), from, uintptr(words)*wordBytes, uintptr(s))
	return d.rt.status(fnMemcpyHtoDAsync, code)
}

// MemcpyDtoHAsync enqueues a copy to the host.
func (d *Driver) MemcpyDtoHAsync(_ *sched.Thread, dst rocm.HostMem, src rocm.Ptr, words int, s rocm.Stream) error {
	if !holds(dst, words) {
		return d.rt.status(fnMemcpyDtoHAsync, rocm.HipErrorInvalidValue)
	}
	if words == 0 {
		return nil
	}
	to := uintptr(unsafe.Pointer(&dst.Words[0]))
	code := call(d.rt.fn[fnMemcpyDtoHAsync], to, uintptr(src), uintptr(words)*wordBytes, uintptr(s))
	return d.rt.status(fnMemcpyDtoHAsync, code)
}

// holds reports whether a copy of words words stays inside m and m came from
// HostAlloc. HIP cannot know where a host buffer ends, and a copy outlives the
// call: past the end of m, or into memory that Go owns and moves on from, it
// would corrupt this process and look like a finding.
func holds(m rocm.HostMem, words int) bool {
	return words >= 0 && words <= len(m.Words) && (words == 0 || m.Handle != 0)
}

// MemsetD32Async enqueues the filling of words words with v.
func (d *Driver) MemsetD32Async(_ *sched.Thread, dst rocm.Ptr, v uint32, words uint64, s rocm.Stream) error {
	code := call(d.rt.fn[fnMemsetD32Async], uintptr(dst), uintptr(v), uintptr(words), uintptr(s))
	return d.rt.status(fnMemsetD32Async, code)
}
