package harness

import (
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
	Without []string `json:"without"` // protection ids, expanded and sorted; empty: as it is
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
