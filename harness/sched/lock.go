package sched

import "sync"

// Mutex is a mutual exclusion lock on the seam. The zero value is unlocked. A
// Mutex must not be copied.
type Mutex struct {
	mu    sync.Mutex // free
	state lockState  // controlled
	name  string
}

// NewMutex returns a Mutex whose name appears in deadlock reports.
func NewMutex(name string) *Mutex { return &Mutex{name: name} }

// Lock blocks th until it holds m. Controlled: a switch point, at which the
// task is disabled while another holds m.
func (m *Mutex) Lock(th *Thread) {
	if th.task != nil {
		th.task.acquire(&m.state, m.name)
		return
	}
	m.mu.Lock()
}

// Unlock releases m. It panics if th's run is controlled and th does not hold
// m. While an aborted schedule unwinds, it is no switch point and never panics.
func (m *Mutex) Unlock(th *Thread) {
	if th.task != nil {
		th.task.release(&m.state, m.name)
		return
	}
	m.mu.Unlock()
}

// RWMutex is a reader/writer lock on the seam. The zero value is unlocked. A
// RWMutex must not be copied.
type RWMutex struct {
	mu    sync.RWMutex // free
	state lockState    // controlled
	name  string
}

// NewRWMutex returns an RWMutex whose name appears in deadlock reports.
func NewRWMutex(name string) *RWMutex { return &RWMutex{name: name} }

// Lock blocks th until it holds m alone. As with sync.RWMutex, readers that
// come while a writer waits for those before them have to wait in turn.
// Controlled: a switch point, and a second one where readers hold m.
func (m *RWMutex) Lock(th *Thread) {
	if th.task != nil {
		th.task.acquire(&m.state, m.name)
		return
	}
	m.mu.Lock()
}

// Unlock releases a lock taken by Lock, with the rules of Mutex.Unlock.
func (m *RWMutex) Unlock(th *Thread) {
	if th.task != nil {
		th.task.release(&m.state, m.name)
		return
	}
	m.mu.Unlock()
}

// RLock blocks th until it shares m with other readers.
func (m *RWMutex) RLock(th *Thread) {
	if th.task != nil {
		th.task.share(&m.state, m.name)
		return
	}
	m.mu.RLock()
}

// RUnlock releases a lock taken by RLock, with the rules of Mutex.Unlock.
func (m *RWMutex) RUnlock(th *Thread) {
	if th.task != nil {
		th.task.unshare(&m.state, m.name)
		return
	}
	m.mu.RUnlock()
}
