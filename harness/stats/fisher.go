package stats

import "math"

// sameProbability is the relative room within which two tables count as
// equally probable, so that rounding cannot push the observed table's mirror
// image out of the sum. R's fisher.test uses the same.
const sameProbability = 1 + 1e-7

// FisherExact returns the two-sided p-value of Fisher's exact test between two
// arms: the probability, were the arms alike, of a table at most as probable
// as the one seen. It is 1 where the counts cannot tell the arms apart.
//
// The p-value takes children for independent. Where children of one run
// resemble each other it is too small; see DesignEffect.
func FisherExact(failedA, nA, failedB, nB int) float64 {
	mustCount(failedA, nA)
	mustCount(failedB, nB)
	failed, n := failedA+failedB, nA+nB
	first, last := max(0, failed-nB), min(failed, nA)
	if first == last {
		return 1
	}
	seen := logTable(failedA, nA, failed, n)
	limit := seen + math.Log(sameProbability)
	// Every term is scaled by the largest, so that tiny ones add up without
	// underflow.
	top := logTable(mode(nA, failed, n, first, last), nA, failed, n)
	var at, total float64
	for k := first; k <= last; k++ {
		l := logTable(k, nA, failed, n)
		if l-top < -745 { // exp underflows: adds nothing to either sum
			if l <= limit {
				at += math.Exp(l - top)
			}
			continue
		}
		e := math.Exp(l - top)
		total += e
		if l <= limit {
			at += e
		}
	}
	if at == 0 { // every term underflowed against the largest
		return math.Exp(seen)
	}
	return min(1, at/total)
}

// logTable returns the log of the hypergeometric probability that k of the
// failed children fell into the arm of nA, of n in all.
func logTable(k, nA, failed, n int) float64 {
	return logChoose(failed, k) + logChoose(n-failed, nA-k) - logChoose(n, nA)
}

func mode(nA, failed, n, first, last int) int {
	k := int(float64(nA+1) * float64(failed+1) / float64(n+2))
	return min(max(k, first), last)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}
