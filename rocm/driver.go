// Package rocm is the Device under test: the protocol by which a ROCm backend
// shares one rocBLAS handle, its stream binding and its device among many
// threads, with every safeguard removable alone.
//
// The Device runs on a Driver, the slice of HIP and rocBLAS it needs; rocm/sim
// and rocm/hip implement it and pass rocm/conformance. The package blocks,
// sleeps and starts threads through harness/sched only, so that one source
// runs free, delayed and under controlled schedules.
package rocm

import "rocstress/harness/sched"

// Ptr is a device address. Zero is the null pointer.
type Ptr uint64

// Stream is a native stream handle. Zero is the null stream.
type Stream uintptr

// BLAS is a native rocBLAS handle. Zero is the null handle.
type BLAS uintptr

// Driver is what a Device needs of a ROCm runtime. It is as safe for
// concurrent use as the runtime it stands for: streams, memory and separate
// BLAS handles may be used by many threads at once; one BLAS handle may not,
// and a Driver does nothing to prevent it.
//
// Every method that can fail natively returns a *StatusError for a native
// failure and nothing else but nil, unless it says otherwise.
type Driver interface {
	Runtime
	Memory
	Streams
	BLASLibrary
}

// Runtime is the device side of a Driver.
type Runtime interface {
	// Describe says what was opened. It needs no device to be current and
	// does not change over the life of the Driver.
	Describe(th *sched.Thread) Description
	// DeviceCount returns the number of devices. A runtime without a device
	// is a *NoDeviceError.
	DeviceCount(th *sched.Thread) (int, error)
	// SetDevice makes a device current for the calling thread.
	SetDevice(th *sched.Thread, ordinal int) error
	// GetDevice returns the calling thread's current device.
	GetDevice(th *sched.Thread) (int, error)
	// DeviceProps returns the properties of a device.
	DeviceProps(th *sched.Thread, ordinal int) (DeviceProps, error)
	// Close tears the runtime down: streams are drained and workers joined.
	// Nothing of the Driver may be used after it. A real runtime stays mapped.
	Close(th *sched.Thread) error
}

// Description says what a Driver opened.
type Description struct {
	Driver    string    // "sim" or "hip"
	Simulated bool      // a model, not hardware
	Ordinal   int       // the device the spec asked for
	Runtime   string    // HIP version, such as "7.2.4"
	BLAS      string    // rocBLAS version
	TestABI   string    // label of a test ABI library; empty for real ROCm and sim
	Libraries []Library // what was mapped; empty for sim
	// AbortsOnFault reports that this runtime ends the process on a queue
	// fault (ROCm up to 6.4), where newer ones return an error.
	AbortsOnFault bool
}

// Library is one shared library that a Driver mapped.
type Library struct {
	Name    string // soname asked for
	Path    string // file that was mapped
	BuildID string // hex, from the ELF note; empty where there is none
}

// DeviceProps are the properties of one device.
type DeviceProps struct {
	Name               string
	Arch               string // gcnArchName, such as "gfx90a:sramecc+:xnack-"
	TotalMemory        uint64 // bytes
	MaxThreadsPerBlock int
	MultiProcessors    int
	WarpSize           int
}

// Memory is the memory side of a Driver. Sizes are bytes unless named words; a
// word is 4 bytes.
type Memory interface {
	Malloc(th *sched.Thread, bytes uint64) (Ptr, error)
	Free(th *sched.Thread, p Ptr) error
	// HostAlloc returns pinned host memory that asynchronous copies may use
	// until HostFree.
	HostAlloc(th *sched.Thread, words int) (HostMem, error)
	HostFree(th *sched.Thread, m HostMem) error
	// MemcpyHtoDAsync enqueues a copy of the first words of src to dst. src
	// must not change until the stream has passed the copy.
	MemcpyHtoDAsync(th *sched.Thread, dst Ptr, src HostMem, words int, s Stream) error
	// MemcpyDtoHAsync enqueues a copy to dst, which must not be read until
	// the stream has passed it.
	MemcpyDtoHAsync(th *sched.Thread, dst HostMem, src Ptr, words int, s Stream) error
	// MemsetD32Async enqueues the filling of words words with v.
	MemsetD32Async(th *sched.Thread, dst Ptr, v uint32, words uint64, s Stream) error
}

// HostMem is pinned host memory, owned by whoever allocated it.
type HostMem struct {
	Words  []uint32
	Handle uintptr // the driver's own
}

// Slice returns n words of m from word off on, for use in copies. Only m
// itself is given to HostFree.
func (m HostMem) Slice(off, n int) HostMem {
	return HostMem{Words: m.Words[off : off+n : off+n], Handle: m.Handle}
}

// Streams is the queue side of a Driver.
type Streams interface {
	// StreamCreate returns a stream that does not wait for the null stream
	// (hipStreamNonBlocking).
	StreamCreate(th *sched.Thread) (Stream, error)
	// StreamDestroy gives a stream back once its work is done.
	StreamDestroy(th *sched.Thread, s Stream) error
	// StreamSynchronize blocks until everything enqueued on s is done.
	StreamSynchronize(th *sched.Thread, s Stream) error
	// StreamQuery returns nil when everything enqueued on s is done, and a
	// *StatusError with hipErrorNotReady (600) while it is not.
	StreamQuery(th *sched.Thread, s Stream) error
}

// BLASLibrary is rocBLAS. Only Device calls it, and only rocm/sim and rocm/hip
// implement it: a test over the syntax tree holds everyone else off.
type BLASLibrary interface {
	RocBLASCreateHandle(th *sched.Thread) (BLAS, error)
	RocBLASDestroyHandle(th *sched.Thread, h BLAS) error
	// RocBLASSetStream binds h to s; every later call on h enqueues there.
	RocBLASSetStream(th *sched.Thread, h BLAS, s Stream) error
	// RocBLASSgemm enqueues C = alpha op(A) op(B) + beta C on the stream that
	// h is bound to when the library reads it, column-major.
	RocBLASSgemm(th *sched.Thread, h BLAS, g SGEMM) error
}

// SGEMM are the arguments of rocblas_sgemm, in its own column-major terms:
// A is MxK, B is KxN, C is MxN, no transposition.
type SGEMM struct {
	M, N, K     int
	Alpha, Beta float32
	A           Ptr
	LDA         int
	B           Ptr
	LDB         int
	C           Ptr
	LDC         int
}

// BF16Library is the part of rocBLAS that multiplies bf16. Drivers implement it
// beside BLASLibrary, and only Device calls it.
type BF16Library interface {
	// RocBLASGemmEx enqueues C = A B on the stream that h is bound to when
	// the library reads it: rocblas_gemm_ex, column-major, A, B, C and D of
	// rocblas_datatype_bf16_r, computed in f32 (compute type f32_r, alpha 1,
	// beta 0, C and D the same matrix, no transposition).
	RocBLASGemmEx(th *sched.Thread, h BLAS, g GemmEx) error
}

// GemmEx are the arguments of RocBLASGemmEx: as SGEMM, with elements of 2
// bytes. Leading dimensions count elements.
type GemmEx struct {
	M, N, K int
	A       Ptr
	LDA     int
	B       Ptr
	LDB     int
	C       Ptr
	LDC     int
}

// Resetter resets devices.
type Resetter interface {
	// DeviceReset destroys everything of the calling thread's current device:
	// streams, memory and modules, whoever uses them (hipDeviceReset). rocBLAS
	// handles outlive it and must be destroyed by their owner.
	DeviceReset(th *sched.Thread) error
}

// Launcher compiles and launches kernels. A Driver without it has no naive
// GEMM.
type Launcher interface {
	// LoadKernel compiles k for the current device.
	LoadKernel(th *sched.Thread, k *Kernel) (Function, error)
	// Launch enqueues one launch. Args are in the kernel's order.
	Launch(th *sched.Thread, f Function, l Launch) error
}

// Function is a loaded kernel.
type Function uintptr

// Launch is one kernel launch.
type Launch struct {
	Grid, Block Dim3 // blocks, threads a block
	Stream      Stream
	Args        []Arg
}

// Dim3 is an extent in three dimensions, each at least 1.
type Dim3 struct{ X, Y, Z uint32 }

// Arg is one kernel argument: a pointer or a 32-bit integer.
type Arg struct {
	Ptr   Ptr
	Int   int32
	IsPtr bool
}

// Kernel is a kernel as HIP C++ source, for real devices, and as a Go body
// that does the same, for simulated ones.
type Kernel struct {
	Name   string // the extern "C" function
	Source string // HIP C++ in the subset that hiprtc 5.2 and NVRTC compile
	Body   func(mem KernelMemory, l Launch) error
}

// KernelMemory is device memory as a simulated kernel sees it. An error is a
// bad address, and the kernel must return it at once.
type KernelMemory interface {
	Load(dst []uint32, src Ptr) error  // atomic word loads into private scratch
	Store(dst Ptr, src []uint32) error // atomic word stores
}
