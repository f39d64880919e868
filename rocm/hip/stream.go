package hip

import (
	"unsafe"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// streamNonBlocking is hipStreamNonBlocking of hip_runtime_api.h.
const streamNonBlocking = 1

// StreamCreate returns a stream of the calling thread's current device that
// does not wait for the null stream.
func (d *Driver) StreamCreate(*sched.Thread) (rocm.Stream, error) {
	var s uintptr
	code := call(d.rt.fn[fnStreamCreateWithFlags], uintptr(unsafe.Pointer(&s)), streamNonBlocking)
	if err := d.rt.status(fnStreamCreateWithFlags, code); err != nil {
		return 0, err
	}
	return rocm.Stream(s), nil
}

// StreamDestroy gives a stream back. A runtime follows the handle: one that
// was destroyed before may end the process.
func (d *Driver) StreamDestroy(_ *sched.Thread, s rocm.Stream) error {
	return d.rt.status(fnStreamDestroy, call(d.rt.fn[fnStreamDestroy], uintptr(s)))
}

// StreamSynchronize blocks in hipStreamSynchronize itself, as backends do, and
// not in a loop over StreamQuery. On a device that hangs it does not return;
// the child's deadline is what ends it.
func (d *Driver) StreamSynchronize(_ *sched.Thread, s rocm.Stream) error {
	return d.rt.status(fnStreamSynchronize, call(d.rt.fn[fnStreamSynchronize], uintptr(s)))
}

// StreamQuery returns nil, or hipErrorNotReady while work is left.
func (d *Driver) StreamQuery(_ *sched.Thread, s rocm.Stream) error {
	return d.rt.status(fnStreamQuery, call(d.rt.fn[fnStreamQuery], uintptr(s)))
}
