package harness_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"rocstress/childproc"
	"rocstress/childproc/wire"
	"rocstress/harness"
)

var oldDevice = []string{"rocblas-bind-lock", "rocblas-init-lock"}

// comparison is a plan of one scenario with the arms protected and removed.
func comparison(runs, children int) harness.Plan {
	return harness.Plan{
		Runs: runs, Children: children, Seed: 7, Device: "sim:arch=gfx1151", Parallel: 1,
		Scenarios: []harness.ScenarioPlan{{
			Name: "first-gemm",
			Arms: []harness.Arm{{Name: harness.ArmProtected}, {Name: harness.ArmRemoved, Without: oldDevice}},
			Settings: wire.Settings{
				Threads: 8, Rounds: 33, Shape: wire.Shape{M: 64, K: 128, N: 128}, Inputs: "mixed", Load: "off",
			},
			Env:        map[string]string{"MLX_NO_HIPBLASLT": "1", "HIP_VISIBLE_DEVICES": ""},
			Contention: true, Deadline: 3 * time.Second,
		}},
	}
}

func single(runs, children int, without ...string) harness.Plan {
	p := comparison(runs, children)
	p.Scenarios[0].Arms = []harness.Arm{{Name: harness.ArmRun, Without: without}}
	return p
}

var simDevice = wire.Device{Driver: "sim", Simulated: true, Name: "sim", Arch: "gfx1151"}

// play acts a child: what it sends, prints and ends with.
type play struct {
	events []wire.Event
	stderr []string // chunks
	exit   childproc.Exit
	err    error
}

// running are the events of a child that reached its barrier.
func running(more ...wire.Event) []wire.Event {
	hello := simDevice
	return append([]wire.Event{
		{Kind: wire.KindHello, Hello: &wire.Hello{V: 1, PID: 9, Device: hello}},
		{Kind: wire.KindPhase, Phase: wire.PhaseRun},
		{Kind: wire.KindRelease, Release: &wire.Release{SkewNS: []int64{0, 900, 400}, Overlap: 3}},
	}, more...)
}

func check(ok bool, kind, detail string) wire.Event {
	return wire.Event{Kind: wire.KindCheck, Check: &wire.Check{Name: "outputs", OK: ok, Kind: kind, Detail: detail, Count: 2}}
}

var done = wire.Event{Kind: wire.KindDone}

func passing() play { return play{events: running(check(true, "", ""), done)} }

func unwritten() play {
	return play{events: running(check(false, wire.FailUnwritten, "thread 3, round 0: 8192 of 8192 words poisoned"), done)}
}

func segfault() play {
	return play{events: running(), exit: childproc.Exit{Code: -1, Signal: syscall.SIGSEGV}}
}

// theatre is a Run without processes. It notes every start.
type theatre struct {
	// script acts the child with these orders. It may block.
	script func(ctx context.Context, o wire.Spec) play

	mu     sync.Mutex
	starts []childproc.Spec // guarded by mu
}

func (t *theatre) run(ctx context.Context, s childproc.Spec) (childproc.Exit, error) {
	t.mu.Lock()
	t.starts = append(t.starts, s)
	t.mu.Unlock()
	p := t.script(ctx, s.Orders)
	if p.err != nil {
		return childproc.Exit{}, p.err
	}
	for _, e := range p.events {
		s.OnEvent(e)
	}
	for _, chunk := range p.stderr {
		s.Observe(childproc.Stderr, []byte(chunk))
	}
	p.exit.PID, p.exit.Env = 4711, s.Env
	p.exit.Stderr = childproc.Output{Head: []byte("stderr of the child\n")}
	return p.exit, nil
}

func (t *theatre) orders() []wire.Spec {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []wire.Spec
	for _, s := range t.starts {
		all = append(all, s.Orders)
	}
	return all
}

func always(p play) func(context.Context, wire.Spec) play {
	return func(context.Context, wire.Spec) play { return p }
}

// removedFails acts children of the removed arm by the play, others pass.
func removedFails(p play) func(context.Context, wire.Spec) play {
	return func(_ context.Context, o wire.Spec) play {
		if o.Arm == harness.ArmRemoved {
			return p
		}
		return passing()
	}
}

// shelf is a Store in memory.
type shelf struct {
	mu       sync.Mutex
	records  []harness.Record               // guarded by mu
	evidence map[harness.Key][]harness.File // guarded by mu
	early    []harness.Key                  // guarded by mu; appended before their evidence
	syncs    int                            // guarded by mu
	fail     func(r harness.Record) error   // may be nil
}

func (s *shelf) Append(r harness.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(r); err != nil {
			return err
		}
	}
	if _, ok := s.evidence[r.Key()]; r.Outcome.Failed() && !ok {
		s.early = append(s.early, r.Key())
	}
	s.records = append(s.records, r)
	return nil
}

func (s *shelf) Evidence(k harness.Key, files []harness.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.evidence == nil {
		s.evidence = map[harness.Key][]harness.File{}
	}
	s.evidence[k] = files
	return nil
}

func (s *shelf) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.syncs++
	return nil
}

func (s *shelf) file(k harness.Key, name string) string {
	i := slices.IndexFunc(s.evidence[k], func(f harness.File) bool { return f.Name == name })
	if i < 0 {
		return "no file " + name
	}
	return string(s.evidence[k][i].Data)
}

func keys(m map[harness.Key][]harness.File) []harness.Key { return slices.Collect(maps.Keys(m)) }
