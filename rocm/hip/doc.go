// Package hip is the real ROCm runtime as a rocm.Driver: libamdhip64 and
// librocblas reached through dlopen, in pure Go.
//
// The package builds without cgo and without ROCm, and looks for the libraries
// when Open or Survey is called. It never panics over a library: a missing one
// or a missing symbol is a *rocm.LibraryError that lists everything tried, and
// a runtime without a device is a *rocm.NoDeviceError.
//
// Some calls of real libraries end the process where there is no device:
// rocblas_initialize aborts, and rocblas_create_handle fails in a different way
// each time. No rocBLAS function that needs a device is called before
// hipGetDeviceCount found one and hipSetDevice accepted it.
//
// HIP keeps the current device of each OS thread. A goroutine that calls
// SetDevice and whatever depends on it must therefore be locked to its thread
// (runtime.LockOSThread) for as long as it uses the Driver.
//
// A process can hold one HIP runtime. Two of them load without an error and
// then disagree about every handle, so Open refuses a process in which a
// second one is mapped.
package hip
