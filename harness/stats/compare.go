package stats

import "math"

// Sample is one arm's counts.
type Sample struct {
	Failed, N int
	Effect    float64 // design effect of its runs; below 1, or not given, counts as 1
}

func (s Sample) effective() (failed, n float64) {
	d := max(1, s.Effect)
	return float64(s.Failed) / d, float64(s.N) / d
}

// Rate returns Failed / N, and 0 for an empty sample.
func (s Sample) Rate() float64 {
	if s.N == 0 {
		return 0
	}
	return float64(s.Failed) / float64(s.N)
}

// Difference returns the interval of the rate of a minus the rate of b, by
// Newcombe's hybrid of two Wilson intervals: it stays within -1 to 1 and holds
// up where one of the rates is 0. Design effects widen it.
//
// Source: Newcombe, Statistics in Medicine 17 (1998), method 10.
func Difference(a, b Sample, confidence float64) Interval {
	mustCount(a.Failed, a.N)
	mustCount(b.Failed, b.N)
	mustConfidence(confidence)
	if a.N == 0 || b.N == 0 {
		return Interval{-1, 1}
	}
	fa, na := a.effective()
	fb, nb := b.effective()
	wa, wb := wilson(fa, na, confidence), wilson(fb, nb, confidence)
	pa, pb := a.Rate(), b.Rate()
	d := pa - pb
	return Interval{
		Low:  max(-1, d-math.Hypot(pa-wa.Low, wb.High-pb)),
		High: min(1, d+math.Hypot(wa.High-pa, pb-wb.Low)),
	}
}

// ChildrenToSettle returns the fewest children an arm at which Fisher's exact
// test falls below alpha if one arm goes on failing at the rate of s, counts
// rounded down, and the other never fails. It is 0 where s has no failure:
// no number would do. It is what to plan for, not a promise: the rate of a few
// failures is itself uncertain.
func ChildrenToSettle(s Sample, alpha float64) int {
	mustCount(s.Failed, s.N)
	mustConfidence(alpha)
	if s.Failed == 0 {
		return 0
	}
	// For a given number of failures more children only raise the p-value, so
	// the fewest children with that many are the ones to look at. The p-value
	// of f failures against none stays below 2^(1-f), which ends the loop.
	for failed := 1; ; failed++ {
		n := (failed*s.N + s.Failed - 1) / s.Failed // whole arithmetic: 6 at 3/220 are 440
		if FisherExact(failed, n, 0, n) < alpha {
			return n
		}
	}
}
