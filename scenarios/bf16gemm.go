package scenarios

import (
	"context"
	"time"

	"rocstress/childproc/wire"
	"rocstress/rocm"
)

// bf16GEMM is first-gemm in bf16, through the same handle. Its results are
// compared within the bound of what matrix units round.
func bf16GEMM() Scenario {
	return Scenario{
		Name: "bf16-gemm",
		Doc:  "8 threads race the first bf16 GEMM of the process through rocBLAS; results are compared within their rounding bound",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 16, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "off",
		},
		Guards: []rocm.Protection{
			rocm.RocBLASInitLock, rocm.RocBLASPublishAfterCreate, rocm.RocBLASBindLock, rocm.RocBLASStatusCheck,
		},
		Remove:      []string{"locks"},
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.BF16)
			if err != nil {
				return err
			}
			return w.runGEMMs(ctx, w.checkOutputs, w.checkAllRocBLAS, w.checkOneHandle)
		},
	}
}
