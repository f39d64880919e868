// Package team runs a scenario's threads in the child: goroutines locked to OS
// threads of their own, released together by one barrier whose skew and overlap
// are measured, each with a recorder that shares nothing with the others.
//
// Only team locks OS threads. A controlled run (sched.Explore) must not: it
// starts its tasks with sched.Go.
package team

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"rocstress/childproc/wire"
	"rocstress/harness/sched"
)

// Config says what a team consists of.
type Config struct {
	Threads int            // members; at least 1
	Runtime *sched.Runtime // a free one; nil: a new one without delays
	Name    string         // of the members' threads, "NAME-INDEX"; "": "member"
}

// Result is what a team measured.
type Result struct {
	// SkewNS is per member how many nanoseconds after the first one it left
	// the barrier; nil if the barrier never opened.
	SkewNS []int64
	// Overlap is the most members that were at once between their release and
	// the end of their first operation. Members without an operation do not
	// count.
	Overlap int
	// Ops is what the members recorded, by thread and round. Times are on the
	// Runtime's clock.
	Ops []wire.Op
	// Errs is what each member's body returned.
	Errs []error
}

// Run starts cfg.Threads members that each run body, waits for all of them, and
// returns what they measured together with the earliest error of a body, wrapped
// with the member's name; it can be matched. It is a *BrokenError only where no
// body failed on its own. The Result holds what was measured nevertheless.
//
// The ctx that body gets is cancelled by the first member that returns an
// error. Cancelling the caller's ctx breaks the barrier for those who wait.
//
// A panic in body ends the process, as in any goroutine. GOMAXPROCS is raised
// while the team runs, so that no member waits for another's turn, and put back
// after; it belongs to the process, so one Run at a time.
func Run(ctx context.Context, cfg Config, body func(ctx context.Context, m *Member) error) (Result, error) {
	if cfg.Threads < 1 {
		return Result{}, fmt.Errorf("start a team of %d threads: at least 1 is needed", cfg.Threads)
	}
	if cfg.Runtime == nil {
		cfg.Runtime = sched.Free(nil)
	}
	if cfg.Name == "" {
		cfg.Name = "member"
	}
	cores, restore := raiseProcs(cfg.Threads)
	defer restore()
	members := make([]*Member, cfg.Threads)
	b := newBarrier(cfg.Threads, cores >= cfg.Threads)
	defer breakOnCancel(ctx, b)()
	group, ctx := errgroup.WithContext(ctx)
	for i := range members {
		m := &Member{Index: i, barrier: b}
		members[i] = m
		group.Go(func() error {
			// Never unlocked: the OS thread, with whatever a C library left
			// in its thread-local storage, ends with the goroutine.
			runtime.LockOSThread()
			m.Thread = cfg.Runtime.NewThread(fmt.Sprintf("%s-%d", cfg.Name, i))
			return m.run(ctx, body)
		})
	}
	_ = group.Wait() // whichever it noticed first; firstError goes by the clock
	return collect(members), firstError(members)
}

// raiseProcs lets threads goroutines run at once beside everything that ran
// before. It returns how many of them the machine can really run at once: the
// affinity mask, or less where GOMAXPROCS says so, which heeds a CPU quota.
func raiseProcs(threads int) (cores int, restore func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + threads)
	return min(runtime.NumCPU(), before), func() { runtime.GOMAXPROCS(before) }
}

// breakOnCancel breaks b when ctx ends. The returned function ends the watch
// and waits until it is over.
func breakOnCancel(ctx context.Context, b *barrier) (stop func()) {
	over := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(over)
		b.breakBy("the caller", context.Cause(ctx))
	})
	return func() {
		if !unwatch() {
			<-over
		}
	}
}

// firstError returns the earliest error of members. A member notes the time
// before it breaks the barrier, so a cause is always earlier than its echoes.
func firstError(members []*Member) error {
	var first *Member
	for _, m := range members {
		if m.err != nil && (first == nil || m.ended < first.ended) {
			first = m
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", first.Thread.Name(), first.err)
}
