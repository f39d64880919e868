package sim

import (
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// fault is what ended the device: an access that the page table refused.
type fault struct {
	err error
}

// setFault ends the device for every thread of the process, as a queue fault
// was measured to do: whoever waits returns, and each later call fails with
// hipErrorIllegalAddress (700).
func (d *Driver) setFault(th *sched.Thread, err error) {
	if !d.fault.CompareAndSwap(nil, &fault{err}) {
		return
	}
	for _, s := range d.streams.all() {
		s.idle.Wake(th)
	}
	for _, s := range d.null {
		s.idle.Wake(th)
	}
}

func (d *Driver) faulted() bool { return d.fault.Load() != nil }

// hipErrorDeinitialized answers calls after Close. Source: hip_runtime_api.h,
// equal in HIP 5.2 to 7.2.
const hipErrorDeinitialized = 4

// enter is the first step of every HIP call: the state of the process decides
// before the arguments do.
func (d *Driver) enter(call string) error {
	switch {
	case d.faulted():
		return rocm.HipError(call, rocm.HipErrorIllegalAddress)
	case d.closed.Load():
		return &rocm.StatusError{API: "hip", Call: call, Code: hipErrorDeinitialized, Name: "hipErrorDeinitialized"}
	case d.cfg.Devices == 0:
		return rocm.HipError(call, rocm.HipErrorNoDevice)
	}
	return nil
}

// enterBLAS is the first step of every rocBLAS call that reaches the device.
// rocBLAS hands a HIP failure on as internal_error; without a device that is
// what create_handle returned with HIP 6.4 and 7.2.
func (d *Driver) enterBLAS(call string) error {
	if d.enter(call) != nil {
		return rocm.RocBLASError(call, rocm.RocBLASInternalError)
	}
	return nil
}
