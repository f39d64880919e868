package sched

import (
	"slices"
	"strconv"
)

// lockState is a lock as a controlled run sees it. The zero value is unlocked.
type lockState struct {
	world   *controller // the run that used the lock last
	label   string      // its name there, or a number
	writer  *task       // holds the lock alone
	waiting *task       // has stopped new readers, and waits for those left
	readers []*task     // hold the lock together, one entry a hold
}

// free reports whether a task can start to take the lock, alone or shared.
func (s *lockState) free() bool { return s.writer == nil && s.waiting == nil }

func (s *lockState) holders() []string {
	var names []string
	if s.writer != nil {
		names = append(names, s.writer.thread.name)
	}
	if s.waiting != nil {
		names = append(names, s.waiting.thread.name+" (waiting for readers)")
	}
	for _, t := range s.readers {
		names = append(names, t.thread.name)
	}
	return names
}

// enter makes s a lock of c's run. One that an earlier run left locked starts
// afresh: whoever held it is gone. Locks without a name are numbered in order
// of first use, which the same choices repeat.
func (s *lockState) enter(c *controller, name string) {
	if s.world == c {
		return
	}
	if name == "" {
		c.mutexes++
		name = "#" + strconv.Itoa(c.mutexes)
	}
	*s = lockState{world: c, label: name}
}

func (t *task) acquire(s *lockState, name string) {
	t.check()
	s.enter(t.ctl, name)
	t.lock = s
	t.pass(OpLock, s.label)
	if len(s.readers) > 0 {
		s.waiting = t
		t.pass(OpDrain, s.label)
		s.waiting = nil
	}
	s.writer = t
}

func (t *task) release(s *lockState, name string) {
	if t.ctl.result.End == running {
		t.checkOwner()
		if s.enter(t.ctl, name); s.writer != t {
			panic("sched: " + t.thread.name + " unlocks " + s.label + ", which it does not hold")
		}
	}
	s.writer = nil
}

func (t *task) share(s *lockState, name string) {
	t.check()
	s.enter(t.ctl, name)
	t.lock = s
	t.pass(OpRLock, s.label)
	s.readers = append(s.readers, t)
}

func (t *task) unshare(s *lockState, name string) {
	i := slices.Index(s.readers, t)
	if t.ctl.result.End == running {
		t.checkOwner()
		if s.enter(t.ctl, name); i < 0 {
			panic("sched: " + t.thread.name + " read-unlocks " + s.label + ", which it does not hold")
		}
	}
	if i >= 0 {
		s.readers = slices.Delete(s.readers, i, i+1)
	}
}
