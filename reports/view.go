package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rocstress/childproc/wire"
	"rocstress/harness"
)

// words returns the text of a verdict without its kind in front, which every
// format shows on its own.
func words(v harness.Verdict) string {
	kind, rest, ok := strings.Cut(v.Text, ": ")
	if ok && strings.EqualFold(kind, string(v.Kind)) {
		return rest
	}
	return v.Text
}

// ofTotal returns "3 of 20".
func ofTotal(n, total int) string { return fmt.Sprintf("%d of %d", n, total) }

// percent returns a rate as "1.5 %", with two digits that mean something
// below one per cent.
func percent(rate float64) string {
	p := rate * 100
	switch {
	case p != 0 && p < 1:
		return strconv.FormatFloat(p, 'g', 2, 64) + " %"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
}

// clusteredFrom is the design effect from which on the runs of an arm are
// worth a second interval.
const clusteredFrom = 1.05

// rate says what is known of an arm's failure rate: the bound where nothing
// failed, the interval otherwise, and the run-clustered one beside it.
func rate(a harness.ArmReport) string {
	if a.Children == 0 {
		return "nothing measured"
	}
	if a.Bound != "" {
		return a.Bound
	}
	s := span(a.Interval)
	if a.DesignEffect > clusteredFrom {
		s += fmt.Sprintf("; by runs %s, design effect %.2g", span(a.Clustered), a.DesignEffect)
	}
	return s
}

func span(i harness.Interval) string {
	return fmt.Sprintf("%s to %s (%g %%)", percent(i.Low), percent(i.High), i.Confidence*100)
}

// outcomes returns "unwritten_output 120, wrong_result 67, pass 13", the most
// frequent first.
func outcomes(counts map[harness.Outcome]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b harness.Outcome) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, o := range names {
		if counts[o] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", o, counts[o]))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// skew returns the release skew of an arm, or "" where no barrier was seen.
func skew(s harness.SkewSummary) string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("release skew p50 %s, p99 %s, max %s over %d threads",
		short(s.P50NS), short(s.P99NS), short(s.MaxNS), s.N)
}

// short returns a duration with three digits, such as "1.23 ms".
func short(ns int64) string {
	units := [...]struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}
	for _, u := range units {
		if float64(ns) >= u.size {
			return fmt.Sprintf("%.3g %s", float64(ns)/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d ns", ns)
}

// contention says how many children of an arm really overlapped.
func contention(a harness.ArmReport) string {
	s := fmt.Sprintf("%s children had overlapping threads", ofTotal(a.Contended, a.Children))
	if sk := skew(a.Skew); sk != "" {
		s += "; " + sk
	}
	return s
}

// device returns what was tested in one line. Its parts come from a child.
func device(d wire.Device) string {
	if d.Driver == "" {
		return "unknown: no child said what it opened"
	}
	parts := []string{fmt.Sprintf("%s:%d", d.Driver, d.Ordinal)}
	arch := d.Arch
	if strings.Contains(d.Name, arch) {
		arch = "" // the name says it
	}
	for _, p := range []struct{ label, value string }{
		{"", d.Name}, {"", arch}, {"HIP ", d.Runtime}, {"rocBLAS ", d.BLAS}, {"test ABI ", d.TestABI},
	} {
		if p.value != "" {
			parts = append(parts, p.label+p.value)
		}
	}
	s := strings.Join(parts, ", ")
	if d.Simulated {
		s += " (on a simulated device)"
	}
	return s
}

// library returns one mapped library in one line.
func library(l wire.Library) string {
	s := l.Name + " = " + l.Path
	if l.BuildID != "" {
		s += " (build id " + l.BuildID + ")"
	}
	return s
}

// Label names a failure by its signature, which usually begins with the
// outcome; else by both. It is untrusted.
func Label(o harness.Outcome, signature string) string {
	switch {
	case signature == "":
		return string(o)
	case strings.HasPrefix(signature, string(o)):
		return signature
	}
	return string(o) + ": " + signature
}

// total returns how many failures a signature groups, over all arms.
func total(s harness.Signature) int {
	n := 0
	for _, c := range s.Count {
		n += c
	}
	return n
}

// byArm returns "removed 120, protected 1", the most frequent first.
func byArm(count map[string]int) string {
	arms := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	parts := make([]string, 0, len(arms))
	for _, a := range arms {
		parts = append(parts, fmt.Sprintf("%s %d", a, count[a]))
	}
	return strings.Join(parts, ", ")
}

// example returns the first listed failure of a signature.
func example(s harness.ScenarioReport, sig harness.Signature) (harness.Failure, bool) {
	i := slices.IndexFunc(s.Failures, func(f harness.Failure) bool {
		return f.Signature == sig.Signature && f.Outcome == sig.Outcome
	})
	if i < 0 {
		return harness.Failure{}, false
	}
	return s.Failures[i], true
}

// evidence returns what decided a group: the example's own words, or the
// group's.
func evidence(sig harness.Signature, f harness.Failure) string {
	if f.Evidence != "" {
		return f.Evidence
	}
	return sig.Example
}

// host returns the machine in one line.
func host(h harness.Host) string {
	return fmt.Sprintf("%s/%s, %d cores, %s", h.OS, h.Arch, h.Cores, h.Go)
}

// took returns the duration of the campaign, rounded for people.
func took(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// why says why children of an arm were not measured, where one said so.
func why(a harness.ArmReport) string {
	if a.Unmeasured == "" {
		return ""
	}
	return ": " + Terminal(a.Unmeasured)
}
