package hip

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ebitengine/purego"

	"rocstress/rocm"
)

// rtcLib is a loaded hiprtc. It needs no device.
type rtcLib struct {
	lib  library
	fn   rtcTable
	file string // what is mapped
}

// lastWithRTC is the last HIP major version whose runtime carries the symbols
// of hiprtc itself (5.2, 5.7 and 6.4 do, 7.2 does not).
const lastWithRTC = 6

// loadRTC loads the hiprtc that belongs to rt: its own library, or the runtime
// itself where that has the symbols, as every test ABI does. The calling
// goroutine must be locked to its thread.
func (s search) loadRTC(rt *hipLib) (*rtcLib, error) {
	r := &rtcLib{lib: rt.lib}
	var err error
	if rt.label == "" || s.getenv(EnvHIPRTC) != "" {
		if r.lib, err = s.findRTC(rt); err != nil {
			return nil, err
		}
	}
	if err := resolve(r.lib, wantHIPRTC, rtcSymbols[:], r.fn[:]); err != nil {
		return nil, err
	}
	maps, err := readMaps()
	if err != nil {
		return nil, err
	}
	r.file = fileAt(maps, r.fn[fnCompileProgram])
	return r, oneRuntime(maps, rt.file)
}

// findRTC looks for libhiprtc, then into the runtime.
func (s search) findRTC(rt *hipLib) (library, error) {
	soname := fmt.Sprintf("libhiprtc.so.%d", rt.major())
	lib, err := s.load(wantHIPRTC, EnvHIPRTC, s.candidates([]string{soname}, filepath.Dir(rt.file)))
	var none *rocm.LibraryError
	if !errors.As(err, &none) || s.getenv(EnvHIPRTC) != "" || rt.major() > lastWithRTC {
		return lib, err
	}
	if _, err := purego.Dlsym(rt.lib.handle, rtcSymbols[fnCompileProgram].name); err != nil {
		none.Tried = append(none.Tried, rt.lib.name+": "+err.Error())
		return library{}, none
	}
	return rt.lib, nil
}
