package scenarios

import (
	"context"
	"fmt"
	"time"

	"rocstress/childproc/wire"
	"rocstress/harness/sched"
	"rocstress/rocm"
)

// resetProbe asks for bf16 while other threads multiply, on a device whose
// first bf16 GEMM fails: nobody may notice the question.
func resetProbe() Scenario {
	return injecting(Scenario{
		Name: "reset-probe",
		Doc:  "one thread asks whether bf16 works, where it does not, while the others multiply: nobody's GEMM may notice",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 16, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "off",
		},
		Guards:      []rocm.Protection{rocm.NoResetProbe},
		Remove:      []string{string(rocm.NoResetProbe)},
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.F32)
			if err != nil {
				return err
			}
			w.before = w.askBF16Halfway
			return w.runGEMMs(ctx, w.checkOutputs, w.checkAllRocBLAS, w.checkOneHandle)
		},
	}, fmt.Sprintf("gemm-ex-fails=1,gemm-ex-status=%d", rocm.RocBLASInternalError))
}

// askBF16Halfway is what the first thread does once, ahead of the middle one
// of its rounds: the others are at work then.
func (w *gemmWork) askBF16Halfway(th *sched.Thread, t *gemmWorker) error {
	if t == w.workers[0] && t.rounds == w.env.Spec.Settings.Rounds/2 && !w.dev.RocBLASBF16Available(th) {
		return w.env.Check("bf16-available", false, "bf16 GEMMs are refused where f32 ones take rocBLAS")
	}
	return nil
}
