package sim

import (
	"errors"

	"rocstress/harness/sched"
)

// DeviceReset takes everything of the calling thread's current device away
// from whoever uses it. Streams finish what is enqueued, are joined and gone;
// then memory is unmapped and functions are unloaded. The null stream is
// drained and goes on, empty as a new one. Host memory and other devices stay.
//
// Other threads may be in any call meanwhile, and meet what they would: a
// stream of before is hipErrorInvalidHandle (400), rocblas_status_internal_error
// to a GEMM; memory of before is hipErrorInvalidValue (1) to hipFree, and an
// access to it ends the device as any unmapped address does. A stream that is
// created during the reset may survive it.
//
// A rocBLAS handle of before outlives the reset, and its workspace does not:
// rocBLAS allocates that with hipMalloc when the handle is created and notices
// nothing, so the next GEMM on the handle is launched and its access to the
// workspace ends the device. The handle can still be bound and destroyed.
func (d *Driver) DeviceReset(th *sched.Thread) error {
	const call = "hipDeviceReset"
	if err := d.enter(call); err != nil {
		return err
	}
	device := d.current(th)
	d.drain(th, d.null[device])
	for _, s := range d.streams.all() {
		if s.device != device {
			continue
		}
		// It stays in the table until it is through, so that who frees memory
		// beside the reset still waits for it.
		s.finish(th)
		d.streams.take(uintptr(s.id))
	}
	d.resets[device].Add(1)
	d.mem.unmapDevice(device)
	d.functions.drop(func(f *function) bool { return f.device == device })
	return d.enter(call)
}

// errWorkspace is the fault of a GEMM on a handle that is older than its
// device's last reset.
var errWorkspace = errors.New("access to the workspace of a rocBLAS handle whose device was reset")

// checkWorkspace returns the error that a kernel of the handle meets in its
// workspace.
func (d *Driver) checkWorkspace(h *handle) error {
	if h.resets != d.resets[h.device].Load() {
		return errWorkspace
	}
	return nil
}
