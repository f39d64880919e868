package hip

import (
	"errors"
	"fmt"
	"path/filepath"
	"unsafe"

	"rocstress/rocm"
)

// hipLib is a loaded HIP runtime: what can be asked of it without a device.
type hipLib struct {
	lib     library
	fn      hipTable
	file    string // what is mapped
	version int    // major*10_000_000 + minor*100_000 + patch
	label   string // of a test ABI; empty for a real runtime
	text    string // version for people
}

// loadRuntime loads HIP and asks for its version, which works without a
// device. The calling goroutine must be locked to its thread.
func (s search) loadRuntime() (*hipLib, error) {
	lib, err := s.load(wantHIP, EnvHIP, s.candidates(hipSonames()))
	if err != nil {
		return nil, err
	}
	rt := &hipLib{lib: lib}
	if rt.fn, err = resolveHIP(lib); err != nil {
		return nil, err
	}
	maps, err := readMaps()
	if err != nil {
		return nil, err
	}
	// The address knows the file that answered; the soname does not.
	rt.file = fileAt(maps, rt.fn[fnGetDeviceCount])
	if err := oneRuntime(maps, rt.file); err != nil {
		return nil, err
	}
	var version int32
	if err := rt.status(fnRuntimeGetVersion, call(rt.fn[fnRuntimeGetVersion], uintptr(unsafe.Pointer(&version)))); err != nil {
		return nil, fmt.Errorf("%s: %w", lib.name, err)
	}
	rt.version = int(version)
	rt.text = versionText(rt.version)
	if fn := rt.fn[fnABILabel]; fn != 0 {
		rt.label = callString(fn)
		rt.text = "test ABI"
		if fn := rt.fn[fnABIRuntime]; fn != 0 {
			rt.text = callString(fn)
		}
	}
	return rt, nil
}

// String names the runtime in errors: "libamdhip64.so.5, HIP 5.2.3".
func (rt *hipLib) String() string {
	name := filepath.Base(rt.lib.name)
	if rt.label != "" {
		return name + ", " + rt.label
	}
	return name + ", HIP " + rt.text
}

func (rt *hipLib) major() int { return rt.version / 10_000_000 }

// versionText turns 70253211 into "7.2.53211", as hipcc prints it. The third
// number counts HIP's builds: 53211 is the HIP of ROCm 7.2.4, 21153 of 5.2.3.
func versionText(v int) string {
	return fmt.Sprintf("%d.%d.%d", v/10_000_000, v/100_000%100, v%100_000)
}

// status returns the failure of a HIP function, or nil for code 0. The name of
// a code this module does not know is the library's.
func (rt *hipLib) status(fn hipFn, code int) error {
	err := rocm.HipError(hipSymbols[fn].name, code)
	var st *rocm.StatusError
	if errors.As(err, &st) && st.Name == rocm.HipErrorName(-1) {
		if name := callString(rt.fn[fnGetErrorName], uintptr(code)); name != "" {
			st.Name = name
		}
	}
	return err
}

// deviceCount returns the number of devices. Without one, versions answer 100
// or 101, or success and 0: all three are a *rocm.NoDeviceError.
func (rt *hipLib) deviceCount() (int, error) {
	var count int32
	code := call(rt.fn[fnGetDeviceCount], uintptr(unsafe.Pointer(&count)))
	err := rt.status(fnGetDeviceCount, code)
	switch {
	case code == rocm.HipErrorNoDevice, code == rocm.HipErrorInvalidDevice:
		return 0, &rocm.NoDeviceError{Runtime: rt.String(), Err: err}
	case err != nil:
		return 0, err
	case count <= 0:
		return 0, &rocm.NoDeviceError{Runtime: rt.String(),
			Err: fmt.Errorf("hipGetDeviceCount succeeded and found %d devices", count)}
	}
	return int(count), nil
}

func (rt *hipLib) setDevice(ordinal int) error {
	return rt.status(fnSetDevice, call(rt.fn[fnSetDevice], cInt(ordinal)))
}
