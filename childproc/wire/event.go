package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Kind tells what an event says.
type Kind string

// The kinds of events, in the order a child usually sends them.
const (
	KindHello       Kind = "hello"        // who the child is and what it loaded
	KindPhase       Kind = "phase"        // it entered init, run or teardown
	KindRelease     Kind = "release"      // a barrier released its threads
	KindOp          Kind = "op"           // one operation of one thread
	KindCheck       Kind = "check"        // one named check, passed or failed
	KindFirstError  Kind = "first_error"  // the first error; without done, the body's own
	KindProvoked    Kind = "provoked"     // a fault the scenario provoked on purpose and saw
	KindPointCounts Kind = "point_counts" // how often the threads passed each point
	KindDone        Kind = "done"         // the body finished and every event was sent
)

// Phases of a child, in order.
const (
	PhaseInit     = "init"
	PhaseRun      = "run"
	PhaseTeardown = "teardown"
)

// Event is one line on EventsFD. Exactly the field that Kind names is set,
// except for done, which has none.
type Event struct {
	Kind        Kind           `json:"ev"`
	At          time.Duration  `json:"t_ns"` // since the child started, monotonic
	Hello       *Hello         `json:"hello,omitempty"`
	Phase       string         `json:"phase,omitempty"`
	Release     *Release       `json:"release,omitempty"`
	Op          *Op            `json:"op,omitempty"`
	Check       *Check         `json:"check,omitempty"`
	FirstError  *FirstError    `json:"first_error,omitempty"`
	Provoked    string         `json:"provoked,omitempty"` // an outcome, such as "device_fault"
	PointCounts map[string]int `json:"point_counts,omitempty"`
}

// Hello says who the child is.
type Hello struct {
	V      int    `json:"v"` // SpecVersion
	PID    int    `json:"pid"`
	Device Device `json:"device"`
}

// Device describes the runtime and the device that a child opened.
type Device struct {
	Driver    string    `json:"driver"`              // "sim" or "hip"
	Simulated bool      `json:"simulated,omitempty"` // results speak of a model, not of hardware
	Name      string    `json:"name"`                // such as "AMD Radeon 8060S", or the label of a test ABI
	Arch      string    `json:"arch"`                // such as "gfx1151"
	Ordinal   int       `json:"ordinal"`
	Runtime   string    `json:"runtime,omitempty"`   // version of HIP, such as "7.2.4"
	BLAS      string    `json:"blas,omitempty"`      // version of rocBLAS
	TestABI   string    `json:"test_abi,omitempty"`  // the label, where the library is no ROCm at all
	Libraries []Library `json:"libraries,omitempty"` // what was really mapped
}

// Library is one shared library a child mapped.
type Library struct {
	Name    string `json:"name"` // the soname asked for, such as "libamdhip64.so.7"
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"` // hex, from the ELF note
}

// Release is the start of concurrent work.
type Release struct {
	Barrier string  `json:"barrier,omitempty"`
	SkewNS  []int64 `json:"skew_ns"` // per thread: how long after the first released thread it left the barrier
	Overlap int     `json:"overlap"` // most threads at once between release and the end of their first operation
}

// Op is one operation of one thread.
type Op struct {
	Thread  int    `json:"thread"`
	Round   int    `json:"round"`
	Route   string `json:"route,omitempty"` // the GEMM route taken
	Status  string `json:"status"`          // "ok", or the error
	StartNS int64  `json:"start_ns"`        // since the child started
	EndNS   int64  `json:"end_ns"`
}

// Kinds of a failed oracle check.
const (
	FailUnwritten = "unwritten"
	FailNaN       = "nan"
	FailWrong     = "wrong"
)

// Check is one named check of a scenario.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Kind   string `json:"kind,omitempty"` // of a failed oracle check; "" for any other
	Detail string `json:"detail,omitempty"`
	Count  int    `json:"count,omitempty"` // how many outputs, say, failed it; 0 means 1
}

// Kinds of FirstError.
const (
	ErrorStatus         = "status"          // a native call returned a failure
	ErrorLibraryMissing = "library_missing" // a library or symbol could not be loaded
	ErrorNoDevice       = "no_device"       // no usable device
	ErrorOther          = "error"
)

// FirstError is the first error a child met.
type FirstError struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Call string `json:"call,omitempty"` // kind status: the native function
	Code int    `json:"code,omitempty"` // kind status, no_device
	Name string `json:"name,omitempty"` // kind status: the code's name
}

// MaxEventBytes bounds one line. A writer shortens nothing: details are
// bounded where they are made. A reader drops a longer line and counts it.
const MaxEventBytes = 64 << 10

// Writer sends events. Safe for concurrent use; each event is one write, so
// that lines of a dying child are whole or torn at the very end only.
type Writer struct {
	start time.Time

	mu  sync.Mutex
	w   io.Writer // guarded by mu
	err error     // guarded by mu; the first failed write
}

// NewWriter returns a Writer whose clock starts now.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, start: time.Now()} }

// Since returns the time on the Writer's clock.
func (w *Writer) Since() time.Duration { return time.Since(w.start) }

// Send writes e, stamped with the time where e.At is zero. The first error is
// kept and returned by every later call: a child whose driver is gone has
// nobody to tell.
func (w *Writer) Send(e Event) error {
	if e.At == 0 {
		e.At = w.Since()
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", e.Kind, err)
	}
	if len(line) >= MaxEventBytes {
		return fmt.Errorf("event %s: %d bytes, at most %d are allowed", e.Kind, len(line), MaxEventBytes-1)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = w.w.Write(append(line, '\n'))
	}
	return w.err
}

// DecodeEvent reads one line. Unknown fields are ignored and unknown kinds are
// refused: what a child sends is not to be trusted.
func DecodeEvent(line []byte) (Event, error) {
	var e Event
	if len(line) >= MaxEventBytes {
		return e, fmt.Errorf("event line of %d bytes, at most %d are allowed", len(line), MaxEventBytes-1)
	}
	if err := json.Unmarshal(bytes.TrimSpace(line), &e); err != nil {
		return e, fmt.Errorf("event line: %w", err)
	}
	return e, e.validate()
}

func (e Event) validate() error {
	var ok bool
	switch e.Kind {
	case KindHello:
		ok = e.Hello != nil
	case KindPhase:
		ok = e.Phase == PhaseInit || e.Phase == PhaseRun || e.Phase == PhaseTeardown
	case KindRelease:
		ok = e.Release != nil
	case KindOp:
		ok = e.Op != nil
	case KindCheck:
		ok = e.Check != nil
	case KindFirstError:
		ok = e.FirstError != nil
	case KindProvoked:
		ok = e.Provoked != ""
	case KindPointCounts, KindDone:
		ok = true
	default:
		return fmt.Errorf("event of unknown kind %.40q", e.Kind)
	}
	if !ok {
		return fmt.Errorf("event %s without its content", e.Kind)
	}
	return nil
}
