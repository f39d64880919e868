// Package harness is the driver: it plans a campaign, runs its children,
// decides what each came to, counts, and judges what the counts say.
//
// Data flows one way: Plan -> child -> exit and events -> Record -> Tally ->
// Verdict -> Report.
package harness

import "slices"

// Outcome is what one child came to.
type Outcome string

// The outcomes, in order of precedence: the first that matches wins.
const (
	LibraryMissing  Outcome = "library_missing"
	NoDevice        Outcome = "no_device"
	DeviceFault     Outcome = "device_fault"
	DriverReset     Outcome = "driver_reset"
	OutOfMemory     Outcome = "out_of_memory"
	QueueAbort      Outcome = "queue_abort"
	HeapCorruption  Outcome = "heap_corruption"
	HostCrash       Outcome = "host_crash"
	HangGPUBusy     Outcome = "hang_gpu_busy"
	HangGPUIdle     Outcome = "hang_gpu_idle"
	Timeout         Outcome = "timeout"
	LaunchError     Outcome = "launch_error"
	HostAbort       Outcome = "host_abort"
	UnwrittenOutput Outcome = "unwritten_output"
	NaNOutput       Outcome = "nan_output"
	WrongResult     Outcome = "wrong_result"
	CheckFailed     Outcome = "check_failed"
	Incomplete      Outcome = "incomplete"
	Pass            Outcome = "pass"
	// NotMeasured is not an outcome of a child but of the harness: the child
	// never ran, or was interrupted. It stands outside numerator and
	// denominator, like library_missing and no_device.
	NotMeasured Outcome = "not_measured"
)

// Measured reports whether o counts as a finished child.
func (o Outcome) Measured() bool {
	return o != NotMeasured && o != LibraryMissing && o != NoDevice
}

// Failed reports whether o counts as a failed child.
func (o Outcome) Failed() bool { return o.Measured() && o != Pass }

// outcomes lists the outcomes of children in order of precedence.
var outcomes = [...]Outcome{
	LibraryMissing, NoDevice, DeviceFault, DriverReset, OutOfMemory, QueueAbort, HeapCorruption, HostCrash,
	HangGPUBusy, HangGPUIdle, Timeout, LaunchError, HostAbort, UnwrittenOutput, NaNOutput, WrongResult,
	CheckFailed, Incomplete, Pass,
}

// Outcomes returns the outcomes of children in order of precedence, the
// strongest first.
func Outcomes() []Outcome { return slices.Clone(outcomes[:]) }

// rank returns the place of o in the order of precedence.
func (o Outcome) rank() int { return slices.Index(outcomes[:], o) }

// Meaning says in a few words what o is; "" for an unknown one.
func (o Outcome) Meaning() string {
	switch o {
	case LibraryMissing:
		return "a library, symbol or device code object could not be loaded; not counted as measured"
	case NoDevice:
		return "no usable device; not counted as measured"
	case DeviceFault:
		return "the device accessed an address it may not"
	case DriverReset:
		return "the driver reset or lost the device"
	case OutOfMemory:
		return "memory of the device or the host ran out"
	case QueueAbort:
		return "the runtime ended a queue"
	case HeapCorruption:
		return "the C library found its heap damaged"
	case HostCrash:
		return "SIGSEGV, SIGBUS, SIGFPE or SIGILL, or a runtime's report of one"
	case HangGPUBusy:
		return "no progress with work on the device; ended by the harness"
	case HangGPUIdle:
		return "no progress with the device idle; ended by the harness"
	case Timeout:
		return "ended at its deadline, state of the device unknown or progress being made"
	case LaunchError:
		return "a native call returned a failure"
	case HostAbort:
		return "any other death: SIGABRT, panic, deadlock report, unexplained exit code"
	case UnwrittenOutput:
		return "an output still holds its poison"
	case NaNOutput:
		return "an output holds a NaN that was computed"
	case WrongResult:
		return "an output holds another number than the reference"
	case CheckFailed:
		return "another check of the scenario failed"
	case Incomplete:
		return "exit code 0 without a readable report"
	case Pass:
		return "exit code 0, report complete, every check true"
	}
	return ""
}
