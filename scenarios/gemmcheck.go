package scenarios

import (
	"fmt"

	"rocstress/childproc/wire"
	"rocstress/harness/oracle"
	"rocstress/rocm"
)

// check judges everything the threads left behind, also after an error: every
// finished output, the route of every GEMM and the life of the handle.
func (w *gemmWork) check() error {
	if err := w.checkOutputs(); err != nil {
		return err
	}
	if err := w.checkRoutes(); err != nil {
		return err
	}
	h := w.dev.Handles()
	return w.env.Check("one-handle", h.Live() == 1,
		"%d rocBLAS handles created, %d destroyed: %d live, want 1", h.Created, h.Destroyed, h.Live())
}

// badOutputs counts the outputs of one kind and keeps the first.
type badOutputs struct {
	n     int
	first string
}

func (w *gemmWork) checkOutputs() error {
	size, cols := w.env.Spec.Settings.Shape.M*w.env.Spec.Settings.Shape.N, w.env.Spec.Settings.Shape.N
	bad := map[oracle.Kind]*badOutputs{oracle.Unwritten: {}, oracle.NaN: {}, oracle.Wrong: {}}
	total := 0
	for i, t := range w.workers {
		if t == nil {
			continue
		}
		for r := range t.rounds {
			total++
			v := oracle.Compare(t.hostC.Words[r*size:(r+1)*size], t.want[r], cols, w.poison(i, r))
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
	return w.env.Check("outputs", true, "%d of %d outputs exact", total, total)
}

func (w *gemmWork) checkRoutes() error {
	off, total := 0, 0
	var route rocm.Route
	for _, t := range w.workers {
		if t != nil {
			total += t.rounds
			if off += t.offRoute; t.offRoute > 0 {
				route = t.firstOffRoute
			}
		}
	}
	if off > 0 {
		return w.env.Check("route", false, "%d of %d GEMMs did not take rocBLAS but %s", off, total, route)
	}
	return w.env.Check("route", true, "%d GEMMs took rocBLAS", total)
}
