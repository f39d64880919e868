package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

// Store keeps what a campaign finds as it finds it. A campaign calls Append
// and Evidence one at a time; Sync may run beside them.
type Store interface {
	// Append keeps one record. When it returns the record survives the death
	// of this process.
	Append(r Record) error
	// Evidence keeps the files of a failed child. It is called before Append
	// of its record, so that a record's evidence is there.
	Evidence(k Key, files []File) error
	// Sync makes everything appended so far survive the death of the machine.
	Sync() error
}

// Campaign runs the children of a plan.
type Campaign struct {
	Plan Plan
	// Run runs one child, as childproc.Launcher does. It is called by
	// Plan.Parallel goroutines at once.
	Run func(ctx context.Context, s childproc.Spec) (childproc.Exit, error)
	// Path is the program that the children run; "" is this executable.
	Path string
	// Environ is the environment that the children start from; nil is that of
	// this process.
	Environ []string
	// Store may be nil: nothing is kept.
	Store Store
	// Earlier yields the records that earlier executions of this very plan
	// left, each child once, as results.Dir.Records does. They are counted,
	// and their children not run again unless they were not measured. What
	// remains keeps its order and its seeds. Nil: there are none.
	Earlier func(yield func(r Record) error) error
	// Device is what the children are expected to open; nil: what the first
	// one does that gets so far. A child with other libraries is flagged.
	Device *wire.Device
	// Described is told what the first child opened where Device is nil, once,
	// before the record of that child is kept. May be nil.
	Described func(d wire.Device) error
	// Observe sees every finished child, one at a time, and must be quick: the
	// campaign waits for it. May be nil.
	Observe func(Progress)
}

// Progress is how far a campaign has come.
type Progress struct {
	Record  Record // of the child that has just finished
	Done    int    // children finished, of all arms and scenarios
	Earlier int    // of those, before this execution
	Planned int
	Elapsed time.Duration
	Arm     ArmProgress // of Record
}

// ArmProgress counts one arm of one scenario.
type ArmProgress struct {
	Scenario, Arm         string
	Done, Planned         int
	Failed, NotMeasured   int
	RunsFailed, RunsEnded int
}

// StopInterrupted is Stopped of a campaign whose context ended. Those that
// reached max-time or max-fails say so in words of their own.
const StopInterrupted = "interrupted"

// Result is what a campaign came to.
type Result struct {
	Tallies []*Tally     // one a scenario, in the plan's order
	Device  *wire.Device // Campaign.Device, or as the first child described it; nil where none did
	Earlier int          // children counted that earlier executions had run
	Started time.Time    // UTC
	Dur     time.Duration
	Stopped string // why it ended early; empty: it ran as planned
}

// UnkillableError says that a child survived SIGKILL. Nothing that is measured
// beside it, or after it on the same device, can be trusted.
type UnkillableError struct {
	Key Key
	PID int
}

// Error names the child and what to do.
func (e *UnkillableError) Error() string {
	return fmt.Sprintf("child %d of run %d, %s, of %s (pid %d) survived SIGKILL: the campaign ends here; look for the cause in the kernel log, and restart the machine if the process stays",
		e.Key.Child, e.Key.Run, e.Key.Arm, e.Key.Scenario, e.PID)
}

var errMaxTime = errors.New("max-time reached")

// Execute runs the plan to its end, until ctx ends, or until its limits are
// reached. When ctx ends or max-time is reached, running children are ended
// and count as not measured; when max-fails is reached, they finish.
//
// The Result is valid in every case and holds what was measured. The error
// says that the harness failed: *UnkillableError, an error of the Store or an
// error of Run that is no *childproc.StartError. Memory does not grow with the
// number of children, but for a key of each earlier one.
func (c Campaign) Execute(ctx context.Context) (Result, error) {
	if err := c.Plan.Validate(); err != nil {
		return Result{}, err
	}
	e := &execution{c: c, started: time.Now(), device: c.Device, stopStarting: make(chan struct{}), sync: make(chan struct{}, 1)}
	for _, s := range c.Plan.Scenarios {
		e.tallies = append(e.tallies, NewTally(c.Plan, s))
	}
	if err := e.restore(); err != nil {
		return e.result(ctx), err
	}
	running := ctx
	if c.Plan.MaxTime > 0 {
		var cancel context.CancelFunc
		running, cancel = context.WithTimeoutCause(ctx, c.Plan.MaxTime, errMaxTime)
		defer cancel()
	}
	err := e.run(running)
	return e.result(running), err
}

// result is called when all goroutines have ended.
func (e *execution) result(running context.Context) Result {
	stopped := e.stopped(running)
	e.mu.Lock()
	defer e.mu.Unlock()
	return Result{
		Tallies: e.tallies, Device: e.device, Earlier: len(e.earlier), Started: e.started.UTC(), Dur: time.Since(e.started),
		Stopped: stopped,
	}
}

// execution is one Execute.
type execution struct {
	c            Campaign
	started      time.Time
	earlier      map[Key]bool  // children that need not run; complete before the first one starts
	stopStarting chan struct{} // closed once max-fails is reached
	sync         chan struct{} // a run has ended since the last sync

	mu          sync.Mutex
	tallies     []*Tally     // guarded by mu
	device      *wire.Device // guarded by mu
	done        int          // guarded by mu
	fails       int          // guarded by mu; those that count for max-fails
	interrupted int          // guarded by mu; children that were ended before their end
}

type job struct {
	scenario int
	key      Key
}

func (e *execution) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	jobs := make(chan job)
	g.Go(func() error {
		defer close(jobs)
		for scenario, key := range e.c.Plan.order() {
			if e.earlier[key] {
				continue
			}
			select { // a limit reached beats a free worker
			case <-ctx.Done():
				return nil
			case <-e.stopStarting:
				return nil
			default:
			}
			select {
			case jobs <- job{scenario, key}:
			case <-ctx.Done():
				return nil
			case <-e.stopStarting:
				return nil
			}
		}
		return nil
	})
	var workers sync.WaitGroup
	for range e.c.Plan.Parallel {
		workers.Add(1)
		g.Go(func() error {
			defer workers.Done()
			for j := range jobs {
				if err := e.child(ctx, j); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if e.c.Store != nil {
		g.Go(func() error { return e.syncRuns() })
	}
	g.Go(func() error {
		workers.Wait()
		close(e.sync)
		return nil
	})
	return g.Wait()
}

// syncRuns syncs the store at run ends, beside the children.
func (e *execution) syncRuns() error {
	for range e.sync {
		if err := e.c.Store.Sync(); err != nil {
			return fmt.Errorf("sync results: %w", err)
		}
	}
	if err := e.c.Store.Sync(); err != nil {
		return fmt.Errorf("sync results: %w", err)
	}
	return nil
}

func (e *execution) child(ctx context.Context, j job) error {
	obs, err := e.c.RunChild(ctx, j.key)
	if err != nil {
		return err
	}
	stopped := ctx.Err() != nil
	if stopped && obs.PID == 0 {
		return nil // it was not started any more
	}
	if err := e.keep(j, obs); err != nil {
		return err
	}
	if obs.Unkillable {
		return &UnkillableError{Key: j.key, PID: obs.PID}
	}
	return nil
}

// keep stores and counts one observation.
func (e *execution) keep(j job, obs Observation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.describe(&obs); err != nil {
		return err
	}
	r := obs.Record
	if e.c.Store != nil {
		if len(obs.Files) > 0 {
			if err := e.c.Store.Evidence(j.key, obs.Files); err != nil {
				return fmt.Errorf("store evidence: %w", err)
			}
		}
		if err := e.c.Store.Append(r); err != nil {
			return fmt.Errorf("store a record: %w", err)
		}
	}
	e.done++
	if r.Outcome == NotMeasured && obs.PID != 0 {
		e.interrupted++
	}
	tally := e.tallies[j.scenario]
	if tally.Add(r) {
		select {
		case e.sync <- struct{}{}:
		default: // one is due already
		}
	}
	e.countFail(j, r)
	if e.c.Observe != nil {
		e.c.Observe(Progress{
			Record: r, Done: e.done, Earlier: len(e.earlier), Planned: e.c.Plan.planned(),
			Elapsed: time.Since(e.started), Arm: tally.progress(r.Arm),
		})
	}
	return nil
}

// describe compares what a child opened with what the first one did. The
// caller holds mu.
func (e *execution) describe(obs *Observation) error {
	switch {
	case obs.Device == nil:
		return nil
	case e.device != nil:
		obs.Record.Flags.OtherLibraries = obs.Record.Libraries != Fingerprint(e.device.Libraries)
		return nil
	}
	e.device = obs.Device
	if e.c.Described == nil {
		return nil
	}
	if err := e.c.Described(*obs.Device); err != nil {
		return fmt.Errorf("keep what the first child opened: %w", err)
	}
	return nil
}

// countFail is called with mu held, or before any child runs.
func (e *execution) countFail(j job, r Record) {
	p := e.c.Plan
	if p.MaxFails == 0 || !r.Outcome.Failed() || p.Scenarios[j.scenario].comparison() && r.Arm != ArmProtected {
		return
	}
	e.fails++
	if e.fails == p.MaxFails {
		close(e.stopStarting)
	}
}

// stopped says why the campaign ended early. All goroutines have ended.
func (e *execution) stopped(running context.Context) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.c.Plan
	switch {
	case e.done == p.planned() && e.interrupted == 0:
		return ""
	case p.MaxFails > 0 && e.fails >= p.MaxFails:
		return fmt.Sprintf("max-fails: %d children failed", e.fails)
	case errors.Is(context.Cause(running), errMaxTime):
		return fmt.Sprintf("max-time: %v were over", p.MaxTime)
	case running.Err() != nil:
		return StopInterrupted
	}
	return "the harness failed"
}
