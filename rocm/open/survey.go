package open

import (
	"rocstress/harness/sched"
	"rocstress/rocm/hip"
	"rocstress/rocm/sim"
)

// Findings are what Survey found.
type Findings = hip.Findings

// Target is an architecture to compile kernels for, in Findings.
type Target = hip.Target

// Survey looks for the libraries and devices of the real runtime and names
// everything that is missing at once. It loads libraries: a process that must
// outlive a bad one runs it in a child.
func Survey() Findings { return hip.Survey() }

// Points returns the points inside the drivers' own calls, simulated ones
// first.
func Points() []sched.Point { return append(sim.Points(), hip.Points()...) }
