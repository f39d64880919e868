package conformance

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

type changedBF16 struct {
	*sim.Driver
	change func(g *rocm.GemmEx)
}

func (b changedBF16) RocBLASGemmEx(th *sched.Thread, h rocm.BLAS, g rocm.GemmEx) error {
	b.change(&g)
	return b.Driver.RocBLASGemmEx(th, h, g)
}

// oneRowMore writes behind each column where there is room.
func oneRowMore(g *rocm.GemmEx) {
	if g.M < g.LDC && g.M < g.LDA {
		g.M++
	}
}

// wholeWords clears the neighbour of a result that ends in the middle of a
// word.
type wholeWords struct{ *sim.Driver }

func (b wholeWords) RocBLASGemmEx(th *sched.Thread, h rocm.BLAS, g rocm.GemmEx) error {
	if g.LDC*g.N%2 == 1 && g.LDC == g.M {
		last := g.C + rocm.Ptr(g.LDC*g.N/2*4)
		if err := errors.Join(b.MemsetD32Async(th, last, 0, 1, 0), b.StreamSynchronize(th, 0)); err != nil {
			return err
		}
	}
	return b.Driver.RocBLASGemmEx(th, h, g)
}

type lostBF16 struct{ *sim.Driver }

func (b lostBF16) RocBLASGemmEx(*sched.Thread, rocm.BLAS, rocm.GemmEx) error { return nil }

type bf16NullSucceeds struct{ *sim.Driver }

func (b bf16NullSucceeds) RocBLASGemmEx(th *sched.Thread, h rocm.BLAS, g rocm.GemmEx) error {
	if h == 0 {
		return nil
	}
	return b.Driver.RocBLASGemmEx(th, h, g)
}

type bf16NullWrites struct{ *sim.Driver }

func (b bf16NullWrites) RocBLASGemmEx(th *sched.Thread, h rocm.BLAS, g rocm.GemmEx) error {
	err := b.Driver.RocBLASGemmEx(th, h, g)
	if h == 0 {
		err = errors.Join(b.MemsetD32Async(th, g.C, 0, 1, 0), err)
	}
	return err
}

// TestBF16IsTakenAsTheMatrixUnitRounds runs the clause on an architecture that
// is exact too; the other tests run on one that is not.
func TestBF16IsTakenAsTheMatrixUnitRounds(t *testing.T) {
	for _, arch := range []string{"gfx90a", "gfx1151"} {
		d := opener(t, func(c *sim.Config) { c.Arch = arch })()
		rt := sched.Free(nil)
		(&suite{drv: d, rt: rt, limit: clauseLimit}).run(t, named("multiplies bf16 within its bound"))
		NewWithT(t).Expect(d.Close(rt.NewThread("end"))).To(Succeed())
		rt.Wait()
	}
}
