package childproc

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartError says that a child never ran. It wraps its cause: match errno
// values, context errors and os.ErrClosed (a closed Launcher) with errors.Is.
type StartError struct {
	Path string // the program
	Step string // what was tried, such as "pipe" or "exec"
	Err  error
}

// Error names the program, the step, the cause and what to do.
func (e *StartError) Error() string {
	no := errno(e.Err)
	if no == 0 {
		return fmt.Sprintf("start %s: %s: %v", e.Path, e.Step, e.Err)
	}
	s := fmt.Sprintf("start %s: %s: %s (%d), %v", e.Path, e.Step, unix.ErrnoName(no), int(no), no)
	if h := hint(no); h != "" {
		s += ": " + h
	}
	return s
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// errno returns the errno in err's chain, or 0.
func errno(err error) syscall.Errno {
	var no syscall.Errno
	errors.As(err, &no)
	return no
}

func hint(no syscall.Errno) string {
	switch no {
	case unix.ENOENT:
		return "check the path; for a file that exists, its interpreter or loader is missing"
	case unix.EACCES:
		return "check that it is an executable file on a file system mounted without noexec"
	case unix.EMFILE, unix.ENFILE:
		return "raise the limit of open files (ulimit -n) or run fewer children at once"
	case unix.EAGAIN:
		return "raise the limit of processes (ulimit -u) or run fewer children at once"
	case unix.E2BIG:
		return "shorten the arguments or the environment"
	case unix.ENOEXEC:
		return "it is no program for this machine"
	}
	return ""
}
