package hip

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebitengine/purego"

	"rocstress/rocm"
)

// Environment variables that name a library by an absolute path. Where one is
// set, nothing else is tried for that library.
const (
	EnvHIP     = "STRESS_HIP_LIB"
	EnvRocBLAS = "STRESS_ROCBLAS_LIB"
	EnvHIPRTC  = "STRESS_HIPRTC_LIB"
	envROCm    = "ROCM_PATH"
	defaultLib = "/opt/rocm/lib"
)

// What a LibraryError calls the libraries.
const (
	wantHIP     = "HIP runtime (libamdhip64)"
	wantRocBLAS = "rocBLAS (librocblas)"
	wantHIPRTC  = "kernel compiler (libhiprtc)"
	wantComgr   = "code object manager (libamd_comgr)"
)

// search is where libraries are looked for.
type search struct {
	getenv func(string) string
	dlopen func(name string) (uintptr, error)
}

// newSearch looks at the process's environment and loads for real.
func newSearch() search {
	return search{
		getenv: os.Getenv,
		// RTLD_LOCAL: symbols are asked of their library by handle, and a
		// test ABI must not answer what another library meant to ask of HIP.
		dlopen: func(name string) (uintptr, error) {
			return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		},
	}
}

// library is one loaded shared library. It is never unloaded: real ones leave
// threads and callbacks behind.
type library struct {
	name   string // the soname or path that was loaded
	handle uintptr
}

// hipSonames are the names of the runtime, newest first. The last one belongs
// to development packages. Debian has .so.5 (5.2.3, 5.7.1), .so.6 (6.4.3) and
// .so.7 (7.2.4).
func hipSonames() []string {
	return []string{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}
}

// rocBLASSonames are the names of the rocBLAS that belongs to a HIP major
// version. Another one would load, and bring a second HIP runtime with it.
// Source: the packages of Debian (5.5: .so.0, 6.4: .so.4, 7.2: .so.5); .so.3
// is what AMD ships with 5.x. A HIP newer than those is left to the name
// without a version.
func rocBLASSonames(hipMajor int) []string {
	switch {
	case hipMajor >= 8:
		return []string{"librocblas.so"}
	case hipMajor == 7:
		return []string{"librocblas.so.5"}
	case hipMajor == 6:
		return []string{"librocblas.so.4"}
	}
	return []string{"librocblas.so.3", "librocblas.so.0"}
}

// candidates returns what to try for a library, in order: each directory with
// every soname, then the loader's own path.
func (s search) candidates(sonames []string, before ...string) []string {
	dirs := before
	if root := s.getenv(envROCm); root != "" {
		dirs = append(dirs, filepath.Join(root, "lib"))
	}
	dirs = append(dirs, defaultLib)
	var names []string
	for _, dir := range dirs {
		for _, soname := range sonames {
			if path := filepath.Join(dir, soname); !slices.Contains(names, path) {
				names = append(names, path)
			}
		}
	}
	return append(names, sonames...)
}

// load loads the first candidate that the loader accepts, or the one file that
// the variable env names; env may be empty. The calling goroutine must be locked to its thread:
// the loader keeps the reason of a failure for each thread.
func (s search) load(want, env string, candidates []string) (library, error) {
	if path := s.override(env); path != "" {
		if !filepath.IsAbs(path) {
			return library{}, &rocm.LibraryError{Library: want, Tried: []string{
				fmt.Sprintf("%s=%s: not an absolute path; give one or unset it", env, path)}}
		}
		handle, err := s.dlopen(path)
		if err != nil {
			return library{}, &rocm.LibraryError{Library: want, Tried: []string{
				fmt.Sprintf("%s=%s: %s", env, path, why(path, err))}}
		}
		return library{name: path, handle: handle}, nil
	}
	failed := &rocm.LibraryError{Library: want}
	for _, name := range candidates {
		handle, err := s.dlopen(name)
		if err == nil {
			return library{name: name, handle: handle}, nil
		}
		failed.Tried = append(failed.Tried, name+": "+why(name, err))
	}
	if env != "" {
		failed.Tried = append(failed.Tried, env+": not set; it can name the file by its absolute path")
	}
	return library{}, failed
}

// override returns the file that the variable env names, or "".
func (s search) override(env string) string {
	if env == "" {
		return ""
	}
	return s.getenv(env)
}

// why is the loader's reason without the name that it begins with.
func why(name string, err error) string {
	return strings.TrimPrefix(err.Error(), name+": ")
}
