package hip

import (
	"runtime"

	"rocstress/rocm"
)

// Findings are what Survey found.
type Findings struct {
	HIP     LibraryFinding
	RocBLAS LibraryFinding
	TestABI string // label of a test ABI; empty for a real runtime

	// Devices are the devices that answered, in order of ordinal.
	Devices []rocm.DeviceProps
	// NoDevice says why there are none, or why the list is not complete: a
	// *rocm.NoDeviceError where the runtime has no device, a
	// *rocm.StatusError where it failed. Nil if HIP itself is missing.
	NoDevice error
}

// LibraryFinding is one library that was looked for.
type LibraryFinding struct {
	rocm.Library        // empty if Err is a missing library
	Version      string // as Description has it
	// Err is why the library cannot be used: a *rocm.LibraryError, or a
	// *rocm.StatusError of its version call. Nil if it can, or was not
	// looked for because HIP is missing.
	Err error
}

// Usable reports whether Open would find libraries and a device.
func (f Findings) Usable() bool {
	return f.HIP.Err == nil && f.RocBLAS.Err == nil && f.NoDevice == nil
}

// Survey looks for the libraries and devices of this environment and goes on
// where Open stops, so that everything missing is named at once. It loads
// libraries, so a process that must outlive a bad one runs it in a child.
func Survey() Findings {
	return newSearch().survey()
}

func (s search) survey() Findings {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var f Findings
	rt, err := s.loadRuntime()
	if err != nil {
		f.HIP.Err = err
		return f
	}
	f.TestABI = rt.label
	f.HIP = LibraryFinding{Library: describe(rt.lib.name, rt.file), Version: rt.text}
	f.Devices, f.NoDevice = rt.devices()
	b, err := s.loadBLAS(rt)
	if err != nil {
		f.RocBLAS.Err = err
		return f
	}
	f.RocBLAS = LibraryFinding{Library: describe(b.lib.name, b.file), Version: b.version}
	return f
}

// devices asks every device for its properties.
func (rt *hipLib) devices() ([]rocm.DeviceProps, error) {
	count, err := rt.deviceCount()
	if err != nil {
		return nil, err
	}
	var devices []rocm.DeviceProps
	for ordinal := range count {
		props, err := rt.deviceProps(ordinal)
		if err != nil {
			return devices, err
		}
		devices = append(devices, props)
	}
	return devices, nil
}
