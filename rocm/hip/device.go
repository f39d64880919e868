package hip

import (
	"unsafe"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// Attributes of a device. Source: hipDeviceAttribute_t of hip_runtime_api.h,
// equal in HIP 5.2, 5.7, 6.4 and 7.2.
const (
	attrMaxThreadsPerBlock  = 56
	attrMultiprocessorCount = 63
	attrWarpSize            = 87
)

// Offsets of gcnArchName, a char[256], in the two layouts of hipDeviceProp_t.
// The name hipGetDeviceProperties means the old one in every version, though
// headers since 6.0 define it to the new function.
const (
	archOffsetR0000 = 396  // of 792 bytes
	archOffsetR0600 = 1160 // of 1472 bytes
	archSize        = 256
	// propsSize leaves room for a version whose structure has grown.
	propsSize = 8192
)

// DeviceCount returns the number of devices, or a *rocm.NoDeviceError.
func (d *Driver) DeviceCount(*sched.Thread) (int, error) { return d.rt.deviceCount() }

// SetDevice makes a device current for the calling OS thread.
func (d *Driver) SetDevice(_ *sched.Thread, ordinal int) error { return d.rt.setDevice(ordinal) }

// GetDevice returns the calling OS thread's current device.
func (d *Driver) GetDevice(*sched.Thread) (int, error) {
	var ordinal int32
	code := call(d.rt.fn[fnGetDevice], uintptr(unsafe.Pointer(&ordinal)))
	return int(ordinal), d.rt.status(fnGetDevice, code)
}

var _ rocm.Resetter = (*Driver)(nil)

// DeviceReset resets the calling thread's current device, whoever uses it. What
// a runtime does with a stream or a kernel of before is its own affair.
func (d *Driver) DeviceReset(th *sched.Thread) error {
	ordinal, err := d.GetDevice(th)
	if err != nil {
		return err
	}
	th.Point(PointReset)
	if err := d.rt.status(fnDeviceReset, call(d.rt.fn[fnDeviceReset])); err != nil {
		return err
	}
	d.kernels.gone(ordinal)
	return nil
}

// DeviceProps returns the properties of a device. The name of a test ABI's
// device is the label of the ABI, so that no report takes it for hardware.
func (d *Driver) DeviceProps(_ *sched.Thread, ordinal int) (rocm.DeviceProps, error) {
	return d.rt.deviceProps(ordinal)
}

func (rt *hipLib) deviceProps(ordinal int) (rocm.DeviceProps, error) {
	props := rocm.DeviceProps{Name: rt.label}
	var err error
	if props.Name == "" {
		if props.Name, err = rt.deviceName(ordinal); err != nil {
			return rocm.DeviceProps{}, err
		}
	}
	if props.Arch, err = rt.archName(ordinal); err != nil {
		return rocm.DeviceProps{}, err
	}
	var total uint64 // size_t
	code := call(rt.fn[fnDeviceTotalMem], uintptr(unsafe.Pointer(&total)), cInt(ordinal))
	if err := rt.status(fnDeviceTotalMem, code); err != nil {
		return rocm.DeviceProps{}, err
	}
	props.TotalMemory = total
	for _, a := range []struct {
		attr int
		into *int
	}{
		{attrMaxThreadsPerBlock, &props.MaxThreadsPerBlock},
		{attrMultiprocessorCount, &props.MultiProcessors},
		{attrWarpSize, &props.WarpSize},
	} {
		if *a.into, err = rt.attribute(a.attr, ordinal); err != nil {
			return rocm.DeviceProps{}, err
		}
	}
	return props, nil
}

func (rt *hipLib) attribute(attr, ordinal int) (int, error) {
	var value int32
	code := call(rt.fn[fnDeviceGetAttribute], uintptr(unsafe.Pointer(&value)), cInt(attr), cInt(ordinal))
	return int(value), rt.status(fnDeviceGetAttribute, code)
}

func (rt *hipLib) deviceName(ordinal int) (string, error) {
	buf := make([]byte, 256)
	code := call(rt.fn[fnDeviceGetName], uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), cInt(ordinal))
	return textIn(buf), rt.status(fnDeviceGetName, code)
}

// archName reads gcnArchName, which no attribute carries.
func (rt *hipLib) archName(ordinal int) (string, error) {
	fn, offset := fnGetDevicePropertiesR0600, archOffsetR0600
	if rt.fn[fn] == 0 {
		fn, offset = fnGetDeviceProperties, archOffsetR0000
	}
	props := make([]byte, propsSize)
	code := call(rt.fn[fn], uintptr(unsafe.Pointer(&props[0])), cInt(ordinal))
	return textIn(props[offset : offset+archSize]), rt.status(fn, code)
}
