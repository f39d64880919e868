package sched

// Windows for tests: what the code under a schedule cannot ask.

// Held reports whether a task of a controlled run holds m.
func (m *Mutex) Held() bool { return m.state.writer != nil }

// WriterWaits reports whether a task waits for m's readers.
func (m *RWMutex) WriterWaits() bool { return m.state.waiting != nil }

// Waits reports whether the task stands before a condition. It is looked at by
// another task of the same schedule.
func (t *Task) Waits() bool { return t.task.op == OpWait }

// RuntimeOf returns th's Runtime.
func RuntimeOf(th *Thread) *Runtime { return th.rt }
