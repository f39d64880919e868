// Package stats holds the statistics of failure counts: exact intervals of a
// rate, the exact test between two rates, and what clusters of children do to
// both. It is pure: numbers in, numbers out, safe for concurrent use.
//
// Rates are fractions from 0 to 1 and confidences fractions between 0 and 1
// (0.95, never 95). A call with impossible counts (negative, more failures
// than children, a confidence outside 0 to 1) is an error of the program and
// panics.
package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Interval is a two-sided confidence interval.
type Interval struct{ Low, High float64 }

// Width returns High - Low.
func (i Interval) Width() float64 { return i.High - i.Low }

// ClopperPearson returns the exact two-sided interval of a rate of which
// failed of n were seen. It covers the true rate with at least the asked
// confidence whatever the rate is. With n = 0 nothing is known: 0 to 1.
//
// Source: Clopper and Pearson, Biometrika 26 (1934), in its form by quantiles
// of the beta distribution.
func ClopperPearson(failed, n int, confidence float64) Interval {
	mustCount(failed, n)
	return exact(float64(failed), float64(n), confidence)
}

// UpperBound returns the exact one-sided upper bound of a rate: the true rate
// is below it with the asked confidence. For no failure it is
// 1 - (1-confidence)^(1/n), near 3/n at 95 %.
func UpperBound(failed, n int, confidence float64) float64 {
	mustCount(failed, n)
	mustConfidence(confidence)
	return upper(float64(failed), float64(n), 1-confidence)
}

// LowerBound returns the exact one-sided lower bound of a rate.
func LowerBound(failed, n int, confidence float64) float64 {
	mustCount(failed, n)
	mustConfidence(confidence)
	return lower(float64(failed), float64(n), 1-confidence)
}

// exact is ClopperPearson for counts that need not be whole, as clusters leave
// them.
func exact(failed, n, confidence float64) Interval {
	mustConfidence(confidence)
	tail := (1 - confidence) / 2
	return Interval{Low: lower(failed, n, tail), High: upper(failed, n, tail)}
}

func lower(failed, n, tail float64) float64 {
	if failed <= 0 {
		return 0
	}
	if failed >= n { // the closed form keeps the digits that the inverse loses
		return math.Pow(tail, 1/n)
	}
	return mathext.InvRegIncBeta(failed, n-failed+1, tail)
}

func upper(failed, n, tail float64) float64 {
	if failed >= n {
		return 1
	}
	if failed <= 0 {
		return -math.Expm1(math.Log(tail) / n)
	}
	return mathext.InvRegIncBeta(failed+1, n-failed, 1-tail)
}

// wilson is the score interval. Source: Wilson, JASA 22 (1927).
func wilson(failed, n, confidence float64) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	z := mathext.NormalQuantile((1 + confidence) / 2)
	p, zz := failed/n, z*z
	centre := p + zz/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+zz/(4*n*n))
	scale := 1 + zz/n
	return Interval{Low: max(0, (centre-half)/scale), High: min(1, (centre+half)/scale)}
}

func mustCount(failed, n int) {
	if failed < 0 || n < 0 || failed > n {
		panic(fmt.Sprintf("stats: %d failed of %d", failed, n))
	}
}

func mustConfidence(c float64) {
	if !(c > 0 && c < 1) {
		panic(fmt.Sprintf("stats: confidence %v, it must lie between 0 and 1", c))
	}
}
