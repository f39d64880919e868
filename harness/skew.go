package harness

import "math/bits"

// histogramSteps is how many buckets a power of two has: a quantile is too
// high by 1/32 at most.
const histogramSteps = 32

// histogram counts non-negative durations in nanoseconds in fixed memory,
// whatever their order. The zero value is ready.
type histogram struct {
	counts [histogramSteps * 60]int
	n      int
	max    int64
}

func (h *histogram) add(ns int64) {
	ns = max(0, ns)
	h.counts[bucketOf(ns)]++
	h.n++
	h.max = max(h.max, ns)
}

// bucketOf returns the bucket of ns: exact below histogramSteps, then
// histogramSteps buckets for each power of two.
func bucketOf(ns int64) int {
	if ns < histogramSteps {
		return int(ns)
	}
	shift := bits.Len64(uint64(ns)) - 6
	return (shift+1)*histogramSteps + int(ns>>shift) - histogramSteps
}

// lastOf returns the largest value that falls into a bucket.
func lastOf(bucket int) int64 {
	if bucket < histogramSteps {
		return int64(bucket)
	}
	shift := bucket/histogramSteps - 1
	return int64(bucket%histogramSteps+histogramSteps+1)<<shift - 1
}

// quantile returns the smallest value that at least q of all values do not
// exceed, rounded up by 1/32 at most; 0 without values.
func (h *histogram) quantile(q float64) int64 {
	need := q * float64(h.n)
	seen := 0
	for b, c := range h.counts {
		seen += c
		if c > 0 && float64(seen) >= need {
			return min(lastOf(b), h.max)
		}
	}
	return 0
}

func (h *histogram) summary() SkewSummary {
	return SkewSummary{N: h.n, P50NS: h.quantile(0.5), P99NS: h.quantile(0.99), MaxNS: h.max}
}
