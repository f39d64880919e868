// Package childproc runs one child process from start to exit and reports
// mechanical facts about it: how it ended, what it printed, which events it
// sent, what its threads did when time ran out. It judges nothing.
//
// A Launcher starts children, either entries of this very binary (re-executed,
// see Main) or foreign programs. Everything a child can do to itself is data
// in Exit; an error means that it never ran.
//
// Linux 5.4 or newer is required, for pidfds: a child is signalled and waited
// for through a handle, never through a number that may by then belong to
// somebody else.
package childproc

import (
	"syscall"
	"time"

	"rocstress/childproc/wire"
)

// Stream is one of the two outputs of a child.
type Stream int

// The outputs of a child.
const (
	Stdout Stream = iota
	Stderr
)

// String returns "stdout" or "stderr".
func (s Stream) String() string {
	if s == Stdout {
		return "stdout"
	}
	return "stderr"
}

// Defaults of the zero fields of Spec.
const (
	// DefaultGrace is long enough for a Go child of a hundred goroutines to
	// print their stacks on a busy machine, which takes some 10 ms on an idle
	// one.
	DefaultGrace = 2 * time.Second
	// DefaultKeepBytes is the usual capacity of a Linux pipe.
	DefaultKeepBytes = 64 << 10
)

// Reasons for which a child is killed, in Exit.KillReason.
const (
	ReasonDeadline = "deadline"
	ReasonCanceled = "canceled"
)

// Spec says what to run and how. The zero value runs this executable as a
// foreign program: no deadline, inherited environment.
type Spec struct {
	// Path is the program; "" is this executable, even if the file has been
	// replaced on disk meanwhile. A name without a slash is looked up in the
	// PATH of this process. A relative path is relative to Dir.
	Path string
	// Args are the arguments after the program's name.
	Args []string
	// Entry names an entry of Main. "" is a foreign program: it gets no events
	// pipe, no lifeline and no ROCSTRESS_* variable.
	Entry string
	// Orders are what the entry gets. Ignored for a foreign program.
	Orders wire.Spec
	// Env is the complete environment, nil that of this process. ROCSTRESS_*
	// is removed from it, but for wire.EnvABI of an entry; an entry also gets
	// GOTRACEBACK=all.
	Env []string
	// Dir is the working directory, "" that of this process.
	Dir string

	// Deadline is how long the child may take. 0: no limit.
	Deadline time.Duration
	// Grace is the time between the signal that makes a child dump its stacks
	// and SIGKILL. 0: DefaultGrace.
	Grace time.Duration
	// KeepBytes is how much of each stream is kept at each end. 0:
	// DefaultKeepBytes.
	KeepBytes int

	// Observe sees every byte of the outputs as it is drained, whatever is
	// kept. Calls for one stream follow each other; those for the two streams
	// may overlap. b is valid during the call only. A slow Observe holds up
	// the child, one that blocks holds up Run. May be nil.
	Observe func(s Stream, b []byte)
	// OnEvent sees every valid event in order, from one goroutine, before Run
	// returns. May be nil.
	OnEvent func(e wire.Event)
}

// Exit is what became of a child. All times are monotonic.
type Exit struct {
	PID int
	// Env is the environment that the child was given.
	Env []string

	Code   int            // -1 where a signal ended it, or Unkillable, or WaitError
	Signal syscall.Signal // that ended it, from the wait status; 0 if none
	Core   bool           // the kernel says that it dumped core
	// WaitError tells why the wait status could not be read, "" usually: some
	// other part of this process reaped the child.
	WaitError string

	Dur    time.Duration // from just before the start to the exit
	User   time.Duration // CPU time in user mode, waited-for descendants included
	System time.Duration // CPU time in the kernel
	// MaxRSS is the peak resident size in bytes as the kernel accounts it. It
	// is never below the resident size of this process at the start: Linux
	// carries that over exec (exec_mmap in fs/exec.c).
	MaxRSS int64

	Killed      bool          // a signal was sent by Run before the child ended
	KillReason  string        // ReasonDeadline or ReasonCanceled
	KilledAt    time.Duration // of the first signal, since the start
	KillSignals []string      // names, in the order sent

	Stdout Output
	Stderr Output
	Events Output // raw bytes of the events pipe
	// BadEvents counts lines that are no event, or too long for one.
	BadEvents int
	// BadEventSample describes the first of them; bounded and quoted.
	BadEventSample string

	// LeakedPipes: a descendant held a pipe open after the child had ended.
	// Run killed it if it was still of the child's process group, and waited
	// for it a bounded time only.
	LeakedPipes bool
	// Unkillable: the child survived SIGKILL beyond a bounded wait, as a
	// thread stuck inside a kernel driver does. It was left behind.
	Unkillable bool

	// Evidence was collected before the first signal. Zero unless the deadline
	// passed.
	Evidence Evidence
}
