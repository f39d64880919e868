package harness_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness"
)

// of returns a report whose scenarios came to the verdicts.
func of(kinds ...harness.VerdictKind) harness.Report {
	var r harness.Report
	for _, k := range kinds {
		r.Scenarios = append(r.Scenarios, harness.ScenarioReport{
			Arms: []harness.ArmReport{{Name: harness.ArmProtected, Children: 10}}, Verdict: harness.Verdict{Kind: k},
		})
	}
	return r
}

var _ = Describe("The exit code", func() {
	requirements := []harness.Require{
		harness.RequireNothing, harness.RequireClean, harness.RequireDetection, harness.RequireReproduction,
	}
	DescribeTable("of a verdict, without requirement and with clean, detection, reproduction",
		func(kind harness.VerdictKind, codes ...int) {
			for i, require := range requirements {
				Expect(harness.ExitCode(of(kind), harness.ExitOptions{Require: require})).To(Equal(codes[i]), "--require %q", require)
			}
		},
		Entry("regression", harness.Regression, 1, 1, 1, 1),
		Entry("reproduction", harness.Reproduction, 0, 0, 0, 0),
		Entry("detection", harness.Detection, 0, 0, 0, 3),
		Entry("suspicion", harness.Suspicion, 0, 0, 3, 3),
		Entry("guard", harness.Guard, 0, 0, 3, 3),
		Entry("inconclusive", harness.Inconclusive, 3, 3, 3, 3),
		Entry("no contention", harness.NoContention, 3, 3, 3, 3),
		Entry("clean", harness.Clean, 0, 0, 3, 3),
		Entry("findings", harness.Findings, 1, 1, 1, 1),
	)

	It("turns around where failures are expected of a single arm", func() {
		o := harness.ExitOptions{ExpectFailures: true}
		Expect(harness.ExitCode(of(harness.Findings), o)).To(Equal(0))
		Expect(harness.ExitCode(of(harness.Clean), o)).To(Equal(3))
		Expect(harness.ExitCode(of(harness.Inconclusive), o)).To(Equal(3))
		Expect(harness.ExitCode(of(harness.Regression), o)).To(Equal(1))
	})

	DescribeTable("asks a clean arm for overlap only where clean is required", func(require harness.Require, contention bool, contended, code int) {
		r := of(harness.Clean)
		r.Scenarios[0].Arms[0].Contended = contended
		r.Plan.Scenarios = []harness.ScenarioPlan{{Contention: contention}}
		Expect(harness.ExitCode(r, harness.ExitOptions{Require: require})).To(Equal(code))
	},
		Entry("required, little overlap", harness.RequireClean, true, 7, 3),
		Entry("required, enough", harness.RequireClean, true, 8, 0),
		Entry("required, but the scenario needs none", harness.RequireClean, false, 0, 0),
		Entry("not required", harness.RequireNothing, true, 0, 0),
	)

	It("is 125 where nothing of an arm could be measured", func() {
		r := of(harness.Inconclusive)
		r.Scenarios[0].Arms = append(r.Scenarios[0].Arms, harness.ArmReport{Name: harness.ArmRemoved, NotMeasured: 10})
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(125))
		r.Scenarios[0].Verdict.Kind = harness.Regression
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(1))
		r.Scenarios[0].Verdict.Kind = harness.Inconclusive
		r.Scenarios[0].Arms[1].NotMeasured = 0 // never tried: stopped before
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(3))
	})

	It("is 4 where the harness failed or nothing ran", func() {
		Expect(harness.ExitCode(of(harness.Regression), harness.ExitOptions{Err: errors.New("disk full")})).To(Equal(4))
		Expect(harness.ExitCode(harness.Report{}, harness.ExitOptions{})).To(Equal(4))
		r := of(harness.Inconclusive)
		r.Scenarios[0].Arms[0].Children = 0
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(4))
	})

	It("is 130 where it was interrupted, even before anything ran", func() {
		r := of(harness.Regression)
		r.Stopped = harness.StopInterrupted
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(130))
		r.Scenarios[0].Arms[0].Children = 0
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(130))
	})

	It("is the worst of several scenarios", func() {
		o := harness.ExitOptions{}
		Expect(harness.ExitCode(of(harness.Reproduction, harness.Inconclusive, harness.Guard), o)).To(Equal(3))
		Expect(harness.ExitCode(of(harness.Inconclusive, harness.Regression, harness.Guard), o)).To(Equal(1))
		r := of(harness.Inconclusive, harness.Inconclusive)
		r.Scenarios[0].Arms[0] = harness.ArmReport{NotMeasured: 3}
		Expect(harness.ExitCode(r, o)).To(Equal(125))
	})

	It("knows what can be required", func() {
		for _, r := range requirements {
			Expect(harness.ParseRequire(string(r))).To(Equal(r))
		}
		_, err := harness.ParseRequire("proof")
		Expect(err).To(MatchError(ContainSubstring("clean, detection, reproduction")))
	})
})
