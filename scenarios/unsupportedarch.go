package scenarios

import (
	"context"
	"errors"
	"time"

	"rocstress/childproc/wire"
	"rocstress/rocm"
)

// unsupportedArch runs on an architecture without rocBLAS kernels: the refusal
// is permanent, no handle is ever created, and GEMMs stay exact.
func unsupportedArch() Scenario {
	return injecting(Scenario{
		Name: "unsupported-arch",
		Doc:  "an architecture that rocBLAS has no kernels for: permanent refusal, one warning, exact GEMMs on the naive kernel",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 8, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "off",
		},
		Expects:     []string{"launch_error"}, // the one warning
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.F32)
			if err != nil {
				return err
			}
			return w.runGEMMs(ctx, w.checkOutputs, w.checkRefused, env.checkOneWarning)
		},
	}, "arch=gfx1010")
}

func (w *gemmWork) checkRefused() error {
	if err := w.tryAcquire(); !errors.Is(err, rocm.ErrUnsupportedArch) {
		return w.env.Check("refusal", false, "want %q, got: %v", rocm.ErrUnsupportedArch, err)
	}
	rocBLAS, naive := w.routes()
	created := w.dev.Handles().Created
	return w.env.Check("refusal", rocBLAS == 0 && created == 0,
		"%d GEMMs took the naive kernel and %d rocBLAS, %d handles created; want all naive and no handle", naive, rocBLAS, created)
}
