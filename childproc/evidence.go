package childproc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// evidenceInterval lies between the two readings of CPU time: twenty clock
	// ticks, so that a busy thread is told from an idle one.
	evidenceInterval = 200 * time.Millisecond
	// maxThreads bounds evidence. A GPU runtime has some dozens of threads.
	maxThreads = 1024
	// clockTick is the unit of times in /proc/PID/stat: USER_HZ is 100 on all
	// architectures that Go supports (proc_pid_stat(5), asm-generic/param.h).
	clockTick = 10 * time.Millisecond
)

// Evidence is what the kernel says about the threads of a child's process
// group.
type Evidence struct {
	At       time.Duration `json:"at_ns"`             // since the start of the child
	Interval time.Duration `json:"interval_ns"`       // between the two readings of CPU time
	Threads  []ThreadState `json:"threads,omitempty"` // the child's own first
	Omitted  int           `json:"omitted,omitempty"` // threads beyond a bound
	Error    string        `json:"error,omitempty"`   // why there is none
}

// ThreadState is one thread.
type ThreadState struct {
	PID       int           `json:"pid"`
	TID       int           `json:"tid"`
	Name      string        `json:"name"`            // untrusted text
	State     string        `json:"state"`           // R, S, D and so on, see proc_pid_stat(5)
	WChan     string        `json:"wchan,omitempty"` // the kernel function it sleeps in; "" if running or not told
	CPUBefore time.Duration `json:"cpu_before_ns"`   // CPU time used so far, user and system
	CPUAfter  time.Duration `json:"cpu_after_ns"`    // the same, Interval later
	Gone      bool          `json:"gone,omitempty"`  // it had ended by then; CPUAfter is CPUBefore
}

// Busy returns how much CPU time the threads used during Interval.
func (e Evidence) Busy() time.Duration {
	var sum time.Duration
	for _, t := range e.Threads {
		sum += t.CPUAfter - t.CPUBefore
	}
	return sum
}

// collectEvidence looks at the group of the process pid twice. It returns
// early if done is closed meanwhile.
func collectEvidence(pid int, began time.Time, done <-chan struct{}) Evidence {
	first := time.Now()
	e := Evidence{At: first.Sub(began)}
	for _, p := range groupMembers(pid) {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", p))
		if err != nil || len(tasks) == 0 {
			continue // it ended
		}
		for _, dir := range tasks {
			if len(e.Threads) == maxThreads {
				e.Omitted++
				continue
			}
			if t, ok := readThread(dir); ok {
				t.PID = p
				e.Threads = append(e.Threads, t)
			}
		}
	}
	if len(e.Threads) == 0 {
		e.Error = fmt.Sprintf("/proc/%d/task: nothing could be read", pid)
		return e
	}
	endsWithin(done, evidenceInterval)
	e.Interval = time.Since(first)
	for i := range e.Threads {
		t := &e.Threads[i]
		now, ok := readThread(fmt.Sprintf("/proc/%d/task/%d", t.PID, t.TID))
		t.Gone = !ok
		t.CPUAfter = max(t.CPUBefore, now.CPUBefore)
	}
	return e
}

// groupMembers returns pid and the other processes of its group: the program
// that hangs may have been started by a script.
func groupMembers(pid int) []int {
	pids := []int{pid}
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return pids
	}
	for _, dir := range names {
		p, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || p == pid {
			continue
		}
		if _, f, ok := readStat(dir); ok && f[statPgrp] == strconv.Itoa(pid) {
			pids = append(pids, p)
		}
	}
	return pids
}

// readThread reads one directory of /proc/PID/task. CPU time comes from
// schedstat, in nanoseconds, where the kernel keeps it.
func readThread(dir string) (ThreadState, bool) {
	name, f, ok := readStat(dir)
	if !ok {
		return ThreadState{}, false
	}
	tid, err := strconv.Atoi(filepath.Base(dir))
	if err != nil {
		return ThreadState{}, false
	}
	t := ThreadState{TID: tid, Name: name, State: f[statState]}
	t.CPUBefore = clockTick * time.Duration(number(f[statUtime])+number(f[statStime]))
	if b, err := os.ReadFile(dir + "/schedstat"); err == nil {
		if s := strings.Fields(string(b)); len(s) > 0 {
			t.CPUBefore = max(t.CPUBefore, time.Duration(number(s[0])))
		}
	}
	if b, err := os.ReadFile(dir + "/wchan"); err == nil && string(b) != "0" {
		t.WChan = string(b)
	}
	return t, true
}

// Fields of stat after the name, in the order of proc_pid_stat(5) from (3).
const (
	statState = 0
	statPgrp  = 2
	statUtime = 11
	statStime = 12
)

// readStat reads dir/stat: the name, which may hold blanks and parentheses,
// and the fields after it.
func readStat(dir string) (name string, fields []string, ok bool) {
	b, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return "", nil, false
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return "", nil, false
	}
	fields = strings.Fields(string(b[end+1:]))
	return string(b[open+1 : end]), fields, len(fields) > statStime
}

// number reads a decimal of /proc; what is none counts as zero.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
