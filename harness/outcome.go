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
