package sched

import (
	"math/rand/v2"
	"slices"
)

// Strategy decides a controlled run, one switch point at a time. It is used by
// one schedule at a time and need not be safe for concurrent use.
type Strategy interface {
	// Next returns the index into s.Enabled of the task to run. It is called
	// once for every step, also where there is one choice only. s.Enabled is
	// valid until it returns.
	Next(s State) int
}

// State is what a Strategy decides on.
type State struct {
	Current int      // the task that ran last; -1 where it has ended or is disabled
	Enabled []Choice // by task id, never empty
	Step    int      // from 0
}

// Choice is a task that can run.
type Choice struct {
	ID   int // from 0, the root, in order of start
	Name string
	Op   Op     // where the task stands
	At   string // see Step
}

// index returns the place of a task in s.Enabled, or -1.
func (s State) index(task int) int {
	return slices.IndexFunc(s.Enabled, func(c Choice) bool { return c.ID == task })
}

// RandomWalk returns a Strategy that picks uniformly among the enabled tasks at
// every switch point. The same seed gives the same schedule. Used again, it
// goes on where it was: the next schedule is another one.
func RandomWalk(seed uint64) Strategy {
	const stream = 0x5eed
	return &randomWalk{rng: rand.New(rand.NewPCG(seed, stream))}
}

type randomWalk struct{ rng *rand.Rand }

func (w *randomWalk) Next(s State) int {
	if len(s.Enabled) == 1 {
		return 0
	}
	return w.rng.IntN(len(s.Enabled))
}

// Replay returns a Strategy that follows the Choices of an earlier Schedule.
// Where a chosen task is not enabled, and after the last choice, it runs the
// current task on, or else the one with the lowest id, so that a shortened list
// is a schedule as well. Whether an old schedule was really followed is told by
// comparing Steps. It serves one schedule.
func Replay(choices []int) Strategy { return &replay{choices: choices} }

type replay struct{ choices []int }

func (r *replay) Next(s State) int {
	wanted := s.Current
	if len(r.choices) > 0 {
		wanted, r.choices = r.choices[0], r.choices[1:]
	}
	if i := s.index(wanted); i >= 0 {
		return i
	}
	return max(s.index(s.Current), 0)
}
