package team

import (
	"context"
	"errors"
	"time"

	"rocstress/harness/sched"
)

// Op is one operation of a member. Times are on its Thread's clock.
type Op struct {
	Round  int
	Route  string // the GEMM route taken; "" where there is none
	Status string // "ok", or the error
	Start  time.Duration
	End    time.Duration
}

// cacheLine separates what different members write. Two lines, because x86
// fetches them in pairs.
const cacheLine = 128

// Member is one thread of a team. Its methods are called by its body's
// goroutine alone.
type Member struct {
	Index  int
	Thread *sched.Thread // of this member's locked OS thread

	barrier  *barrier
	arrived  bool
	passed   bool
	released time.Duration // valid once passed
	first    bool          // firstEnd is valid
	firstEnd time.Duration
	ops      []Op
	ended    time.Duration // when body returned
	err      error         // what body returned

	_ [cacheLine]byte // members are written while others run
}

// opsHint is the room for operations that a member starts with, so that the
// first ones, whose overlap counts, do not wait for the allocator.
const opsHint = 64

func (m *Member) run(ctx context.Context, body func(ctx context.Context, m *Member) error) error {
	m.ops = make([]Op, 0, opsHint)
	err := errLeft // stays where body panics or calls runtime.Goexit
	defer func() {
		m.ended, m.err = m.Thread.Now(), err
		if !m.arrived {
			m.barrier.breakBy(m.Thread.Name(), err)
		}
	}()
	err = body(ctx, m)
	return err
}

var errLeft = errors.New("the body did not return")

// Barrier waits until every member of the team is here, then releases all of
// them together and notes the time. It is called once a member at most; a
// second call panics. Where a member ends before it arrived, or the team's ctx
// ends, it returns a *BrokenError, and body should return it.
func (m *Member) Barrier() error {
	if m.arrived {
		panic("team: Barrier called twice by " + m.Thread.Name())
	}
	m.arrived = true
	if err := m.barrier.wait(); err != nil {
		return err
	}
	m.released = m.Thread.Now()
	m.passed = true
	return nil
}

// Record keeps op in the member's own buffer. The first one recorded after the
// barrier is the member's first operation, unless FirstOpDone was called.
func (m *Member) Record(op Op) {
	m.ops = append(m.ops, op)
	if m.passed && !m.first {
		m.first, m.firstEnd = true, op.End
	}
}

// FirstOpDone notes that the member's first operation ends now, for a body
// whose Record comes much later.
func (m *Member) FirstOpDone() {
	if m.passed && !m.first {
		m.first, m.firstEnd = true, m.Thread.Now()
	}
}
