package sim

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rocstress/harness/sched"
)

// Crash ends the process as the fault of a C library would: by the signal
// itself, so that the parent reads SIGSEGV or SIGABRT from the wait status and
// no Go traceback comes in between. why is for a controlled run, where Crash
// ends the schedule instead. It does not return.
func Crash(th *sched.Thread, sig syscall.Signal, why string) {
	if th.Controlled() {
		th.Abort(fmt.Sprintf("%s: %s", unix.SignalName(sig), why))
	}
	// Go keeps a handler for these signals whatever os/signal is told, so the
	// default action is put back with the system call. A zeroed struct
	// sigaction is SIG_DFL, no flags and an empty mask on every architecture;
	// 64 bytes are more than any of them has.
	var act [64]byte
	const sigsetBytes = 8
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION,
		uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, sigsetBytes, 0, 0)
	if errno == 0 {
		err := unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
		th.Sleep(crashPatience) // the kernel ends the process before this returns
		fmt.Fprintf(os.Stderr, "sim: still alive after %v (tgkill: %v)\n", sig, err)
		os.Exit(crashFailed)
	}
	fmt.Fprintf(os.Stderr, "sim: cannot restore the default action of %v: %v\n", sig, errno)
	os.Exit(crashFailed)
}

const (
	crashPatience = 10 * time.Second
	crashFailed   = 70 // EX_SOFTWARE of sysexits.h: the harness, not the code under test
)
