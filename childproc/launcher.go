package childproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Launcher starts children, all from one OS thread that it keeps: Linux sends
// the parent-death signal when the thread that forked ends, not the process.
// It also holds the only write end of the lifeline, a pipe that closes
// however this process ends. Safe for concurrent use.
type Launcher struct {
	starts    chan startRequest
	stopped   chan struct{} // closed when the thread's goroutine has ended
	null      *os.File      // stdin of all children
	lifeline  *os.File      // read end, inherited by entries
	lifelineW *os.File      // never written; close-on-exec

	mu     sync.Mutex
	active int  // guarded by mu; Runs in progress
	closed bool // guarded by mu
}

// startRequest asks the thread to start one process.
type startRequest struct {
	cmd   command
	files []*os.File
	reply chan startReply
}

type startReply struct {
	proc  *os.Process
	pidfd int
	began time.Time
	err   error
}

// NewLauncher starts the thread. The caller must Close the Launcher.
func NewLauncher() (*Launcher, error) {
	if err := checkPidfd(); err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("stdin for children: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lifeline for children: %w", err), null.Close())
	}
	l := &Launcher{
		starts:    make(chan startRequest),
		stopped:   make(chan struct{}),
		null:      null,
		lifeline:  r,
		lifelineW: w,
	}
	go l.serve()
	return l, nil
}

// serve is the thread. It is not unlocked at the end: the runtime then ends
// the thread with the goroutine.
func (l *Launcher) serve() {
	runtime.LockOSThread()
	defer close(l.stopped)
	for r := range l.starts {
		r.reply <- l.fork(r)
	}
}

// fork runs on the locked thread. The soft core limit is zero while it forks,
// so that the child has it from its first instruction, and cannot be caught
// crashing before a limit set from outside reaches it. Limits belong to the
// process: a crash of the driver in that millisecond leaves no core either,
// and two Launchers forking at the same time may leave the driver's own soft
// limit at zero.
func (l *Launcher) fork(r startRequest) startReply {
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil {
		return startReply{err: &StartError{r.cmd.path, "getrlimit(RLIMIT_CORE)", err}}
	}
	if core.Cur != 0 {
		zero := unix.Rlimit{Max: core.Max}
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &zero); err != nil {
			return startReply{err: &StartError{r.cmd.path, "setrlimit(RLIMIT_CORE)", err}}
		}
		// Raising a soft limit back to where it was, below the hard one,
		// cannot be refused.
		defer func() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &core) }()
	}
	pidfd := -1
	rep := startReply{began: time.Now()}
	rep.proc, rep.err = os.StartProcess(r.cmd.path, r.cmd.argv, &os.ProcAttr{
		Dir:   r.cmd.dir,
		Env:   r.cmd.env,
		Files: r.files,
		Sys: &unix.SysProcAttr{
			Setpgid:   true,
			Pdeathsig: unix.SIGKILL,
			PidFD:     &pidfd,
		},
	})
	rep.pidfd = pidfd
	return rep
}

// Run runs one child to its end and returns what became of it. Any number of
// calls may run at once. The error is a *StartError: the child never ran.
//
// When the deadline passes (after evidence was collected) or ctx ends, the
// child gets the signal that makes it dump its stacks (SIGQUIT an entry,
// SIGABRT the process group of a foreign program), after Spec.Grace SIGKILL
// with its group, and some seconds later it is given up as Unkillable. What is
// left of its group after its own end is killed too; a descendant that made a
// group of its own survives.
func (l *Launcher) Run(ctx context.Context, s Spec) (Exit, error) {
	cmd, err := s.command()
	if err != nil {
		return Exit{}, err
	}
	if err := l.enter(); err != nil {
		return Exit{}, &StartError{cmd.path, "launch", err}
	}
	defer l.leave()
	c, err := l.start(ctx, s, cmd)
	if err != nil {
		return Exit{}, err
	}
	return c.supervise(ctx), nil
}

// start opens the pipes and has the thread start the child.
func (l *Launcher) start(ctx context.Context, s Spec, cmd command) (*child, error) {
	pipes, err := openPipes(cmd.pipes())
	if err != nil {
		return nil, &StartError{cmd.path, "pipe", err}
	}
	defer pipes.closeWriters()
	files := append([]*os.File{l.null}, pipes.w...)
	if cmd.entry {
		files = append(files, l.lifeline)
	}
	rep := l.request(ctx, startRequest{cmd: cmd, files: files, reply: make(chan startReply, 1)})
	if rep.err != nil {
		pipes.closeReaders()
		return nil, cmd.startError(rep.err)
	}
	return newChild(s, cmd, newProcess(rep), pipes.r), nil
}

func (l *Launcher) request(ctx context.Context, r startRequest) startReply {
	if err := ctx.Err(); err != nil {
		return startReply{err: err}
	}
	select {
	case l.starts <- r:
		return <-r.reply
	case <-ctx.Done():
		return startReply{err: ctx.Err()}
	}
}

func (l *Launcher) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("launcher: %w", os.ErrClosed)
	}
	l.active++
	return nil
}

func (l *Launcher) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}

// Close ends the thread. Every Run must have returned: while one is in
// progress Close changes nothing and says so, because the end of the thread
// would kill its child. Closing twice is harmless.
func (l *Launcher) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active > 0 {
		return fmt.Errorf("close launcher: %d children are running; wait for their Run calls first", l.active)
	}
	if l.closed {
		return nil
	}
	l.closed = true
	close(l.starts)
	<-l.stopped
	return errors.Join(l.lifelineW.Close(), l.lifeline.Close(), l.null.Close())
}
