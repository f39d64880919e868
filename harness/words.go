package harness

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rocstress/harness/stats"
)

// confidence is the level of every interval and bound, and alpha that of
// every test.
const (
	confidence = 0.95
	alpha      = 0.05
)

// percent returns a rate with one digit after the point, "93.5 %", and two
// significant digits below 1 %.
func percent(rate float64) string {
	v := 100 * rate
	if v == 0 || math.Abs(v) >= 0.95 {
		return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) + " %"
	}
	return significant(v) + " %"
}

// points returns a difference of rates in percentage points, without a unit.
func points(difference float64) string { return strings.TrimSuffix(percent(difference), " %") }

// percentAbove returns a rate rounded up to two significant digits, so that
// "below" it stays true.
func percentAbove(rate float64) string {
	v := 100 * rate
	if v <= 0 {
		return "0 %"
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	return significant(math.Ceil(v/scale-1e-9)*scale) + " %"
}

// significant returns v with two significant digits and no exponent.
func significant(v float64) string {
	s := strconv.FormatFloat(v, 'e', 1, 64)
	rounded, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// boundText is the sentence for an arm without failures.
func boundText(n int) string {
	return fmt.Sprintf("0 of %d: the true rate is below %s with 95 %% confidence",
		n, percentAbove(stats.UpperBound(0, n, confidence)))
}

// pText returns a p-value and what it means.
func pText(p float64) string {
	if p < 1e-6 {
		return "p < 0.000001 by Fisher's exact test, two-sided: if removal changed nothing, fewer than 1 in a million such campaigns would show a difference like this"
	}
	const format = "p = %s by Fisher's exact test, two-sided: if removal changed nothing, about 1 in %s such campaigns would show a difference like this"
	return fmt.Sprintf(format, significant(p), strings.TrimSpace(oneIn(p)))
}

func oneIn(p float64) string {
	n := 1 / p
	if n < 10 {
		return strconv.FormatFloat(math.Round(10*n)/10, 'f', -1, 64)
	}
	return significant(n)
}

// countText returns "187 of 200 children in 20 of 20 runs".
func countText(a ArmReport) string {
	return fmt.Sprintf("%d of %d children in %d of %d runs", a.ChildrenFailed, a.Children, a.RunsFailed, a.Runs)
}

// rateText returns the failure rate with the wider of the plain and the
// clustered interval, or the bound where nothing failed.
func rateText(a ArmReport) string {
	if a.ChildrenFailed == 0 {
		return "the true rate is below " + percentAbove(stats.UpperBound(0, a.Children, confidence)) + " with 95 % confidence"
	}
	i, note := a.Interval, ""
	if a.Clustered.High-a.Clustered.Low > i.High-i.Low {
		i = a.Clustered
		note = fmt.Sprintf(", widened because children of a run resemble each other, design effect %s", significant(a.DesignEffect))
	}
	return fmt.Sprintf("%s, 95 %% interval %s to %s%s",
		percent(float64(a.ChildrenFailed)/float64(a.Children)), percent(i.Low), percent(i.High), note)
}

// unmeasuredText says how much of an arm is missing.
func unmeasuredText(a ArmReport) string {
	return fmt.Sprintf("%d of %d children of arm %s were not measured", a.NotMeasured, a.NotMeasured+a.Children, a.Name)
}
