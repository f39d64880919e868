package scenarios

import (
	"context"
	"fmt"
	"time"

	"rocstress/childproc/wire"
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// leaseReentry asks for availability and panics while a lease is held, between
// exact GEMMs: neither may leave the lock behind.
func leaseReentry() Scenario {
	return Scenario{
		Name: "lease-reentry",
		Doc:  "threads ask for availability and panic under a lease, between GEMMs: the lock is always given back",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 16, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "off",
		},
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.F32)
			if err != nil {
				return err
			}
			w.before = w.reenter
			return w.runGEMMs(ctx, w.checkOutputs, w.checkAllRocBLAS, w.checkOneHandle)
		},
	}
}

// reenter is what a thread does ahead of each GEMM, under a lease that a panic
// ends.
func (w *gemmWork) reenter(th *sched.Thread, t *gemmWorker) (err error) {
	type planned struct{}
	defer func() {
		if p := recover(); p != nil && p != any(planned{}) {
			panic(p)
		}
	}()
	lease, err := w.dev.AcquireRocBLAS(th, t.stream)
	if err != nil {
		return err
	}
	defer lease.Release(th)
	if !w.dev.RocBLASAvailable(th) {
		return fmt.Errorf("rocBLAS is unavailable to the holder of a lease")
	}
	panic(planned{})
}
