package sched

import "sync"

// Mutex is a mutual exclusion lock on the seam. The zero value is unlocked. A
// Mutex must not be copied.
type Mutex struct {
	mu    sync.Mutex // free
	owner *task      // controlled; nil when unlocked
	name  string
}

// NewMutex returns a Mutex whose name appears in deadlock reports.
func NewMutex(name string) *Mutex { return &Mutex{name: name} }

// Lock blocks th until it holds m. Controlled: a switch point, at which the
// task is disabled while another holds m.
func (m *Mutex) Lock(th *Thread) {
	if th.task != nil {
		th.task.lock(m)
		return
	}
	m.mu.Lock()
}

// Unlock releases m. It panics if th's run is controlled and th does not hold
// m. While an aborted schedule unwinds, it is no switch point and never panics.
func (m *Mutex) Unlock(th *Thread) {
	if th.task != nil {
		th.task.unlock(m)
		return
	}
	m.mu.Unlock()
}

// RWMutex is a reader/writer lock on the seam. The zero value is unlocked.
type RWMutex struct {
	mu      sync.RWMutex // free
	writer  *task        // controlled
	readers int          // controlled
	name    string
}

// NewRWMutex returns an RWMutex whose name appears in deadlock reports.
func NewRWMutex(name string) *RWMutex { return &RWMutex{name: name} }

// Lock blocks th until it holds m alone.
func (m *RWMutex) Lock(th *Thread) {
	if th.task != nil {
		th.task.lockRW(m)
		return
	}
	m.mu.Lock()
}

// Unlock releases a lock taken by Lock.
func (m *RWMutex) Unlock(th *Thread) {
	if th.task != nil {
		th.task.unlockRW(m)
		return
	}
	m.mu.Unlock()
}

// RLock blocks th until it shares m with other readers.
func (m *RWMutex) RLock(th *Thread) {
	if th.task != nil {
		th.task.rlock(m)
		return
	}
	m.mu.RLock()
}

// RUnlock releases a lock taken by RLock.
func (m *RWMutex) RUnlock(th *Thread) {
	if th.task != nil {
		th.task.runlock(m)
		return
	}
	m.mu.RUnlock()
}
