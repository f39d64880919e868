package hip

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// Driver is one device of a real HIP runtime with its rocBLAS. It is as safe
// for concurrent use as they are. The caller's goroutine must be locked to its
// OS thread, since HIP keeps the current device there.
type Driver struct {
	search  search
	rt      *hipLib
	blas    *blasLib
	ordinal int
	desc    rocm.Description
	closed  atomic.Bool
	rtc     lazyCompiler
	kernels kernels
}

var _ rocm.Driver = (*Driver)(nil)

// Open loads HIP and rocBLAS and makes the device current for the calling
// thread. It looks for the device before it looks for rocBLAS.
//
// Errors: *rocm.LibraryError for a library or a symbol that cannot be had, or
// a second HIP runtime in the process; *rocm.NoDeviceError where the runtime
// has no device of that ordinal or refuses it; a *rocm.StatusError for any
// other failure of the runtime.
func Open(ordinal int) (*Driver, error) {
	return newSearch().open(ordinal)
}

func (s search) open(ordinal int) (*Driver, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rt, err := s.loadRuntime()
	if err != nil {
		return nil, err
	}
	if err := rt.claim(ordinal); err != nil {
		return nil, err
	}
	b, err := s.loadBLAS(rt)
	if err != nil {
		return nil, err
	}
	d := &Driver{search: s, rt: rt, blas: b, ordinal: ordinal}
	d.desc, err = describeAll(rt, b, ordinal)
	return d, err
}

// claim makes a device current that the runtime must have. Only after it may
// rocBLAS be asked for anything that needs a device.
func (rt *hipLib) claim(ordinal int) error {
	count, err := rt.deviceCount()
	if err != nil {
		return err
	}
	if ordinal < 0 || ordinal >= count {
		return &rocm.NoDeviceError{Runtime: rt.String(),
			Err: fmt.Errorf("device %d asked for, devices 0 to %d exist", ordinal, count-1)}
	}
	if err := rt.setDevice(ordinal); err != nil {
		return &rocm.NoDeviceError{Runtime: rt.String(), Err: err}
	}
	return nil
}

// lastAborting is the last HIP major version that aborts the process on a
// queue fault: its error callback calls abort (ROCm/clr of 6.3), where 7
// returns hipErrorIllegalAddress from every later call.
const lastAborting = 6

func describeAll(rt *hipLib, b *blasLib, ordinal int) (rocm.Description, error) {
	maps, err := readMaps()
	if err != nil {
		return rocm.Description{}, err
	}
	return rocm.Description{
		Driver:        "hip",
		Ordinal:       ordinal,
		Runtime:       rt.text,
		BLAS:          b.version,
		TestABI:       rt.label,
		Libraries:     mapped(maps, describe(rt.lib.name, rt.file), describe(b.lib.name, b.file)),
		AbortsOnFault: rt.major() <= lastAborting,
	}, nil
}

// Describe says what was opened.
func (d *Driver) Describe(*sched.Thread) rocm.Description {
	desc := d.desc
	desc.Libraries = append([]rocm.Library(nil), d.desc.Libraries...)
	return desc
}

// Close waits for the device to finish everything enqueued on it and unloads
// the kernels. The libraries stay mapped: their threads and exit handlers do. A
// second call does nothing.
func (d *Driver) Close(*sched.Thread) error {
	if !d.closed.CompareAndSwap(false, true) {
		return nil
	}
	if err := d.rt.setDevice(d.ordinal); err != nil {
		return err
	}
	if err := d.rt.status(fnDeviceSynchronize, call(d.rt.fn[fnDeviceSynchronize])); err != nil {
		return err // a lost device unloads nothing
	}
	return d.unloadKernels()
}
