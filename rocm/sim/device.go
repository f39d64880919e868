package sim

import (
	"fmt"

	"rocstress/harness/sched"
	"rocstress/rocm"
)

// currentKey is the key of a thread's current device, which HIP keeps for each
// thread.
type currentKey struct{ d *Driver }

// current returns the calling thread's current device, 0 until it is set.
func (d *Driver) current(th *sched.Thread) int {
	ordinal, _ := th.Value(currentKey{d}).(int)
	return ordinal
}

// DeviceCount returns Config.Devices, or a *rocm.NoDeviceError if it is 0.
func (d *Driver) DeviceCount(*sched.Thread) (int, error) {
	const call = "hipGetDeviceCount"
	err := d.enter(call)
	switch {
	case err != nil && d.cfg.Devices == 0:
		return 0, &rocm.NoDeviceError{Runtime: "sim " + Version, Err: err}
	case err != nil:
		return 0, err
	}
	return d.cfg.Devices, nil
}

// SetDevice makes a device current for the calling thread.
func (d *Driver) SetDevice(th *sched.Thread, ordinal int) error {
	const call = "hipSetDevice"
	if err := d.enter(call); err != nil {
		return err
	}
	if ordinal < 0 || ordinal >= d.cfg.Devices {
		return rocm.HipError(call, rocm.HipErrorInvalidDevice)
	}
	th.SetValue(currentKey{d}, ordinal)
	return nil
}

// GetDevice returns the calling thread's current device.
func (d *Driver) GetDevice(th *sched.Thread) (int, error) {
	if err := d.enter("hipGetDevice"); err != nil {
		return 0, err
	}
	return d.current(th), nil
}

// DeviceProps returns the properties that the Config gives to every device.
func (d *Driver) DeviceProps(_ *sched.Thread, ordinal int) (rocm.DeviceProps, error) {
	const call = "hipGetDeviceProperties"
	if err := d.enter(call); err != nil {
		return rocm.DeviceProps{}, err
	}
	if ordinal < 0 || ordinal >= d.cfg.Devices {
		return rocm.DeviceProps{}, rocm.HipError(call, rocm.HipErrorInvalidDevice)
	}
	return rocm.DeviceProps{
		Name:               fmt.Sprintf("simulated %s", rocm.FactsOf(d.cfg.Arch).Arch),
		Arch:               d.cfg.Arch,
		TotalMemory:        d.cfg.Memory,
		MaxThreadsPerBlock: d.cfg.MaxThreads,
		MultiProcessors:    d.cfg.Processors,
		WarpSize:           d.cfg.Warp,
	}, nil
}
