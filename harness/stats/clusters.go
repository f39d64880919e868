package stats

import "math"

// Clusters sums up runs, so that the design effect of any number of them needs
// a few numbers only. The zero value is ready. Not safe for concurrent use.
type Clusters struct {
	runs       int
	failed, n  float64
	ff, fn, nn float64 // sums over runs of failed^2, failed*n and n^2
}

// Add adds one run of n children, of which failed failed. A run without
// children counts for nothing.
func (c *Clusters) Add(failed, n int) {
	mustCount(failed, n)
	if n == 0 {
		return
	}
	f, m := float64(failed), float64(n)
	c.runs++
	c.failed += f
	c.n += m
	c.ff += f * f
	c.fn += f * m
	c.nn += m * m
}

// DesignEffect returns by how much the variance of the failure rate exceeds
// that of as many independent children: 1 for independent children, up to the
// size of a run where children of a run all share its fate. Below 1 runs
// resemble each other more than chance would have it, which is chance again
// where runs are few. It is 1 where nothing can be said: fewer than two runs,
// or no child or every child failed.
//
// Source: the ratio estimator over clusters of unequal size, Rao and Scott,
// Biometrics 48 (1992).
func (c *Clusters) DesignEffect() float64 {
	if c.runs < 2 || c.failed == 0 || c.failed == c.n {
		return 1
	}
	p, m := c.failed/c.n, float64(c.runs)
	squares := c.ff - 2*p*c.fn + p*p*c.nn
	clustered := m / (m - 1) * max(0, squares) / (c.n * c.n)
	return clustered / (p * (1 - p) / c.n)
}

// Widened returns the Clopper-Pearson interval of as many children as the
// design effect leaves: failed and n are divided by it. An effect below 1
// never narrows the interval.
//
// Source: Korn and Graubard, Survey Methodology 24 (1998), without their
// second correction for the number of clusters.
func Widened(failed, n int, designEffect, confidence float64) Interval {
	mustCount(failed, n)
	d := max(1, designEffect)
	if math.IsNaN(d) {
		panic("stats: the design effect is not a number")
	}
	return exact(float64(failed)/d, float64(n)/d, confidence)
}
