// Package scenarios holds what rocstress stresses: one file a scenario, each a
// value with a body and an exact oracle, and one list of them.
package scenarios

import (
	"context"
	"sync/atomic"
	"time"

	"rocstress/childproc/wire"
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// Scenario is one named piece of concurrent work with an exact oracle.
type Scenario struct {
	Name     string
	Doc      string        // one line
	Seed     string        // the public issue it comes from
	Defaults wire.Settings // complete
	// Guards lists the protections whose removal this scenario is there to
	// notice. What compare removes by default is Remove.
	Guards []rocm.Protection
	Remove []string // protection ids or groups
	// Expects lists the outcomes the body provokes on purpose.
	Expects []string
	// Inject are settings of a simulated device, key=value,..., that make it
	// fail as the scenario needs. A test ABI library gets them through its
	// environment; real ROCm cannot fail on demand, and such a child reports
	// no_device there.
	Inject     string
	Contention bool // a verdict needs threads that really overlapped
	// SimDeadline bounds one child on a simulated device: ten times its usual
	// time there, at least 3 s. A real device has HipDeadline.
	SimDeadline time.Duration
	// Env is what the child's environment must say; an empty value removes
	// the variable.
	Env  map[string]string
	Body func(ctx context.Context, env *Env) error
}

// HipDeadline bounds one child on a real device: creation of a rocBLAS handle
// alone was seen to take seconds (838 to 2220 ms with 8 threads).
const HipDeadline = 120 * time.Second

// Env is what a body works with.
type Env struct {
	Spec    wire.Spec // Settings complete
	Runtime *sched.Runtime
	Thread  *sched.Thread // of the goroutine that runs Body, locked to its OS thread
	Driver  rocm.Driver
	Removed rocm.Set
	Events  *wire.Writer

	device   rocm.DeviceProps
	warnings atomic.Int64 // of the Devices that NewDevice returned
}
