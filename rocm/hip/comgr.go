package hip

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"rocstress/rocm"
)

// ErrUnknownArch says that the compiler does not know an architecture. hiprtc
// is not asked to compile for one: up to HIP 6.4 it frees an invalid pointer
// and ends the process.
var ErrUnknownArch = errors.New("the kernel compiler does not know the architecture")

// isaPrefix begins the name of every AMD GPU instruction set in comgr.
const isaPrefix = "amdgcn-amd-amdhsa--"

// comgrLib is the code object manager behind hiprtc, which knows what hiprtc
// can compile for.
type comgrLib struct {
	lib   library
	file  string   // what is mapped
	archs []string // such as "gfx90a"
}

// comgrSonames are the names of the comgr of a HIP major version. Source: the
// packages of Debian (5.2 and 5.7: .so.2, 6.4 and 7.2: .so.3); AMD shipped .so.2
// with the first releases of 6.
func comgrSonames(hipMajor int) []string {
	if hipMajor <= 5 {
		return []string{"libamd_comgr.so.2"}
	}
	return []string{"libamd_comgr.so.3", "libamd_comgr.so.2"}
}

// loadComgr loads the comgr that rt uses and reads the architectures that it
// knows. One that is mapped already is the runtime's own. The calling goroutine
// must be locked to its thread.
func (s search) loadComgr(rt *hipLib) (*comgrLib, error) {
	maps, err := readMaps()
	if err != nil {
		return nil, err
	}
	names := filesNamed(maps, "libamd_comgr.so")
	names = append(names, s.candidates(comgrSonames(rt.major()), filepath.Dir(rt.file))...)
	c := &comgrLib{}
	if c.lib, err = s.load(wantComgr, "", names); err != nil {
		return nil, err
	}
	var fn comgrTable
	if err := resolve(c.lib, wantComgr, comgrSymbols[:], fn[:]); err != nil {
		return nil, err
	}
	if maps, err = readMaps(); err != nil {
		return nil, err
	}
	c.file = fileAt(maps, fn[fnISACount])
	c.archs, err = readISAs(fn)
	return c, err
}

func readISAs(fn comgrTable) ([]string, error) {
	var count uint64 // size_t
	if err := comgrStatus(fnISACount, call(fn[fnISACount], uintptr(unsafe.Pointer(&count)))); err != nil {
		return nil, err
	}
	var archs []string
	for i := range count {
		var name uintptr // const char *, comgr's own
		if err := comgrStatus(fnISAName, call(fn[fnISAName], uintptr(i), uintptr(unsafe.Pointer(&name)))); err != nil {
			return nil, err
		}
		if arch, ok := strings.CutPrefix(stringAt(name), isaPrefix); ok {
			archs = append(archs, arch)
		}
	}
	return archs, nil
}

// comgrStatus returns the failure of a comgr function. Source:
// amd_comgr_status_t of amd_comgr.h, equal in 2.4 to 3.0.
func comgrStatus(fn comgrFn, code int) error {
	names := [...]string{"AMD_COMGR_STATUS_SUCCESS", "AMD_COMGR_STATUS_ERROR",
		"AMD_COMGR_STATUS_ERROR_INVALID_ARGUMENT", "AMD_COMGR_STATUS_ERROR_OUT_OF_RESOURCES"}
	if code == 0 {
		return nil
	}
	name := "AMD_COMGR_STATUS_UNKNOWN"
	if code > 0 && code < len(names) {
		name = names[code]
	}
	return &rocm.StatusError{API: "comgr", Call: comgrSymbols[fn].name, Code: code, Name: name}
}

// knows returns nil if arch, with or without a feature suffix, can be compiled
// for, and an error that wraps ErrUnknownArch if not.
func (c *comgrLib) knows(arch string) error {
	base, _, _ := strings.Cut(arch, ":")
	if slices.Contains(c.archs, base) {
		return nil
	}
	return fmt.Errorf("%w: %s is none of the %d that %s knows; use a ROCm release that supports it",
		ErrUnknownArch, base, len(c.archs), filepath.Base(c.file))
}
