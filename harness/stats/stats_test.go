package stats_test

import (
	"math"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/harness/stats"
)

// Reference values: R 4 binom.test and fisher.test, Newcombe (1998) table II,
// and, where a closed form exists, that.
func TestClopperPearsonAgainstPublishedValues(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		failed, n int
		low, high float64
	}{
		{0, 200, 0, 0.01827553}, // 1 - 0.025^(1/200)
		{0, 10, 0, 0.3084971},   // binom.test(0, 10)
		{10, 10, 0.6915029, 1},
		{1, 10, 0.002528579, 0.4450161}, // binom.test(1, 10)
		{5, 10, 0.1870860, 0.8129140},   // binom.test(5, 10)
		{15, 100, 0.08645439, 0.2353079},
	} {
		got := stats.ClopperPearson(c.failed, c.n, 0.95)
		g.Expect(got.Low).To(BeNumerically("~", c.low, 1e-6), "%d of %d", c.failed, c.n)
		g.Expect(got.High).To(BeNumerically("~", c.high, 1e-6), "%d of %d", c.failed, c.n)
	}
	g.Expect(stats.ClopperPearson(0, 0, 0.95)).To(Equal(stats.Interval{Low: 0, High: 1}))
}

func TestUpperBoundOfNoFailure(t *testing.T) {
	g := NewWithT(t)
	g.Expect(stats.UpperBound(0, 200, 0.95)).To(BeNumerically("~", 1-math.Pow(0.05, 1.0/200), 1e-12))
	g.Expect(stats.UpperBound(0, 200, 0.95)).To(BeNumerically("~", 0.0149, 0.0001)) // "below 1.5 %"
	g.Expect(stats.UpperBound(0, 3000, 0.95)).To(BeNumerically("~", 3.0/3000, 1e-5))
	g.Expect(stats.UpperBound(7, 7, 0.95)).To(Equal(1.0))
	g.Expect(stats.LowerBound(7, 7, 0.95)).To(BeNumerically("~", math.Pow(0.05, 1.0/7), 1e-12))
	g.Expect(stats.LowerBound(0, 7, 0.95)).To(Equal(0.0))
}

// binomialAtMost returns P(X <= k) by adding up probabilities: nothing of the
// beta function is in it.
func binomialAtMost(k, n int, p float64) float64 {
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += binomial(i, n, p)
	}
	return sum
}

func binomial(k, n int, p float64) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

func TestBoundsInvertTheBinomial(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		n := rapid.IntRange(2, 200).Draw(rt, "n")
		k := rapid.IntRange(1, n-1).Draw(rt, "failed")
		confidence := rapid.SampledFrom([]float64{0.8, 0.95, 0.99}).Draw(rt, "confidence")
		i := stats.ClopperPearson(k, n, confidence)
		tail := (1 - confidence) / 2
		g.Expect(binomialAtMost(k, n, i.High)).To(BeNumerically("~", tail, 1e-8))
		g.Expect(1 - binomialAtMost(k-1, n, i.Low)).To(BeNumerically("~", tail, 1e-8))
		g.Expect(binomialAtMost(k, n, stats.UpperBound(k, n, confidence))).To(BeNumerically("~", 1-confidence, 1e-8))
	})
}

func TestCoverageIsNeverBelowTheConfidence(t *testing.T) {
	g := NewWithT(t)
	for _, n := range []int{10, 30, 200} {
		intervals := make([]stats.Interval, n+1)
		for k := range intervals {
			intervals[k] = stats.ClopperPearson(k, n, 0.95)
		}
		for step := 1; step < 400; step++ {
			p := float64(step) / 400
			covered := 0.0
			for k, i := range intervals {
				if i.Low <= p && p <= i.High {
					covered += binomial(k, n, p)
				}
			}
			g.Expect(covered).To(BeNumerically(">=", 0.95-1e-9), "n %d, true rate %v", n, p)
		}
	}
}

func TestIntervalProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		n := rapid.IntRange(1, 500).Draw(rt, "n")
		k := rapid.IntRange(0, n).Draw(rt, "failed")
		i, mirror := stats.ClopperPearson(k, n, 0.95), stats.ClopperPearson(n-k, n, 0.95)
		g.Expect(i.Low).To(BeNumerically("~", 1-mirror.High, 1e-9))
		rate := float64(k) / float64(n)
		g.Expect(i.Low).To(BeNumerically("<=", rate))
		g.Expect(i.High).To(BeNumerically(">=", rate))
		g.Expect(stats.ClopperPearson(k, n, 0.99).Width()).To(BeNumerically(">", i.Width()))
		if k > 0 {
			less := stats.ClopperPearson(k-1, n, 0.95)
			g.Expect(less.Low).To(BeNumerically("<", i.Low))
			g.Expect(less.High).To(BeNumerically("<", i.High+1e-15))
		}
		wide := stats.Widened(k, n, rapid.Float64Range(0, 8).Draw(rt, "effect"), 0.95)
		g.Expect(wide.Low).To(BeNumerically("<=", i.Low+1e-12))
		g.Expect(wide.High).To(BeNumerically(">=", i.High-1e-12))
	})
}

func TestImpossibleCountsPanic(t *testing.T) {
	g := NewWithT(t)
	for name, call := range map[string]func(){
		"more failed than ran": func() { stats.ClopperPearson(3, 2, 0.95) },
		"negative":             func() { stats.FisherExact(-1, 2, 0, 2) },
		"confidence 95":        func() { stats.UpperBound(0, 2, 95) },
		"effect NaN":           func() { stats.Widened(1, 2, math.NaN(), 0.95) },
	} {
		g.Expect(call).To(Panic(), name)
	}
}
