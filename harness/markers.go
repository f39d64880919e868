package harness

import (
	"regexp"
	"slices"
)

// builtinMarkers returns the table. Sources are the printing programs: glibc
// 2.36 (malloc.c, dl-error), Go 1.26, libsanitizer of gcc 12, clr and
// rocr-runtime of ROCm 5.7 to 7.2 (rocdevice.cpp, runtime.cpp, queue.cpp),
// rocBLAS (tensile_host.cpp), and public issues that quote them. Lines of the
// kernel log are not here: they count only with a pid or a device.
//
// To add a fault, add a row, a line that must match to
// testdata/signatures.txt, and a decoy that must not.
func builtinMarkers() []marker {
	return slices.Concat(missingMarkers(), gpuMarkers(), memoryMarkers(), crashMarkers(), hintMarkers())
}

func missingMarkers() []marker {
	return []marker{
		{id: "D001", literal: "cannot open shared object file", outcome: LibraryMissing, beforeHello: true,
			accept: regexp.MustCompile(`([^\s:/]+): cannot open shared object file`)},
		{id: "D003", literal: "undefined symbol: ", outcome: LibraryMissing, beforeHello: true},
		{id: "D004", literal: "rocBLAS error: Cannot read ", outcome: LibraryMissing},
		{id: "D005", literal: "hipErrorNoBinaryForGpu: Unable to find code object", outcome: LibraryMissing},
		{id: "D007", literal: "rocBLAS error: Could not load ", outcome: LibraryMissing},
		{id: "D008", literal: "no ROCm-capable device is detected", outcome: NoDevice, beforeHello: true},
		{id: "D009", literal: "Could not initialize Tensile host:", outcome: NoDevice, beforeHello: true,
			accept: regexp.MustCompile(`Tensile host:\s*No devices found`), stable: "No devices found"},
		{id: "D010", literal: "Unable to open /dev/kfd", outcome: NoDevice, beforeHello: true},
		{id: "D012", literal: "No CUDA GPUs are available", outcome: NoDevice, beforeHello: true},
	}
}

// resetReason matches what ROCr prints in the format of a memory fault though
// it is none (runtime.cpp:1895-1921).
var resetReason = regexp.MustCompile(`Reason: (Generic hang recovery|DRAM ECC failure|SRAM ECC failure)`)

func gpuMarkers() []marker {
	return []marker{
		{id: "D013", literal: "Memory access fault by GPU", outcome: DeviceFault, unless: resetReason,
			accept: regexp.MustCompile(`(Memory access fault by GPU)`)},
		{id: "D017", literal: "Memory Fault Error [", outcome: DeviceFault,
			accept: regexp.MustCompile(`(Memory Fault Error) \[(?:.*(, kernel: [^\]\n]*))?`)},
		{id: "D018", literal: "an illegal memory access was encountered", outcome: DeviceFault},
		{id: "D025", literal: "HSA_STATUS_ERROR_MEMORY_FAULT", outcome: DeviceFault, stable: "HSA_STATUS_ERROR_MEMORY_FAULT"},
		{id: "H700", literal: "hipErrorIllegalAddress", outcome: DeviceFault, weight: onFailure, stable: "hipErrorIllegalAddress"},
		{id: "D013r", literal: "Memory access fault by GPU", outcome: DriverReset,
			accept: regexp.MustCompile(resetReason.String())},
		{id: "D026", literal: "HW Exception by GPU", outcome: DriverReset,
			accept: regexp.MustCompile(`HW Exception by GPU(?:.*reason ?:([^\n]*))?`)},
		{id: "D044", literal: "borting with error", outcome: QueueAbort,
			accept: regexp.MustCompile(`(?i)aborting with error\s*:\s*(HSA_STATUS_\w+_\w+)`),
			unless: regexp.MustCompile(`HSA_STATUS_ERROR_OUT_OF_RESOURCES`)},
		// The generic code is also what a reset leaves behind.
		{id: "D050", literal: "borting with error", outcome: QueueAbort, weight: onFailure,
			accept: regexp.MustCompile(`(?i)aborting with error\s*:\s*(HSA_STATUS_ERROR)\b`)},
		{id: "D048", literal: "inactivated due to async error", outcome: QueueAbort,
			accept: regexp.MustCompile(`async error:?\s*(HSA_STATUS_\w+)?`), stable: "inactivated due to async error"},
	}
}

func memoryMarkers() []marker {
	oom := func(id, literal string) marker {
		return marker{id: id, literal: literal, outcome: OutOfMemory, weight: onFailure}
	}
	heap := func(id, literal, accept string) marker {
		return marker{id: id, literal: literal, outcome: HeapCorruption, accept: regexp.MustCompile(accept)}
	}
	what := oom("D038", "what():")
	what.accept = regexp.MustCompile(`what\(\):[^\n]*?(out of memory)`)
	resources := oom("D037", "HSA_STATUS_ERROR_OUT_OF_RESOURCES")
	resources.stable = resources.literal
	hip := oom("H002", "hipErrorOutOfMemory")
	hip.stable = hip.literal
	return []marker{
		oom("D036", "HIP out of memory"), oom("D036c", "CUDA out of memory"), resources, what,
		oom("D039", "terminate called after throwing an instance of 'std::bad_alloc'"),
		oom("D040", "fatal error: runtime: out of memory"), oom("D041", "[malloc] Unable to allocate"), hip,
		heap("D053", "malloc(): ", `(malloc\(\): (?:corrupted|invalid|unaligned|mismatching|unsorted|memory corruption|smallbin|largebin)[^\n]*)`),
		heap("D054", "free(): ", `(free\(\): (?:invalid|double free|corrupted|unaligned|too many chunks)[^\n]*)`),
		heap("D054r", "realloc(): ", `(realloc\(\): invalid[^\n]*)`),
		heap("D055", "double free or corruption (", `(double free or corruption \([^\n)]*\))`),
		heap("D058", "munmap_chunk(): ", `(munmap_chunk\(\): invalid[^\n]*)`),
		heap("D058m", "malloc_consolidate(): ", `(malloc_consolidate\(\): (?:invalid|unaligned)[^\n]*)`),
		heap("D060", "corrupted size vs. prev_size", `(corrupted size vs\. prev_size)`),
		heap("D060l", "corrupted double-linked list", `(corrupted double-linked list)`),
		heap("D062", "AddressSanitizer: heap-", `AddressSanitizer: (heap-[\w-]+)`),
		heap("D063", "AddressSanitizer: attempting ", `AddressSanitizer: (attempting [\w-]+)`),
		heap("D064", "*** stack smashing detected ***", `(stack smashing detected)`),
	}
}

func crashMarkers() []marker {
	crash := func(id, literal, signal string) marker {
		return marker{id: id, literal: literal, outcome: HostCrash, stable: signal}
	}
	return []marker{
		crash("D065", "Segmentation fault", "SIGSEGV"),
		crash("D065b", "Bus error (core dumped)", "SIGBUS"),
		crash("D065f", "Floating point exception (core dumped)", "SIGFPE"),
		crash("D065i", "Illegal instruction (core dumped)", "SIGILL"),
		crash("D066", "SIGSEGV: segmentation violation", "SIGSEGV"), // Go: exit 2, no signal
		crash("D066b", "SIGBUS: bus error", "SIGBUS"),
		crash("D066f", "SIGFPE: floating-point exception", "SIGFPE"),
		crash("D066i", "SIGILL: illegal instruction", "SIGILL"),
		crash("D069", "Caught signal 11 ", "SIGSEGV"),
		crash("D070", "died from signal 11", "SIGSEGV"),
		{id: "D081", literal: "panic: test timed out after", outcome: Timeout},
		{id: "D082", literal: "***Timeout ", outcome: Timeout, stable: "ctest timeout"},
	}
}

// hintMarkers name what an exit code alone leaves nameless, and the rest.
func hintMarkers() []marker {
	launch := func(id, literal string) marker {
		return marker{id: id, literal: literal, outcome: LaunchError, weight: onFailure}
	}
	abort := func(id, literal string) marker {
		return marker{id: id, literal: literal, outcome: HostAbort, weight: hint}
	}
	terminate := abort("D092", "terminate called ")
	terminate.accept = regexp.MustCompile(`(terminate called [^\n]*)(?:\n\s*what\(\):([^\n]*))?`)
	assertion := abort("D097", "Assertion `")
	assertion.accept = regexp.MustCompile("(Assertion `[^\n]*' failed)")
	hipName := launch("H001", " failed: hipError")
	hipName.accept = regexp.MustCompile(`(hip\w+ failed: hipError\w+)`)
	return []marker{
		launch("D084", "failed: invalid configuration argument"), hipName,
		{id: "D085", literal: "HIP error: ", outcome: LaunchError, weight: onFailure,
			unless: regexp.MustCompile(`illegal memory access|out of memory`)},
		launch("D086", "Hip error: '"), launch("D087", "There is no Stream(gpu"),
		launch("D089", "are larger than launch bounds"), launch("D090", "CUBLAS_STATUS_"),
		terminate, assertion,
		abort("D094", "pure virtual method called"), abort("D098", "GGML_ASSERT: "),
		abort("D099", "fatal error: "), abort("D100", "panic: "), abort("D102", "' panicked at "),
		{id: "D095", literal: "rocBLAS error: ", outcome: HostAbort, weight: hint,
			accept: regexp.MustCompile(`rocBLAS error: ([^\n]*(?:host:\n[^\n]*)?)`)},
		{id: "D103", literal: "WARNING: DATA RACE", outcome: HostAbort, weight: race},
		{id: "D104", literal: "WARNING: ThreadSanitizer: data race", outcome: HostAbort, weight: race,
			stable: "WARNING: ThreadSanitizer: data race"},
		{id: "W001", literal: "Warning: rocBLAS", outcome: CheckFailed, weight: warning},
	}
}
