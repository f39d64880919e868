package hip

import (
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"rocstress/rocm"
)

// blasLib is a loaded rocBLAS: what can be asked of it without a device.
type blasLib struct {
	lib     library
	fn      blasTable
	file    string // what is mapped
	version string
}

// loadBLAS loads the rocBLAS that belongs to rt. A test ABI brings its own, in
// the same file. The calling goroutine must be locked to its thread.
func (s search) loadBLAS(rt *hipLib) (*blasLib, error) {
	b := &blasLib{lib: rt.lib}
	var err error
	if rt.label == "" || s.getenv(EnvRocBLAS) != "" {
		// The release that HIP came from is the best place to look.
		beside := filepath.Dir(rt.file)
		if b.lib, err = s.load(wantRocBLAS, EnvRocBLAS, s.candidates(rocBLASSonames(rt.major()), beside)); err != nil {
			return nil, err
		}
	}
	if b.fn, err = resolveRocBLAS(b.lib); err != nil {
		return nil, err
	}
	maps, err := readMaps()
	if err != nil {
		return nil, err
	}
	b.file = fileAt(maps, b.fn[fnSgemm])
	if err := oneRuntime(maps, rt.file); err != nil {
		return nil, err
	}
	buf := make([]byte, 256) // rocBLAS 5.2 needs 128 at most
	code := call(b.fn[fnGetVersionString], uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	if err := rocm.RocBLASError(blasSymbols[fnGetVersionString].name, code); err != nil {
		return nil, fmt.Errorf("%s: %w", b.lib.name, err)
	}
	b.version = strings.TrimSuffix(textIn(buf), ".") // "5.2.0." in all versions
	return b, nil
}
