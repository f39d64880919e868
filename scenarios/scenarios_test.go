package scenarios_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc"
	"rocstress/harness"
	"rocstress/rocm"
	"rocstress/scenarios"
)

// defineScenarios declares one spec a scenario with the protections that set
// removes, and on a simulated device one that shows the scenario at work.
func defineScenarios(set settings) {
	Describe("Scenario", func() {
		for _, sc := range scenarios.List() {
			Describe(sc.Name, func() {
				It("passes", func(ctx SpecContext) {
					report := campaign(ctx, sc, set)
					for _, f := range report.Scenarios[0].Failures {
						AddReportEntry(fmt.Sprintf("run %d, child %d: %s", f.Run, f.Child, f.Outcome), f.Evidence)
					}
					arm := report.Scenarios[0].Arms[0]
					Expect(arm.ChildrenFailed).To(BeZero(), "%v\n%s\nreproduce: %s", arm.Outcomes,
						evidence(report), reproduce(set, sc.Name))
				})
				if len(sc.Remove) == 0 || !strings.HasPrefix(set.device, "sim") {
					return
				}
				It("notices what it guards when that is removed", func(ctx SpecContext) {
					removed, err := rocm.ParseSet(sc.Remove)
					Expect(err).NotTo(HaveOccurred())
					bad := set
					bad.without = removed.IDs()
					// Most removals fail nearly every child; a narrow window
					// needs more of them. 6 of 100 against 0 of 100 has
					// p = 0.03.
					for _, size := range []struct{ children, want int }{{5, 3}, {100, 6}} {
						bad.runs, bad.children = 1, size.children
						arm := campaign(ctx, sc, bad).Scenarios[0].Arms[0]
						Expect(arm.Children).To(Equal(size.children))
						if arm.ChildrenFailed >= size.want {
							return
						}
					}
					Fail("too few children noticed")
				})
			})
		}
	})
}

// campaign runs one arm of sc in fresh processes. It skips the spec where the
// device cannot be had.
func campaign(ctx SpecContext, sc scenarios.Scenario, set settings) harness.Report {
	GinkgoHelper()
	var expects []harness.Outcome
	for _, o := range sc.Expects {
		expects = append(expects, harness.Outcome(o))
	}
	plan := harness.Plan{
		Runs: set.runs, Children: set.children, Seed: set.seed, Device: set.device, Parallel: set.parallel,
		Scenarios: []harness.ScenarioPlan{{
			Name: sc.Name, Arms: []harness.Arm{{Name: harness.ArmRun, Without: set.without}},
			Settings: sc.Defaults, Env: sc.Env, Expects: expects, Contention: sc.Contention, Deadline: scenarios.HipDeadline,
		}},
	}
	launcher, err := childproc.NewLauncher()
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(launcher.Close()).To(Succeed()) }()
	var unavailable string
	result, err := harness.Campaign{Plan: plan, Run: launcher.Run, Observe: func(p harness.Progress) {
		if o := p.Record.Outcome; o == harness.NoDevice || o == harness.LibraryMissing {
			unavailable = fmt.Sprintf("%s: %s", o, p.Record.Evidence)
		}
	}}.Execute(ctx)
	Expect(err).NotTo(HaveOccurred())
	if unavailable != "" {
		Skip("the device " + set.device + " cannot be had: " + unavailable)
	}
	report := harness.BuildReport(harness.ReportInput{Plan: plan, Result: result})
	Expect(report.Scenarios[0].Arms[0].NotMeasured).To(BeZero())
	return report
}

func evidence(r harness.Report) string {
	var b strings.Builder
	for _, s := range r.Scenarios[0].Signatures {
		fmt.Fprintf(&b, "%d x %s: %s\n", s.Count[harness.ArmRun], s.Signature, s.Example)
	}
	return b.String()
}

// reproduce is the command that reruns a scenario of this suite.
func reproduce(set settings, name string) string {
	return strings.Join(append(set.given, fmt.Sprintf("go test ./scenarios -run TestScenarios -ginkgo.focus %q", name+" passes")), " ")
}
