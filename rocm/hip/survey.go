package hip

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"rocstress/rocm"
)

// Findings are what Survey found.
type Findings struct {
	HIP     LibraryFinding
	RocBLAS LibraryFinding
	// HIPRTC and Comgr compile kernels. Open needs neither. A test ABI has no
	// Comgr.
	HIPRTC  LibraryFinding
	Comgr   LibraryFinding
	TestABI string // label of a test ABI; empty for a real runtime

	// Devices are the devices that answered, in order of ordinal.
	Devices []rocm.DeviceProps
	// NoDevice says why there are none, or why the list is not complete: a
	// *rocm.NoDeviceError where the runtime has no device, a
	// *rocm.StatusError where it failed. Nil if HIP itself is missing.
	NoDevice error

	// Targets are the architectures of Devices, each once, with whether
	// kernels can be compiled for them.
	Targets []Target
}

// Target is an architecture to compile kernels for.
type Target struct {
	Arch   string // without the feature suffix
	Answer string // for people: whether comgr knows it, or why it was not asked
	Known  bool   // LoadKernel hands it to the compiler
}

// LibraryFinding is one library that was looked for.
type LibraryFinding struct {
	rocm.Library        // empty if Err is a missing library
	Version      string // as Description has it; hiprtc has none
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
	f.surveyCompiler(s, rt)
	b, err := s.loadBLAS(rt)
	if err != nil {
		f.RocBLAS.Err = err
		return f
	}
	f.RocBLAS = LibraryFinding{Library: describe(b.lib.name, b.file), Version: b.version}
	return f
}

// surveyCompiler looks for hiprtc and asks comgr about every device. Nothing is
// compiled.
func (f *Findings) surveyCompiler(s search, rt *hipLib) {
	if r, err := s.loadRTC(rt); err != nil {
		f.HIPRTC.Err = err
	} else {
		f.HIPRTC = LibraryFinding{Library: describe(r.lib.name, r.file)}
	}
	var c *comgrLib
	if rt.label == "" {
		var err error
		if c, err = s.loadComgr(rt); err != nil {
			f.Comgr.Err = err
		} else {
			f.Comgr = LibraryFinding{Library: describe(c.lib.name, c.file), Version: fmt.Sprintf("%d architectures", len(c.archs))}
		}
	}
	for _, d := range f.Devices {
		arch := rocm.FactsOf(d.Arch).Arch
		if !slices.ContainsFunc(f.Targets, func(t Target) bool { return t.Arch == arch }) {
			f.Targets = append(f.Targets, target(arch, rt.label != "", c))
		}
	}
}

// target asks c about an architecture; c is nil where there is none.
func target(arch string, testABI bool, c *comgrLib) Target {
	switch {
	case testABI:
		return Target{Arch: arch, Answer: "skipped: test ABI", Known: true}
	case c == nil:
		return Target{Arch: arch, Answer: "unknown: no comgr to ask"}
	}
	if err := c.knows(arch); err != nil {
		return Target{Arch: arch, Answer: err.Error()}
	}
	return Target{Arch: arch, Answer: "known to " + filepath.Base(c.file), Known: true}
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
