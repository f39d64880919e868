package stats_test

import (
	"math"
	"math/big"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/harness/stats"
)

func TestFisherAgainstPublishedValues(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		fa, na, fb, nb int
		p, tolerance   float64
	}{
		{3, 220, 0, 220, 0.2483, 5e-5},
		{8, 8, 0, 8, 2.0 / 12870, 1e-12},    // two of C(16,8) tables: 0.00016
		{3, 4, 1, 4, 0.4857143, 1e-7},       // Fisher's tea: fisher.test(matrix(c(3,1,1,3),2))
		{10, 13, 2, 17, 0.0005367241, 1e-9}, // convictions of twins: fisher.test(matrix(c(2,10,15,3),2))
		{0, 10, 0, 10, 1, 0},
		{10, 10, 10, 10, 1, 0},
		{0, 0, 3, 10, 1, 0},
	} {
		g.Expect(stats.FisherExact(c.fa, c.na, c.fb, c.nb)).To(BeNumerically("~", c.p, c.tolerance), "%+v", c)
	}
	g.Expect(stats.FisherExact(187, 200, 0, 200)).To(BeNumerically("<", 1e-90))
	g.Expect(stats.FisherExact(187, 200, 0, 200)).To(BeNumerically(">", 0))
	g.Expect(stats.FisherExact(50, 200, 0, 200)).To(BeNumerically("<", 1e-15))
}

// bruteFisher adds up whole numbers of tables: no logarithm, no tolerance.
func bruteFisher(fa, na, fb, nb int) float64 {
	ways := func(k int) *big.Int {
		a := new(big.Int).Binomial(int64(na), int64(k))
		return a.Mul(a, new(big.Int).Binomial(int64(nb), int64(fa+fb-k)))
	}
	seen, at, all := ways(fa), new(big.Int), new(big.Int)
	for k := 0; k <= na; k++ {
		if fa+fb-k < 0 || fa+fb-k > nb {
			continue
		}
		w := ways(k)
		all.Add(all, w)
		if w.Cmp(seen) <= 0 {
			at.Add(at, w)
		}
	}
	p, _ := new(big.Rat).SetFrac(at, all).Float64()
	return p
}

func TestFisherAgreesWithCountingTables(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		na := rapid.IntRange(1, 120).Draw(rt, "na")
		nb := rapid.IntRange(1, 120).Draw(rt, "nb")
		fa := rapid.IntRange(0, na).Draw(rt, "fa")
		fb := rapid.IntRange(0, nb).Draw(rt, "fb")
		p := stats.FisherExact(fa, na, fb, nb)
		want := bruteFisher(fa, na, fb, nb)
		g.Expect(p).To(BeNumerically("~", want, 1e-9*want))
		g.Expect(stats.FisherExact(fb, nb, fa, na)).To(BeNumerically("~", p, 1e-9*p), "arms swapped")
		g.Expect(stats.FisherExact(na-fa, na, nb-fb, nb)).To(BeNumerically("~", p, 1e-9*p), "passes for failures")
	})
}

func TestFisherFallsWithMoreFailuresAgainstNone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		n := rapid.IntRange(2, 3000).Draw(rt, "n")
		k := rapid.IntRange(1, n-1).Draw(rt, "failed")
		more, less := stats.FisherExact(k+1, n, 0, n), stats.FisherExact(k, n, 0, n)
		g.Expect(more).To(BeNumerically("<=", less))
		g.Expect(more).To(BeNumerically(">=", 0))
	})
}

// Values of Newcombe (1998), table II, method 10.
func TestDifferenceAgainstPublishedValues(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		fa, na, fb, nb int
		low, high      float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.1705, 0.8090},
		{6, 7, 2, 7, 0.0582, 0.8062},
		{5, 56, 0, 29, -0.0381, 0.1926},
		{0, 10, 0, 20, -0.1611, 0.2775},
		{10, 10, 0, 10, 0.6075, 1},
	} {
		got := stats.Difference(stats.Sample{Failed: c.fa, N: c.na}, stats.Sample{Failed: c.fb, N: c.nb}, 0.95)
		g.Expect(got.Low).To(BeNumerically("~", c.low, 5.1e-5), "%+v", c)
		g.Expect(got.High).To(BeNumerically("~", c.high, 5.1e-5), "%+v", c)
	}
	g.Expect(stats.Difference(stats.Sample{}, stats.Sample{Failed: 1, N: 2}, 0.95)).To(Equal(stats.Interval{Low: -1, High: 1}))
}

func TestDifferenceProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		sample := func(name string) stats.Sample {
			n := rapid.IntRange(1, 400).Draw(rt, name)
			return stats.Sample{Failed: rapid.IntRange(0, n).Draw(rt, name+" failed"), N: n}
		}
		a, b := sample("a"), sample("b")
		d, back := stats.Difference(a, b, 0.95), stats.Difference(b, a, 0.95)
		g.Expect(d.Low).To(BeNumerically("~", -back.High, 1e-12))
		g.Expect(d.Low).To(BeNumerically("<=", a.Rate()-b.Rate()+1e-12))
		g.Expect(d.High).To(BeNumerically(">=", a.Rate()-b.Rate()-1e-12))
		a.Effect, b.Effect = 3, 2
		g.Expect(stats.Difference(a, b, 0.95).Width()).To(BeNumerically(">=", d.Width()-1e-12))
	})
}

func TestChildrenToSettle(t *testing.T) {
	g := NewWithT(t)
	g.Expect(stats.ChildrenToSettle(stats.Sample{Failed: 3, N: 220}, 0.05)).To(Equal(440))
	g.Expect(stats.ChildrenToSettle(stats.Sample{Failed: 1, N: 1}, 0.05)).To(Equal(4)) // 4 of 4 against 0 of 4: 2/70
	g.Expect(stats.ChildrenToSettle(stats.Sample{N: 200}, 0.05)).To(Equal(0))
}

func TestChildrenToSettleIsTheFewest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		n := rapid.IntRange(1, 60).Draw(rt, "n")
		s := stats.Sample{Failed: rapid.IntRange(1, n).Draw(rt, "failed"), N: n}
		p := func(n int) float64 { k := n * s.Failed / s.N; return stats.FisherExact(k, n, 0, n) }
		need := stats.ChildrenToSettle(s, 0.05)
		g.Expect(p(need)).To(BeNumerically("<", 0.05))
		for m := 1; m < need; m++ {
			g.Expect(p(m)).To(BeNumerically(">=", 0.05), "%d children would do", m)
		}
	})
}

func TestDesignEffect(t *testing.T) {
	g := NewWithT(t)
	effect := func(size int, failed ...int) float64 {
		var c stats.Clusters
		for _, f := range failed {
			c.Add(f, size)
		}
		return c.DesignEffect()
	}
	// Children that all share the fate of their run are worth one each: with
	// m runs of size s the effect is s m/(m-1).
	g.Expect(effect(10, 10, 0, 10, 0)).To(BeNumerically("~", 10*4.0/3, 1e-12))
	// Runs that are all alike: below independence.
	g.Expect(effect(10, 5, 5, 5, 5)).To(BeNumerically("~", 0, 1e-12))
	g.Expect(effect(10, 5)).To(Equal(1.0), "one run says nothing")
	g.Expect(effect(10, 0, 0, 0)).To(Equal(1.0))
	g.Expect(effect(10, 10, 10)).To(Equal(1.0))
	var unequal stats.Clusters
	for _, r := range [][2]int{{1, 4}, {3, 6}, {0, 0}, {2, 10}} {
		unequal.Add(r[0], r[1])
	}
	// p = 6/20; sum (k - p n)^2 = 0.04 + 1.44 + 1 = 2.48; times 3/2 / 400;
	// over p (1-p) / 20.
	g.Expect(unequal.DesignEffect()).To(BeNumerically("~", 2.48*1.5/400/(0.21/20), 1e-12))
}

// Independent children scatter as the binomial says: over many campaigns the
// mean effect is near 1.
func TestDesignEffectOfIndependentChildrenIsNearOne(t *testing.T) {
	g := NewWithT(t)
	state, sum := uint64(1), 0.0
	const campaigns = 400
	for range campaigns {
		var c stats.Clusters
		for range 20 {
			failed := 0
			for range 10 {
				state = state*6364136223846793005 + 1442695040888963407
				if state>>33&1 == 1 {
					failed++
				}
			}
			c.Add(failed, 10)
		}
		sum += c.DesignEffect()
	}
	g.Expect(sum / campaigns).To(BeNumerically("~", 1, 0.06))
	g.Expect(math.IsNaN(sum)).To(BeFalse())
}
