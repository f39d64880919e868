package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rocstress/childproc/wire"
	"rocstress/rocm"
)

// failingCreates is how many creations fail: one is asked for directly, the
// others by the first GEMMs, several a thread, before one succeeds.
const failingCreates = 33

// createFailure lets the first creations of the handle fail. While they do,
// every GEMM takes the naive kernel and stays exact; nothing is remembered, so
// the first creation that works puts GEMMs back on rocBLAS.
func createFailure() Scenario {
	return injecting(Scenario{
		Name: "create-failure",
		Doc:  "the first 33 creations of the handle fail: errors carry the status, GEMMs stay exact, the retry succeeds",
		Seed: "#2198",
		Defaults: wire.Settings{
			Threads: 8, Rounds: 16, Shape: wire.Shape{M: 64, K: 128, N: 64}, Inputs: "mixed", Load: "off",
		},
		Guards:      []rocm.Protection{rocm.RocBLASRetryAfterFailure, rocm.RocBLASPublishAfterCreate},
		Remove:      []string{string(rocm.RocBLASRetryAfterFailure)},
		Expects:     []string{"launch_error"}, // the failed creations and their warning
		Contention:  true,
		SimDeadline: 10 * time.Second, // usually under 1 s
		Env:         map[string]string{"MLX_NO_HIPBLASLT": "1"},
		Body: func(ctx context.Context, env *Env) error {
			w, err := newGEMMWork(env, rocm.F32)
			if err != nil {
				return err
			}
			if err := env.checkStatus("create-status", w.tryAcquire(), rocm.CallRocBLASCreateHandle, rocm.RocBLASInternalError); err != nil {
				return err
			}
			return w.runGEMMs(ctx, w.checkOutputs, w.checkRecovery, w.checkOneHandle, env.checkOneWarning)
		},
	}, fmt.Sprintf("create-fails=%d,create-status=%d", failingCreates, rocm.RocBLASInternalError))
}

// checkRecovery requires that GEMMs went back to rocBLAS as soon as a creation
// worked: those that failed, one a GEMM, took the naive kernel and no other.
// Where there were fewer GEMMs than failures it asks on until one works.
func (w *gemmWork) checkRecovery() error {
	rocBLAS, naive := w.routes()
	want := min(failingCreates-1, rocBLAS+naive)
	recovered := false
	for range failingCreates {
		if recovered = w.tryAcquire() == nil; recovered {
			break
		}
	}
	return w.env.Check("retry", naive == want && recovered,
		"%d GEMMs took the naive kernel and %d rocBLAS, want %d and %d: one a failed creation; available in the end: %t",
		naive, rocBLAS, want, rocBLAS+naive-want, recovered)
}

// tryAcquire acquires the handle for the body's own stream, gives it back and
// returns the error.
func (w *gemmWork) tryAcquire() error {
	lease, err := w.dev.AcquireRocBLAS(w.env.Thread, w.stream)
	if err == nil {
		lease.Release(w.env.Thread)
	}
	return err
}

// checkStatus requires err to carry the status code of call. Where it does,
// the failure was provoked.
func (e *Env) checkStatus(name string, err error, call string, code int) error {
	var st *rocm.StatusError
	ok := errors.As(err, &st) && st.Call == call && st.Code == code
	if ok {
		if err := e.Events.Send(wire.Event{Kind: wire.KindProvoked, Provoked: "launch_error"}); err != nil {
			return err
		}
	}
	return e.Check(name, ok, "want %s to fail with %s (%d), got: %v", call, rocm.RocBLASStatusName(code), code, err)
}

// checkOneWarning requires that the Device warned exactly once.
func (e *Env) checkOneWarning() error {
	n := e.warnings.Load()
	return e.Check("one-warning", n == 1, "the Device warned %d times, want once", n)
}
