package sim

import "rocstress/harness/sched"

// The points of the simulated runtime: the places inside its calls at which a
// real runtime may be slow.
const (
	// PointCreate is passed before each step of a handle creation.
	PointCreate sched.Point = "sim.blas.create"
	// PointSetStream is passed before a new binding takes hold.
	PointSetStream sched.Point = "sim.blas.set-stream"
	// PointReadStream is passed between the choice of a kernel and the
	// reading of the handle's stream.
	PointReadStream sched.Point = "sim.blas.read-stream"
	// PointDequeue is passed by a stream's worker before each operation.
	PointDequeue sched.Point = "sim.stream.dequeue"
	// PointCompile is passed before a kernel is compiled.
	PointCompile sched.Point = "sim.rtc.compile"
)

// Points returns every point, in the order above.
func Points() []sched.Point {
	return []sched.Point{PointCreate, PointSetStream, PointReadStream, PointDequeue, PointCompile}
}
