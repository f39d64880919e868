package sched

import (
	"fmt"
	"strings"
	"time"
)

// End is how a schedule ended.
type End uint8

// The ends of a schedule.
const (
	running  End = iota
	Done         // the root returned; tasks still there were aborted
	Deadlock     // the root had not, no task was enabled and no deadline was pending
	Livelock     // Config.MaxSteps ran out
	Crashed      // a task called Thread.Abort
	Panicked     // a task panicked, or a condition it waited for did
)

// String returns the end's name, such as "deadlock".
func (e End) String() string {
	return [...]string{"running", "done", "deadlock", "livelock", "crashed", "panicked"}[e]
}

// Op is what a task stands before at a switch point, or has just done.
type Op uint8

// The operations.
const (
	OpStart   Op = iota // before the task's first step
	OpPoint             // at a Point
	OpLock              // before Mutex.Lock or RWMutex.Lock
	OpDrain             // in RWMutex.Lock, which has stopped new readers, before those left unlock
	OpRLock             // before RWMutex.RLock
	OpWait              // before the condition of WaitUntil holds
	OpTimeout           // as OpWait, where the deadline ends the wait
	OpSleep             // before the end of Sleep or Busy
	OpGo                // behind Go: the new task is enabled
	OpJoin              // before the other task has returned
)

// String returns the operation's name, such as "lock".
func (o Op) String() string {
	return [...]string{"start", "point", "lock", "drain", "rlock", "wait", "timeout", "sleep", "go", "join"}[o]
}

// Step is one step of a schedule: which task was let run, and where it stood.
// It ran to its next switch point.
type Step struct {
	Task int
	Name string // of the task
	Op   Op
	At   string // point, lock, condition or task; "" where Op has none
}

// String returns a line such as `worker-1 lock rocblas`.
func (s Step) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s", s.Name, s.Op, s.At), " ")
}

// BlockedTask is a task that could not run when the schedule ended.
type BlockedTask struct {
	Task    int
	Name    string
	Op      Op
	At      string   // the lock, condition or task it waits for
	Holders []string // names of the tasks that hold the lock
}

// String returns a line such as "worker-1: lock rocblas, held by worker-0".
func (b BlockedTask) String() string {
	line := fmt.Sprintf("%s: %s %s", b.Name, b.Op, b.At)
	if len(b.Holders) > 0 {
		line += ", held by " + strings.Join(b.Holders, ", ")
	}
	return line
}

// Schedule is what one controlled run did and came to. It shares nothing with
// later runs.
type Schedule struct {
	Steps   []Step // nil with Config.NoSteps
	Choices []int  // the task id of each step: what Replay takes
	End     End
	Task    int           // whose Abort or panic ended it; -1 otherwise
	Blocked []BlockedTask // Deadlock, Livelock: who waits for what, by task id
	Crash   string        // Crashed: the reason given to Abort
	Panic   any           // Panicked: the value
	Stack   string        // Panicked: the goroutine's stack where it panicked
	Clock   time.Duration // the virtual clock at the end
}
