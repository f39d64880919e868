package harness

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rocstress/childproc/wire"
)

// Names of arms. A single-arm campaign has the arm ArmRun.
const (
	ArmRun       = "run"
	ArmProtected = "protected"
	ArmRemoved   = "removed"
)

// Arm is runs under one configuration.
type Arm struct {
	Name    string   `json:"name"`
	Without []string `json:"without"`         // protection ids, expanded and sorted; empty: as it is
	Group   string   `json:"group,omitempty"` // the group that has just these protections, if one does
}

// Plan is everything that decides what a campaign runs. It is data: the same
// plan with the same seed starts the same children in the same order.
type Plan struct {
	Scenarios []ScenarioPlan `json:"scenarios"`
	Runs      int            `json:"runs"`     // an arm; at least 1
	Children  int            `json:"children"` // a run; at least 1
	Seed      uint64         `json:"seed"`
	Device    string         `json:"device"`      // resolved: what rocm/open.Open takes
	Parallel  int            `json:"parallel"`    // children at once; at least 1
	MaxTime   time.Duration  `json:"max_time_ns"` // the whole campaign; 0: unlimited
	MaxFails  int            `json:"max_fails"`   // stop after so many failed children (comparisons: protected ones); 0: never
}

// ScenarioPlan is one scenario of a campaign with the arms it runs.
type ScenarioPlan struct {
	Name       string            `json:"name"`
	Arms       []Arm             `json:"arms"`
	Settings   wire.Settings     `json:"settings"` // complete: no defaults left to fill
	Env        map[string]string `json:"env"`      // added to the child's environment; "" removes a variable
	Expects    []Outcome         `json:"expects"`
	Contention bool              `json:"contention"`  // required for a verdict
	Deadline   time.Duration     `json:"deadline_ns"` // of one child
}

// Validate reports the first thing that makes the plan impossible to run.
func (p Plan) Validate() error {
	for _, n := range []struct {
		name  string
		value int
	}{{"runs", p.Runs}, {"children", p.Children}, {"parallel", p.Parallel}} {
		if n.value < 1 {
			return fmt.Errorf("plan: %s is %d, at least 1 is needed", n.name, n.value)
		}
	}
	if p.MaxTime < 0 || p.MaxFails < 0 {
		return fmt.Errorf("plan: max time %v and max fails %d must not be negative", p.MaxTime, p.MaxFails)
	}
	if len(p.Scenarios) == 0 {
		return errors.New("plan: no scenario")
	}
	seen := map[string]bool{}
	for _, s := range p.Scenarios {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("plan: scenario %q: names must be given, and once", s.Name)
		}
		seen[s.Name] = true
		if err := s.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (s ScenarioPlan) validate() error {
	if len(s.Arms) == 0 {
		return fmt.Errorf("plan: scenario %s has no arm", s.Name)
	}
	if s.Deadline < 0 {
		return fmt.Errorf("plan: scenario %s: deadline %v must not be negative", s.Name, s.Deadline)
	}
	seen := map[string]bool{}
	for _, a := range s.Arms {
		if a.Name == "" || seen[a.Name] {
			return fmt.Errorf("plan: scenario %s: arm %q: names must be given, and once", s.Name, a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

// comparison reports whether the scenario has a protected arm to compare with.
func (s ScenarioPlan) comparison() bool {
	return slices.ContainsFunc(s.Arms, func(a Arm) bool { return a.Name == ArmProtected })
}

// planned returns how many children the plan has in all.
func (p Plan) planned() int {
	n := 0
	for _, s := range p.Scenarios {
		n += len(s.Arms) * p.Runs * p.Children
	}
	return n
}
