package hip

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// call calls a function that takes integers and pointers alone and returns its
// 32-bit status. Pointers in args are kept alive and in place until it
// returns. SyscallN is what a hot path can afford: 0.2 us against 0.8 us for a
// registered function.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) int {
	r, _, _ := purego.SyscallN(fn, args...)
	return int(int32(r)) //nolint:gosec // the upper half of the register is undefined
}

// cInt is n as an int argument. Whoever passes n has checked its range.
func cInt(n int) uintptr { return uintptr(uint32(int32(n))) } //nolint:gosec // see above

// callString calls a function that returns a const char *.
//
//go:uintptrescapes
func callString(fn uintptr, args ...uintptr) string {
	r, _, _ := purego.SyscallN(fn, args...)
	return stringAt(r)
}

// stringAt copies a C string. The address is C memory, which the collector
// does not move, so that only vet needs the detour.
func stringAt(addr uintptr) string {
	if addr == 0 {
		return ""
	}
	start := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	n := 0
	for *(*byte)(unsafe.Add(start, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(start), n))
}

// textIn returns the C string in a buffer, which need not be terminated.
func textIn(buf []byte) string {
	for i, b := range buf {
		if b == 0 {
			return string(buf[:i])
		}
	}
	return string(buf)
}
