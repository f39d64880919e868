package harness_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness"
)

// recorded is one arm of a recorded campaign: how many children of each run
// failed.
type recorded struct {
	arm         string
	runs        []int // failed children of each
	size        int   // children of a run
	missing     int   // children that were not measured, the last of each run first
	uncontended int   // children whose threads did not overlap
}

func (a recorded) records() []harness.Record {
	var all []harness.Record
	for run := range a.runs {
		for child := range a.size {
			r := harness.Record{
				V: 1, Scenario: "first-gemm", Arm: a.arm, Run: run + 1, Child: child + 1,
				Outcome: harness.Pass, Overlap: 8, SkewNS: []int64{0, 700},
			}
			switch {
			case child < a.runs[run]:
				r.Outcome, r.Signature, r.Evidence = harness.UnwrittenOutput, "unwritten_output: outputs", "evidence"
			case a.missing > 0 && run == len(a.runs)-1-(a.missing-1)%len(a.runs):
				r.Outcome = harness.NotMeasured
				a.missing--
			}
			if a.uncontended > 0 {
				r.Overlap = 1
				a.uncontended--
			}
			all = append(all, r)
		}
	}
	return all
}

// spread returns runs runs in which failed children failed, as evenly as it
// goes.
func spread(failed, runs int) []int {
	out := make([]int, runs)
	for i := range failed {
		out[i%runs]++
	}
	return out
}

func judged(stopped string, arms ...recorded) harness.ScenarioReport {
	plan := comparison(len(arms[0].runs), arms[0].size)
	if len(arms) == 1 {
		plan = single(len(arms[0].runs), arms[0].size)
	}
	tally := harness.NewTally(plan, plan.Scenarios[0])
	for _, a := range arms {
		for _, r := range a.records() {
			tally.Add(r)
		}
	}
	return report(plan, harness.Result{Tallies: []*harness.Tally{tally}, Stopped: stopped}).Scenarios[0]
}

func protected(failed, runs, size int) recorded {
	return recorded{arm: harness.ArmProtected, runs: spread(failed, runs), size: size}
}

func removed(failed, runs, size int) recorded {
	return recorded{arm: harness.ArmRemoved, runs: spread(failed, runs), size: size}
}

func alone(failed, runs, size int) recorded {
	return recorded{arm: harness.ArmRun, runs: spread(failed, runs), size: size}
}

var _ = Describe("The verdict", func() {
	// Counts that maintainers of a backend published: 20 runs of 10 children.
	DescribeTable("on published counts", func(failed, runs, size int, kind harness.VerdictKind, says ...string) {
		s := judged("", protected(0, runs, size), removed(failed, runs, size))
		Expect(s.Verdict.Kind).To(Equal(kind))
		for _, text := range says {
			Expect(s.Verdict.Text).To(ContainSubstring(text))
		}
	},
		Entry("rocBLAS handle", 187, 20, 10, harness.Reproduction,
			"Reproduction: without rocblas-bind-lock, rocblas-init-lock, 187 of 200 children in 20 of 20 runs failed (93.5 %, 95 % interval 89.1 % to 96.5 %)",
			"0 of 200 children in 0 of 20 runs (the true rate is below 1.5 % with 95 % confidence)", "p < 0.000001",
			"differ by 93.5 percentage points, 95 % interval 88.8 to 96.2"),
		Entry("hipBLASLt", 50, 20, 10, harness.Reproduction, "50 of 200 children in 20 of 20 runs failed"),
		Entry("a child in 70 or so", 3, 22, 10, harness.Suspicion, "3 of 220 children in 3 of 22 runs failed", "p = 0.25", "about 440 children an arm"),
		Entry("JIT module cache", 0, 20, 10, harness.Guard, "0 of 200: the true rate is below 1.5 % with 95 % confidence",
			"guards against a regression; it does not reproduce"),
		Entry("half of the runs", 50, 40, 10, harness.Reproduction),
		Entry("all runs, but few", 8, 8, 1, harness.Detection, "p = 0.00016"),
		Entry("nine runs of ten", 9, 10, 10, harness.Detection),
	)

	It("never says that a suspicion is fixed", func() {
		for failed := 1; failed <= 5; failed++ {
			v := judged("", protected(0, 20, 10), removed(failed, 20, 10)).Verdict
			Expect(v.Kind).To(Equal(harness.Suspicion))
			Expect(v.Text).NotTo(MatchRegexp(`(?i)\bfix|\bsolved|\bproven`))
			Expect(v.P).To(HaveValue(BeNumerically(">=", 0.05)))
		}
	})

	It("is a regression as soon as a protected child failed, whatever else", func() {
		missing := removed(0, 20, 10)
		missing.missing = 100
		for _, s := range []harness.ScenarioReport{
			judged("", protected(1, 20, 10), removed(187, 20, 10)),
			judged("max-fails: 1 children failed", protected(1, 20, 10), removed(0, 20, 10)),
			judged("", protected(1, 20, 10), missing),
		} {
			Expect(s.Verdict.Kind).To(Equal(harness.Regression))
			Expect(s.Verdict.Text).To(ContainSubstring("1 of 200 children in 1 of 20 runs failed"))
			Expect(s.Verdict.P).To(BeNil())
		}
	})

	It("is inconclusive without p-value where the campaign was stopped", func() {
		v := judged("max-time: 1m0s were over", protected(0, 20, 10), removed(187, 20, 10)).Verdict
		Expect(v.Kind).To(Equal(harness.Inconclusive))
		Expect(v.P).To(BeNil())
		Expect(v.Text).To(And(ContainSubstring("max-time: 1m0s were over"), ContainSubstring("187 of 200"), Not(ContainSubstring("p ="))))
	})

	DescribeTable("looks at how much was not measured", func(missing int, kind harness.VerdictKind) {
		a := removed(100, 20, 10)
		a.missing = missing
		Expect(judged("", protected(0, 20, 10), a).Verdict.Kind).To(Equal(kind))
	},
		Entry("5 % of an arm", 10, harness.Reproduction),
		Entry("more", 11, harness.Inconclusive),
	)

	DescribeTable("needs overlap for a guard", func(uncontended, failed int, kind harness.VerdictKind) {
		a := protected(0, 20, 10)
		a.uncontended = uncontended
		Expect(judged("", a, removed(failed, 20, 10)).Verdict.Kind).To(Equal(kind))
	},
		Entry("80 % contended", 40, 0, harness.Guard),
		Entry("less", 41, 0, harness.NoContention),
		Entry("less, but the failure was seen", 41, 187, harness.Reproduction),
		Entry("less, and a suspicion", 41, 3, harness.Suspicion),
	)

	DescribeTable("of a single arm", func(failed int, stopped string, kind harness.VerdictKind, text string) {
		s := judged(stopped, alone(failed, 20, 10))
		Expect(s.Verdict.Kind).To(Equal(kind))
		Expect(s.Verdict.Text).To(ContainSubstring(text))
	},
		Entry("clean", 0, "", harness.Clean, "0 of 200: the true rate is below 1.5 % with 95 % confidence"),
		Entry("findings", 4, "", harness.Findings, "4 of 200 children in 4 of 20 runs failed (2 %, 95 % interval 0.55 % to 5 %)"),
		Entry("findings of a stopped campaign", 4, "interrupted", harness.Findings, "stopped before its end (interrupted)"),
		Entry("stopped without", 0, "interrupted", harness.Inconclusive, "interrupted"),
	)

	It("takes runs at the size that was measured", func() {
		all := recorded{arm: harness.ArmRun, runs: append(make([]int, 10), 8, 8, 8, 8, 8, 8, 8, 8, 8, 8), size: 10, missing: 8}
		// 8 of the runs have 9 measured children: with sum over runs of
		// (k - p n)^2 by hand, m/(m-1) of it over n^2, over p (1-p) / n.
		n, p := 192.0, 80/192.0
		sum := 10*(10*p)*(10*p) + 8*(8-9*p)*(8-9*p) + 2*(8-10*p)*(8-10*p)
		Expect(judged("", all).Arms[0].DesignEffect).To(BeNumerically("~", 20.0/19*sum/(n*p*(1-p)), 1e-9))
	})

	It("uses the interval that runs widen", func() {
		clustered := recorded{arm: harness.ArmRun, runs: append(make([]int, 15), 10, 10, 10, 10, 10), size: 10}
		s := judged("", clustered)
		a := s.Arms[0]
		Expect(a.DesignEffect).To(BeNumerically("~", 10*20.0/19, 1e-9))
		Expect(a.Clustered.High - a.Clustered.Low).To(BeNumerically(">", 2*(a.Interval.High-a.Interval.Low)))
		Expect(s.Verdict.Text).To(ContainSubstring("design effect 11"))
	})
})

var _ = Describe("A report", func() {
	It("counts each arm and keeps Planned beside it", func() {
		a := removed(50, 20, 10)
		a.missing = 3
		arm := judged("", protected(0, 20, 10), a).Arms[1]
		Expect(arm.Children).To(Equal(197))
		Expect(arm.NotMeasured).To(Equal(3))
		Expect(arm.Planned).To(Equal(200))
		Expect(arm.ChildrenFailed).To(Equal(50))
		Expect(arm.RunsFailed).To(Equal(20))
		Expect(arm.Contended).To(Equal(197))
		Expect(arm.Outcomes).To(Equal(map[harness.Outcome]int{harness.Pass: 147, harness.UnwrittenOutput: 50, harness.NotMeasured: 3}))
		Expect(arm.Skew.N).To(Equal(2 * 197))
		Expect(arm.Skew.MaxNS).To(Equal(int64(700)))
		Expect(arm.Bound).To(BeEmpty())
	})

	It("bounds the failures it lists and shows one of each signature first", func() {
		plan := single(30, 10)
		tally := harness.NewTally(plan, plan.Scenarios[0])
		for run := 1; run <= 30; run++ {
			for child := 1; child <= 10; child++ {
				r := harness.Record{Scenario: "first-gemm", Arm: harness.ArmRun, Run: run, Child: child, Outcome: harness.HostCrash, Signature: "host_crash: SIGSEGV"}
				if run == 30 && child == 10 {
					r.Outcome, r.Signature = harness.WrongResult, "wrong_result: outputs"
				}
				tally.Add(r)
			}
		}
		s := report(plan, harness.Result{Tallies: []*harness.Tally{tally}}).Scenarios[0]
		Expect(s.FailuresN).To(Equal(300))
		Expect(s.Failures).To(HaveLen(50))
		Expect(s.Failures[0].Signature).To(Equal("host_crash: SIGSEGV"))
		Expect(s.Failures[1].Signature).To(Equal("wrong_result: outputs"))
		Expect(s.Failures[1].Run).To(Equal(30))
		Expect(s.Failures[2].Child).To(Equal(2))
		Expect(s.Signatures).To(HaveLen(2))
		Expect(s.Signatures[0].Count).To(Equal(map[string]int{harness.ArmRun: 299}))
	})

	It("bounds the signatures it tells apart", func() {
		plan := single(1, 500)
		tally := harness.NewTally(plan, plan.Scenarios[0])
		for child := 1; child <= 500; child++ {
			tally.Add(harness.Record{Arm: harness.ArmRun, Run: 1, Child: child, Outcome: harness.HostAbort, Signature: fmt.Sprintf("host_abort: %c%c", 'a'+child%26, 'a'+child/26)})
		}
		s := report(plan, harness.Result{Tallies: []*harness.Tally{tally}}).Scenarios[0]
		Expect(s.Signatures).To(HaveLen(101))
		Expect(s.Signatures[0].Signature).To(HavePrefix("other"))
		Expect(s.Signatures[0].Count).To(Equal(map[string]int{harness.ArmRun: 400}))
	})

	It("quotes the reproduce line for a shell", func() {
		plan := single(1, 1)
		plan.Scenarios = append(plan.Scenarios, harness.ScenarioPlan{Name: "other", Arms: plan.Scenarios[0].Arms})
		tally := harness.NewTally(plan, plan.Scenarios[0])
		tally.Add(harness.Record{Scenario: "first-gemm", Arm: harness.ArmRun, Run: 1, Child: 1, Outcome: harness.HostCrash})
		r := harness.BuildReport(harness.ReportInput{Plan: plan, Result: harness.Result{Tallies: []*harness.Tally{tally}}, OutDir: "it's here; rm"})
		Expect(r.Scenarios[0].Failures[0].Reproduce).To(Equal(`stress replay 'it'\''s here; rm' --run 1 --child 1 --arm run --scenario first-gemm`))
	})
})
