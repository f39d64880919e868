package hip

import (
	"fmt"

	"github.com/ebitengine/purego"

	"rocstress/rocm"
)

// symbol is one C function that the package calls.
type symbol struct {
	name   string
	header string // where its signature is from
	// optional functions are absent from some versions; calling one needs a
	// look at whether it is there.
	optional bool
}

// hipFn numbers the functions of the HIP runtime.
type hipFn int

const (
	fnRuntimeGetVersion hipFn = iota
	fnGetDeviceCount
	fnSetDevice
	fnGetDevice
	fnDeviceGetAttribute
	fnDeviceGetName
	fnDeviceTotalMem
	fnGetDevicePropertiesR0600
	fnGetDeviceProperties
	fnDeviceSynchronize
	fnGetErrorName
	fnMalloc
	fnFree
	fnHostMalloc
	fnHostFree
	fnMemcpyHtoDAsync
	fnMemcpyDtoHAsync
	fnMemsetD32Async
	fnStreamCreateWithFlags
	fnStreamDestroy
	fnStreamSynchronize
	fnStreamQuery
	fnDeviceReset
	fnModuleLoadData
	fnModuleGetFunction
	fnModuleLaunchKernel
	fnModuleUnload
	fnABILabel
	fnABIRuntime
	hipFns // their number
)

// hipSymbols is the one table of HIP functions. Their signatures are equal in
// HIP 5.2, 5.7, 6.4 and 7.2. hipInit is not among them: what it returns
// without a device differs from version to version, and every call does it.
var hipSymbols = [hipFns]symbol{
	fnRuntimeGetVersion:        {name: "hipRuntimeGetVersion", header: "hip_runtime_api.h"},
	fnGetDeviceCount:           {name: "hipGetDeviceCount", header: "hip_runtime_api.h"},
	fnSetDevice:                {name: "hipSetDevice", header: "hip_runtime_api.h"},
	fnGetDevice:                {name: "hipGetDevice", header: "hip_runtime_api.h"},
	fnDeviceGetAttribute:       {name: "hipDeviceGetAttribute", header: "hip_runtime_api.h"},
	fnDeviceGetName:            {name: "hipDeviceGetName", header: "hip_runtime_api.h"},
	fnDeviceTotalMem:           {name: "hipDeviceTotalMem", header: "hip_runtime_api.h"},
	fnGetDevicePropertiesR0600: {name: "hipGetDevicePropertiesR0600", header: "hip_runtime_api.h of 6.0", optional: true},
	fnGetDeviceProperties:      {name: "hipGetDeviceProperties", header: "hip_runtime_api.h before 6.0", optional: true},
	fnDeviceSynchronize:        {name: "hipDeviceSynchronize", header: "hip_runtime_api.h"},
	fnGetErrorName:             {name: "hipGetErrorName", header: "hip_runtime_api.h"},
	fnMalloc:                   {name: "hipMalloc", header: "hip_runtime_api.h"},
	fnFree:                     {name: "hipFree", header: "hip_runtime_api.h"},
	fnHostMalloc:               {name: "hipHostMalloc", header: "hip_runtime_api.h"},
	fnHostFree:                 {name: "hipHostFree", header: "hip_runtime_api.h"},
	fnMemcpyHtoDAsync:          {name: "hipMemcpyHtoDAsync", header: "hip_runtime_api.h"},
	fnMemcpyDtoHAsync:          {name: "hipMemcpyDtoHAsync", header: "hip_runtime_api.h"},
	fnMemsetD32Async:           {name: "hipMemsetD32Async", header: "hip_runtime_api.h"},
	fnStreamCreateWithFlags:    {name: "hipStreamCreateWithFlags", header: "hip_runtime_api.h"},
	fnStreamDestroy:            {name: "hipStreamDestroy", header: "hip_runtime_api.h"},
	fnStreamSynchronize:        {name: "hipStreamSynchronize", header: "hip_runtime_api.h"},
	fnStreamQuery:              {name: "hipStreamQuery", header: "hip_runtime_api.h"},
	fnDeviceReset:              {name: "hipDeviceReset", header: "hip_runtime_api.h"},
	fnModuleLoadData:           {name: "hipModuleLoadData", header: "hip_runtime_api.h"},
	fnModuleGetFunction:        {name: "hipModuleGetFunction", header: "hip_runtime_api.h"},
	fnModuleLaunchKernel:       {name: "hipModuleLaunchKernel", header: "hip_runtime_api.h"},
	fnModuleUnload:             {name: "hipModuleUnload", header: "hip_runtime_api.h"},
	fnABILabel:                 {name: "rocstress_abi_label", header: "rocm/hip/abi/abi.h", optional: true},
	fnABIRuntime:               {name: "rocstress_abi_runtime", header: "rocm/hip/abi/abi.h", optional: true},
}

// blasFn numbers the functions of rocBLAS.
type blasFn int

const (
	fnCreateHandle blasFn = iota
	fnDestroyHandle
	fnSetStream
	fnSgemm
	fnGemmEx
	fnGetVersionString
	blasFns // their number
)

// blasSymbols is the one table of rocBLAS functions. Their signatures are
// equal in rocBLAS 2.47, 4.4 and 5.2.
var blasSymbols = [blasFns]symbol{
	fnCreateHandle:     {name: "rocblas_create_handle", header: "rocblas-auxiliary.h"},
	fnDestroyHandle:    {name: "rocblas_destroy_handle", header: "rocblas-auxiliary.h"},
	fnSetStream:        {name: "rocblas_set_stream", header: "rocblas-auxiliary.h"},
	fnSgemm:            {name: "rocblas_sgemm", header: "rocblas-functions.h"},
	fnGemmEx:           {name: "rocblas_gemm_ex", header: "rocblas-functions.h"},
	fnGetVersionString: {name: "rocblas_get_version_string", header: "rocblas-auxiliary.h"},
}

// hipTable and blasTable hold the addresses; 0 is an absent optional function.
type (
	hipTable  [hipFns]uintptr
	blasTable [blasFns]uintptr
)

func resolveHIP(lib library) (hipTable, error) {
	var t hipTable
	err := resolve(lib, wantHIP, hipSymbols[:], t[:])
	if err == nil && t[fnGetDevicePropertiesR0600] == 0 && t[fnGetDeviceProperties] == 0 {
		err = missing(lib, wantHIP, hipSymbols[fnGetDeviceProperties], "nor is "+hipSymbols[fnGetDevicePropertiesR0600].name)
	}
	return t, err
}

func resolveRocBLAS(lib library) (blasTable, error) {
	var t blasTable
	return t, resolve(lib, wantRocBLAS, blasSymbols[:], t[:])
}

// resolve looks every symbol up before anything is bound: binding one that is
// not there would panic.
func resolve(lib library, want string, symbols []symbol, into []uintptr) error {
	for i, s := range symbols {
		addr, err := purego.Dlsym(lib.handle, s.name)
		if err != nil && !s.optional {
			return missing(lib, want, s, err.Error())
		}
		if err == nil {
			into[i] = addr
		}
	}
	return nil
}

func missing(lib library, want string, s symbol, why string) error {
	return &rocm.LibraryError{Library: want, Symbol: s.name, Tried: []string{
		fmt.Sprintf("%s: %s; declared in %s", lib.name, why, s.header)}}
}
