package scenarios

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rocstress/childproc/wire"
	"rocstress/rocm"
)

// setStreamFailure lets the first bind fail: the error names the status, and
// the stream counts as not bound, so that later GEMMs are exact.
func setStreamFailure() Scenario {
	return injecting(Scenario{
		Name: "set-stream-failure",
		Doc:  "the first rocblas_set_stream fails: the error carries the status, and nothing counts as bound",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 8, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "off",
		},
		Guards:      []rocm.Protection{rocm.RocBLASStatusCheck},
		Remove:      []string{string(rocm.RocBLASStatusCheck)},
		Expects:     []string{"launch_error"},
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.F32)
			if err != nil {
				return err
			}
			if err := w.checkFailedBind(); err != nil {
				return err
			}
			return w.runGEMMs(ctx, w.checkOutputs, w.checkAllRocBLAS, w.checkOneHandle)
		},
	}, fmt.Sprintf("set-stream-fails=1,set-stream-status=%d", rocm.RocBLASInternalError))
}

func (w *gemmWork) checkFailedBind() error {
	err := w.tryAcquire()
	if err := w.env.checkStatus("set-stream-status", err, rocm.CallRocBLASSetStream, rocm.RocBLASInternalError); err != nil {
		return err
	}
	want := fmt.Sprintf("%s failed (status %d)", rocm.CallRocBLASSetStream, rocm.RocBLASInternalError)
	return w.env.Check("set-stream-text", err != nil && strings.HasPrefix(err.Error(), want), "want %q, got: %v", want, err)
}
