// Package sim is a ROCm runtime simulated in Go: devices, memory, streams,
// rocBLAS handles and kernels that behave as real ones were measured to do.
//
// It behaves by mechanism, never by chance. A stream is a queue that one
// worker serves in order; a GEMM reads the handle's stream after the library
// has chosen a kernel, and reads its operands when the worker gets to it; an
// access outside the page table ends the device for the whole process. A wrong
// result therefore comes out of the same wrong order that would cause it on
// hardware, and out of nothing else.
//
// Everything blocks, sleeps, reads the clock and starts threads through
// harness/sched, and shared state is atomics: the package runs free or under a
// controller, and no caller, however wrong, causes a Go data race inside it.
package sim
