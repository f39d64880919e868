package scenarios

import (
	"context"
	"errors"
	"fmt"

	"rocstress/childproc/wire"
	"rocstress/harness/oracle"
	"rocstress/rocm"
)

// runGEMMs runs the threads, makes the checks and releases everything. Checks
// are made after an error too: what was measured is not lost.
func (w *gemmWork) runGEMMs(ctx context.Context, checks ...func() error) error {
	errs := []error{w.run(ctx)}
	for _, check := range checks {
		errs = append(errs, check())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return w.release()
}

// checkOneHandle requires that one rocBLAS handle was made and none leaked.
func (w *gemmWork) checkOneHandle() error {
	h := w.dev.Handles()
	return w.env.Check("one-handle", h.Live() == 1,
		"%d rocBLAS handles created, %d destroyed: %d live, want 1", h.Created, h.Destroyed, h.Live())
}

// badOutputs counts the outputs of one kind and keeps the first.
type badOutputs struct {
	n     int
	first string
}

// checkOutputs compares every finished output with its reference.
func (w *gemmWork) checkOutputs() error {
	bad := map[oracle.Kind]*badOutputs{oracle.Unwritten: {}, oracle.NaN: {}, oracle.Wrong: {}}
	total := 0
	for i, t := range w.workers {
		if t == nil {
			continue
		}
		for r := range t.rounds {
			total++
			v := w.judge(t, i, r)
			if v.OK {
				continue
			}
			b := bad[v.Kind]
			if b.n == 0 {
				b.first = fmt.Sprintf("thread %d, round %d: %v", i, r, v)
			}
			b.n++
		}
	}
	clean := true
	for _, k := range []struct {
		kind oracle.Kind
		wire string
	}{{oracle.Unwritten, wire.FailUnwritten}, {oracle.NaN, wire.FailNaN}, {oracle.Wrong, wire.FailWrong}} {
		b := bad[k.kind]
		if b.n == 0 {
			continue
		}
		clean = false
		c := wire.Check{Name: "outputs", Kind: k.wire, Count: b.n,
			Detail: fmt.Sprintf("%d of %d outputs %s; first: %s", b.n, total, k.kind, b.first)}
		if err := w.env.Events.Send(wire.Event{Kind: wire.KindCheck, Check: &c}); err != nil {
			return err
		}
	}
	if !clean {
		return nil
	}
	return w.env.Check("outputs", true, "%d of %d outputs right", total, total)
}

// judge compares the output of one round of a thread.
func (w *gemmWork) judge(t *gemmWorker, index, r int) oracle.Verdict {
	_, _, c := w.words()
	s, got := w.env.Spec.Settings.Shape, t.hostC.Words[r*c:(r+1)*c]
	if w.typ == rocm.BF16 {
		return oracle.CompareBF16(got, t.want[r], t.magnitude[r], s.K, s.N, w.poison(index, r))
	}
	return oracle.Compare(got, t.want[r], s.N, w.poison(index, r))
}

// routes counts the finished GEMMs by the route they took.
func (w *gemmWork) routes() (rocBLAS, naive int) {
	for _, t := range w.workers {
		if t != nil {
			rocBLAS, naive = rocBLAS+t.rounds-t.naive, naive+t.naive
		}
	}
	return rocBLAS, naive
}

// checkAllRocBLAS requires that every finished GEMM took rocBLAS.
func (w *gemmWork) checkAllRocBLAS() error {
	rocBLAS, naive := w.routes()
	return w.env.Check("route", naive == 0, "%d GEMMs took rocBLAS, %d the naive kernel; want all on rocBLAS", rocBLAS, naive)
}
