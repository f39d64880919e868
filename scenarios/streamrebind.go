package scenarios

import (
	"context"
	"fmt"
	"time"

	"rocstress/childproc/wire"
	"rocstress/rocm"
)

// streamRebind races the stream binding alone: the handle exists before the
// threads start, and their streams are loaded so that order matters.
func streamRebind() Scenario {
	return Scenario{
		Name: "stream-rebind",
		Doc:  "8 threads rebind the one existing rocBLAS handle to their own loaded streams",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 33, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "auto",
		},
		Guards:      []rocm.Protection{rocm.RocBLASBindLock},
		Remove:      []string{string(rocm.RocBLASBindLock)},
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.F32)
			if err != nil {
				return err
			}
			if err := w.tryAcquire(); err != nil {
				return fmt.Errorf("create the handle before the race: %w", err)
			}
			return w.runGEMMs(ctx, w.checkOutputs, w.checkAllRocBLAS, w.checkOneHandle)
		},
	}
}
