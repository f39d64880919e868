package scenarios

import (
	"context"
	"time"

	"rocstress/childproc/wire"
	"rocstress/rocm"
)

// firstGEMM is the seed's test: the first GEMMs of a process race the creation
// of its one rocBLAS handle and its stream binding.
func firstGEMM() Scenario {
	return Scenario{
		Name: "first-gemm",
		Doc:  "8 threads, own stream each, race the first GEMM of the process; every result is checked exactly",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 33, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "off",
		},
		Guards: []rocm.Protection{
			rocm.RocBLASInitLock, rocm.RocBLASPublishAfterCreate, rocm.RocBLASBindLock, rocm.RocBLASStatusCheck,
		},
		Remove:      []string{"old-device"},
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.F32)
			if err != nil {
				return err
			}
			return w.runGEMMs(ctx, w.checkOutputs, w.checkAllRocBLAS, w.checkOneHandle)
		},
	}
}
