package childproc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is one started child. Its number stays its own until reap: an ended
// child that nobody waited for keeps its pid and its process group id.
// Signals and reap are for one goroutine.
type process struct {
	os    *os.Process
	pid   int
	began time.Time
	pidfd *os.File // in the runtime's poller, so waiting takes no thread and can be given up

	ended   chan struct{} // closed when the child has ended and is still a zombie
	dur     time.Duration // set before ended is closed
	waitErr error         // set before ended is closed
	watcher sync.WaitGroup
}

func newProcess(r startReply) *process {
	p := &process{os: r.proc, pid: r.proc.Pid, began: r.began, ended: make(chan struct{})}
	// Cannot fail on an open descriptor; if it did, watch would say so.
	_ = unix.SetNonblock(r.pidfd, true)
	p.pidfd = os.NewFile(uintptr(r.pidfd), "pidfd")
	p.watcher.Go(p.watch)
	return p
}

// checkPidfd reports whether this kernel has what process needs.
func checkPidfd() error {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return fmt.Errorf("pidfd_open: %s (%d), %w: Linux 5.4 or newer is needed, and a sandbox that allows it",
			unix.ErrnoName(errno(err)), int(errno(err)), err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return errors.Join(fmt.Errorf("pidfd: set non-blocking: %w", err), unix.Close(fd))
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	err = f.SetReadDeadline(time.Time{})
	if err != nil {
		err = fmt.Errorf("pidfd cannot be polled: %w: Linux 5.4 or newer is needed", err)
	}
	return errors.Join(err, f.Close())
}

// watch waits for the end of the child without reaping it.
func (p *process) watch() {
	var waitErr error
	conn, err := p.pidfd.SyscallConn()
	if err == nil {
		err = conn.Read(func(fd uintptr) bool {
			var info unix.Siginfo
			for {
				waitErr = unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
				if !errors.Is(waitErr, unix.EINTR) {
					break
				}
			}
			return waitErr != nil || info.Signo != 0
		})
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return // given up
	}
	p.dur = time.Since(p.began)
	p.waitErr = errors.Join(err, waitErr)
	close(p.ended)
}

func (p *process) done() <-chan struct{} { return p.ended }

// signal sends sig to the child, or to its process group. Failure means that
// the target is gone.
func (p *process) signal(sig syscall.Signal, group bool) {
	if group && p.waitable() {
		_ = unix.Kill(-p.pid, sig)
	}
	// Also where the group was signalled, for SIGKILL: a child may have moved
	// itself to another group. Any other signal must not arrive twice.
	if !group || sig == unix.SIGKILL {
		_ = p.os.Signal(sig)
	}
}

// waitable reports whether the pid is still ours: somebody else in this
// process may have reaped the child.
func (p *process) waitable() bool {
	select {
	case <-p.ended:
		return p.waitErr == nil
	default:
		return true
	}
}

// reap reads the status of the ended child into e, and gives its number back.
func (p *process) reap(e *Exit) {
	e.Code, e.Dur = -1, p.dur
	if p.waitErr != nil {
		e.WaitError = fmt.Sprintf("waitid of child %d: %v", p.pid, p.waitErr)
		_ = p.os.Release()
		return
	}
	st, err := p.os.Wait()
	if err != nil {
		e.WaitError = fmt.Sprintf("wait for child %d: %v", p.pid, err)
		_ = p.os.Release()
		return
	}
	e.Code = st.ExitCode()
	e.User, e.System = st.UserTime(), st.SystemTime()
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal, e.Core = ws.Signal(), ws.CoreDump()
	}
	if ru, ok := st.SysUsage().(*syscall.Rusage); ok {
		e.MaxRSS = ru.Maxrss << 10 // Linux counts KiB, getrusage(2)
	}
}

// abandon gives up a child that did not end.
func (p *process) abandon(e *Exit) {
	e.Code, e.Dur = -1, time.Since(p.began)
	_ = p.pidfd.SetReadDeadline(time.Unix(1, 0)) // wakes watch
	p.watcher.Wait()
	_ = p.os.Release()
}

// close joins the watcher. The child must have been reaped or abandoned.
func (p *process) close() {
	p.watcher.Wait()
	_ = p.pidfd.Close()
}
