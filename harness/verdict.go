package harness

import (
	"fmt"
	"strings"

	"rocstress/harness/stats"
)

const (
	// maxUnmeasured is the part of an arm that may go unmeasured in a verdict.
	maxUnmeasured = 0.05
	// minContended is the part of the protected children whose threads must
	// really have overlapped.
	minContended = 0.80
	// minReproductionRuns is how many removed runs must all have failed.
	minReproductionRuns = 10
)

// Judge says what the arms of a scenario came to. With the arms protected and
// removed it compares them, with any other it looks for failures alone.
// stopped says why the campaign ended early; then there is no p-value. Judge
// is pure.
func Judge(s ScenarioPlan, arms []ArmReport, stopped string) Verdict {
	j := judge{scenario: s, arms: arms, stopped: stopped}
	if s.comparison() {
		protected, removed := j.find(ArmProtected), j.find(ArmRemoved)
		if protected != nil && removed != nil {
			return j.compare(*protected, *removed)
		}
	}
	return j.alone()
}

type judge struct {
	scenario ScenarioPlan
	arms     []ArmReport
	stopped  string
}

func (j judge) find(name string) *ArmReport {
	for i := range j.arms {
		if j.arms[i].Name == name {
			return &j.arms[i]
		}
	}
	return nil
}

// compare walks the table of verdicts: the first that matches wins.
func (j judge) compare(protected, removed ArmReport) Verdict {
	if protected.ChildrenFailed > 0 {
		return Verdict{Kind: Regression, Text: fmt.Sprintf(
			"Regression: with nothing removed, %s failed (%s); %s, %s failed.%s",
			countText(protected), rateText(protected), removed.Removal(), countText(removed), j.stopNote())}
	}
	if v, ok := j.incomplete(); ok {
		return v
	}
	p := stats.FisherExact(removed.ChildrenFailed, removed.Children, 0, protected.Children)
	switch {
	case removed.ChildrenFailed > 0 && p < alpha:
		return j.difference(protected, removed, p)
	case removed.ChildrenFailed > 0:
		return suspicion(protected, removed, p)
	case j.scenario.Contention && !contended(protected):
		return Verdict{Kind: NoContention, Text: fmt.Sprintf(
			"Inconclusive (no contention): no child failed, but in only %d of %d protected children did threads overlap (at least 80 %% must), so the race was hardly tried. Use more cores or threads, or fewer children at once.",
			protected.Contended, protected.Children)}
	}
	return Verdict{Kind: Guard, Text: fmt.Sprintf(
		"Guard: no child failed, neither %s (%s) nor with nothing removed (%s). This scenario guards against a regression; it does not reproduce the failure.",
		removed.Removal(), boundText(removed.Children), boundText(protected.Children))}
}

// difference words a reproduction or a detection.
func (j judge) difference(protected, removed ArmReport, p float64) Verdict {
	v := Verdict{Kind: Detection, P: &p}
	word := "Detection"
	if removed.RunsFailed == removed.Runs && removed.Runs >= minReproductionRuns {
		v.Kind, word = Reproduction, "Reproduction"
	}
	d := stats.Difference(sample(removed), sample(protected), confidence)
	v.Text = fmt.Sprintf(
		"%s: %s, %s failed (%s); with nothing removed, %s (%s). The rates differ by %s percentage points, 95 %% interval %s to %s; %s.",
		word, removed.Removal(), countText(removed), rateText(removed), countText(protected), rateText(protected),
		points(sample(removed).Rate()-sample(protected).Rate()), points(d.Low), points(d.High), pText(p))
	return v
}

func sample(a ArmReport) stats.Sample {
	return stats.Sample{Failed: a.ChildrenFailed, N: a.Children, Effect: a.DesignEffect}
}

func suspicion(protected, removed ArmReport, p float64) Verdict {
	need := stats.ChildrenToSettle(sample(removed), alpha)
	return Verdict{Kind: Suspicion, P: &p, Text: fmt.Sprintf(
		"Suspicion: %s, %s failed (%s); with nothing removed, %s (%s). That is too few to tell from chance: %s. It takes about %d children an arm to settle it if they go on failing at this rate.",
		removed.Removal(), countText(removed), rateText(removed), countText(protected), rateText(protected), pText(p), need)}
}

func contended(protected ArmReport) bool {
	return float64(protected.Contended) >= minContended*float64(protected.Children)
}

// incomplete covers campaigns that cannot carry a verdict.
func (j judge) incomplete() (Verdict, bool) {
	for _, a := range j.arms {
		if a.Children == 0 {
			text := "Inconclusive: nothing was measured in arm " + a.Name
			if a.NotMeasured > 0 {
				text += ": " + unmeasuredText(a)
			}
			return Verdict{Kind: Inconclusive, Text: text + "." + j.stopNote()}, true
		}
	}
	for _, a := range j.arms {
		if float64(a.NotMeasured) > maxUnmeasured*float64(a.NotMeasured+a.Children) {
			return Verdict{Kind: Inconclusive, Text: fmt.Sprintf(
				"Inconclusive: %s, more than 5 %%. Counts so far: %s.%s", unmeasuredText(a), j.counts(), j.stopNote())}, true
		}
	}
	if j.stopped != "" {
		return Verdict{Kind: Inconclusive, Text: fmt.Sprintf(
			"Inconclusive: the campaign was stopped before its end (%s), so there is no p-value. Counts so far: %s.", j.stopped, j.counts())}, true
	}
	return Verdict{}, false
}

func (j judge) counts() string {
	var parts []string
	for _, a := range j.arms {
		parts = append(parts, fmt.Sprintf("%s: %d of %d children failed", a.Name, a.ChildrenFailed, a.Children))
	}
	return strings.Join(parts, "; ")
}

func (j judge) stopNote() string {
	if j.stopped == "" {
		return ""
	}
	return " The campaign was stopped before its end (" + j.stopped + ")."
}

// alone judges arms that are not compared.
func (j judge) alone() Verdict {
	var failed, passed []string
	for _, a := range j.arms {
		if a.ChildrenFailed > 0 {
			failed = append(failed, fmt.Sprintf("%s, %s failed (%s)", a.Removal(), countText(a), rateText(a)))
		} else if a.Children > 0 {
			passed = append(passed, fmt.Sprintf("%s, no child failed; %s", a.Removal(), boundText(a.Children)))
		}
	}
	if len(failed) > 0 {
		return Verdict{Kind: Findings, Text: "Findings: " + strings.Join(append(failed, passed...), "; ") + "." + j.stopNote()}
	}
	if v, ok := j.incomplete(); ok {
		return v
	}
	return Verdict{Kind: Clean, Text: "Clean: " + strings.Join(passed, "; ") + "."}
}
