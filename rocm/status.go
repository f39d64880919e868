package rocm

import (
	"errors"
	"fmt"
	"strings"
)

// StatusError is a failure that a native call returned.
type StatusError struct {
	API  string // "hip", "rocblas", "hiprtc" or "hipblaslt"
	Call string // the native function, such as "hipModuleLaunchKernel"
	Code int
	Name string // the code's name, such as "hipErrorInvalidValue"
}

// Error returns "hipModuleLaunchKernel failed: hipErrorInvalidValue (1)".
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s failed: %s (%d)", e.Call, e.Name, e.Code)
}

// HIP status codes that the protocol or the harness tells apart. Source:
// hip_runtime_api.h, equal in HIP 5.2 to 7.2.
const (
	HipErrorInvalidValue         = 1
	HipErrorOutOfMemory          = 2
	HipErrorInvalidConfiguration = 9
	HipErrorNoDevice             = 100
	HipErrorInvalidDevice        = 101
	HipErrorInvalidHandle        = 400
	HipErrorNotReady             = 600
	HipErrorIllegalAddress       = 700
	HipErrorNotSupported         = 801
)

// rocBLAS status codes. Source: rocblas-types.h, equal in rocBLAS 2.47 to 5.2.
const (
	RocBLASInvalidHandle  = 1
	RocBLASInvalidPointer = 3
	RocBLASInvalidSize    = 4
	RocBLASMemoryError    = 5
	RocBLASInternalError  = 6
)

// Native calls whose failure callers tell apart, as in StatusError.Call.
const (
	CallRocBLASCreateHandle = "rocblas_create_handle"
	CallRocBLASSetStream    = "rocblas_set_stream"
)

// HipErrorName returns the name of a HIP status code that this package knows,
// and "hipErrorUnknown" for any other.
func HipErrorName(code int) string {
	switch code {
	case 0:
		return "hipSuccess"
	case HipErrorInvalidValue:
		return "hipErrorInvalidValue"
	case HipErrorOutOfMemory:
		return "hipErrorOutOfMemory"
	case HipErrorInvalidConfiguration:
		return "hipErrorInvalidConfiguration"
	case HipErrorNoDevice:
		return "hipErrorNoDevice"
	case HipErrorInvalidDevice:
		return "hipErrorInvalidDevice"
	case HipErrorInvalidHandle:
		return "hipErrorInvalidHandle"
	case HipErrorNotReady:
		return "hipErrorNotReady"
	case HipErrorIllegalAddress:
		return "hipErrorIllegalAddress"
	case HipErrorNotSupported:
		return "hipErrorNotSupported"
	}
	return "hipErrorUnknown"
}

// RocBLASStatusName returns the name of a rocBLAS status code.
func RocBLASStatusName(code int) string {
	names := [...]string{
		"success", "invalid_handle", "not_implemented", "invalid_pointer", "invalid_size",
		"memory_error", "internal_error", "perf_degraded", "size_query_mismatch", "size_increased",
		"size_unchanged", "invalid_value", "continue", "check_numerics_fail", "excluded_from_build",
		"arch_mismatch",
	}
	if code < 0 || code >= len(names) {
		return "rocblas_status_unknown"
	}
	return "rocblas_status_" + names[code]
}

// HipError returns the failure of a HIP call, or nil for code 0.
func HipError(call string, code int) error {
	if code == 0 {
		return nil
	}
	return &StatusError{API: "hip", Call: call, Code: code, Name: HipErrorName(code)}
}

// RocBLASError returns the failure of a rocBLAS call, or nil for code 0.
func RocBLASError(call string, code int) error {
	if code == 0 {
		return nil
	}
	return &StatusError{API: "rocblas", Call: call, Code: code, Name: RocBLASStatusName(code)}
}

// IsNotReady reports whether err is hipErrorNotReady: work is still running,
// and nothing is wrong.
func IsNotReady(err error) bool {
	var st *StatusError
	return errors.As(err, &st) && st.API == "hip" && st.Code == HipErrorNotReady
}

// LibraryError says that a library or one of its symbols cannot be had.
type LibraryError struct {
	Library string   // what was wanted, such as "HIP runtime (libamdhip64)"
	Symbol  string   // the missing symbol; empty if the library itself is missing
	Tried   []string // names and paths tried, in order, each with what came back
}

// Error names the library, the symbol and everything that was tried.
func (e *LibraryError) Error() string {
	tried := strings.Join(e.Tried, "; ")
	if e.Symbol != "" {
		return fmt.Sprintf("%s lacks the symbol %s (%s)", e.Library, e.Symbol, tried)
	}
	return fmt.Sprintf("%s cannot be loaded: tried %s", e.Library, tried)
}

// NoDeviceError says that the runtime works and has no usable device.
type NoDeviceError struct {
	Runtime string // such as "libamdhip64.so.5, HIP 5.2.3"
	Err     error  // the *StatusError, or why the device cannot be used
}

// Error says which runtime was asked and what it answered.
func (e *NoDeviceError) Error() string {
	return fmt.Sprintf("no usable device: %v (%s)", e.Err, e.Runtime)
}

// Unwrap returns what the runtime answered.
func (e *NoDeviceError) Unwrap() error { return e.Err }
