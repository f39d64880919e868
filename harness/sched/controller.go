package sched

import "time"

// Placeholder of the controlled mode.
type controller struct{}
type task struct{}

func (t *task) yieldAt(Point)                                     {}
func (t *task) now() time.Duration                                { return 0 }
func (t *task) sleep(time.Duration)                               {}
func (t *task) spawn(string, func(*Thread)) *Task                 { return nil }
func (t *task) join(*task)                                        {}
func (t *task) lock(*Mutex)                                       {}
func (t *task) unlock(*Mutex)                                     {}
func (t *task) lockRW(*RWMutex)                                   {}
func (t *task) unlockRW(*RWMutex)                                 {}
func (t *task) rlock(*RWMutex)                                    {}
func (t *task) runlock(*RWMutex)                                  {}
func (t *task) wait(string, time.Duration, bool, func() bool) bool { return false }
