package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness"
	"rocstress/harness/results"
)

var _ = Describe("replay", func() {
	It("reruns a failed child by the line that its failure printed", func() {
		failed := inProcess(small(append(broken, "run", "first-gemm", "--out", freshDir())...)...)
		line := regexp.MustCompile(`reproduce: stress (replay .*--child 2.*)`).FindStringSubmatch(failed.stderr)
		Expect(line).To(HaveLen(2), failed.stderr)
		got := inProcess(strings.Fields(line[1])...)
		Expect(got.code).To(Equal(harness.ExitClean), got.stdout+got.stderr)
		Expect(got.stdout).To(And(ContainSubstring("first-gemm, run, run 1, child 2, on sim:create-fails=1000000: recorded as check_failed"),
			ContainSubstring("1 of 1: check_failed"), ContainSubstring("reproduced 1 of 1 times")))
	})

	It("takes the first failed child where none is named, as often as asked", func() {
		dir := freshDir()
		inProcess(small(append(broken, "compare", "first-gemm", "--runs", "1", "--out", dir)...)...)
		before := tree(dir)
		got := inProcess("replay", dir, "--times", "2", "--arm", "removed")
		Expect(got.code).To(Equal(harness.ExitClean), got.stdout+got.stderr)
		Expect(got.stdout).To(And(ContainSubstring("removed, run 1, child 1"), ContainSubstring("reproduced 2 of 2 times")))
		Expect(tree(dir)).To(Equal(before), "the directory stays as it is")
	})

	It("exits with 3 where the child came to something else", func() {
		dir := recordedAs(harness.HostCrash)
		got := inProcess("replay", dir)
		Expect(got.code).To(Equal(harness.ExitInconclusive), got.stdout+got.stderr)
		Expect(got.stdout).To(And(ContainSubstring("recorded as host_crash"), ContainSubstring("1 of 1: pass"), ContainSubstring("reproduced 0 of 1 times")))
	})

	DescribeTable("refuses what the directory does not have", func(args, want string) {
		dir := recordedAs(harness.Pass)
		got := inProcess(append([]string{"replay", dir}, strings.Fields(args)...)...)
		Expect(got.code).To(Equal(harness.ExitUsage), got.stdout)
		Expect(got.stderr).To(ContainSubstring(want))
		Expect(strings.Count(got.stderr, "\n")).To(Equal(1))
	},
		Entry(nil, "--run 2 --child 1", "--run 2: the plan has 1 runs"),
		Entry(nil, "--run 1 --child 3", "--child 3: a run has 2 children"),
		Entry(nil, "--run 1 --child 2", "no such child"),
		Entry(nil, "--arm removd", `--arm "removd": unknown; accepted: run`),
		Entry(nil, "--scenario x", `--scenario "x": unknown; accepted: first-gemm`),
		Entry(nil, "", "no failed child"),
	)

	It("exits with 125 where the recorded device is gone", func() {
		p := smallPlan()
		p.Device = "hip:0"
		dir := write(p, harness.Record{Scenario: "first-gemm", Outcome: harness.HostCrash})
		got := inProcessWith(noROCm(), "replay", dir)
		Expect(got.code).To(Equal(harness.ExitUnavailable), got.stdout)
		Expect(got.stdout).To(BeEmpty())
		Expect(got.stderr).To(ContainSubstring("--device hip:0: not usable"))
	})

	It("does not run a plan that today's build does not know", func() {
		p := smallPlan()
		p.Scenarios[0].Name = "gone"
		dir := write(p, harness.Record{Scenario: "gone", Outcome: harness.HostCrash})
		got := inProcess("replay", dir)
		Expect(got.code).To(Equal(harness.ExitInconclusive))
		Expect(got.stdout).To(ContainSubstring("host_abort"))
	})
})

// tree lists the files of a directory with their sizes.
func tree(dir string) map[string]int64 {
	files := map[string]int64{}
	Expect(filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
		if err == nil && !st.IsDir() {
			files[path] = st.Size()
		}
		return err
	})).To(Succeed())
	return files
}

func smallPlan() harness.Plan {
	s := settings{runs: 1, children: 2, parallel: 1}
	s.set.Threads, s.set.Rounds = 2, 2
	list, err := findScenarios("run", []string{"first-gemm"})
	Expect(err).NotTo(HaveOccurred())
	p, err := s.plan(kindRun, list, nil, deviceSim)
	Expect(err).NotTo(HaveOccurred())
	return p
}

// write makes a results directory with one record.
func write(p harness.Plan, r harness.Record) string {
	GinkgoHelper()
	dir := freshDir()
	w, err := results.Create(dir, results.Manifest{Plan: p})
	Expect(err).NotTo(HaveOccurred())
	r.V, r.Arm, r.Run, r.Child = harness.RecordVersion, harness.ArmRun, 1, 1
	Expect(w.Append(r)).To(Succeed())
	Expect(w.Close()).To(Succeed())
	return dir
}

// recordedAs is a directory whose one child, which passes, came to o.
func recordedAs(o harness.Outcome) string {
	GinkgoHelper()
	return write(smallPlan(), harness.Record{Scenario: "first-gemm", Outcome: o})
}

var _ = Describe("replaying", func() {
	It("stops when interrupted", func() {
		dir := recordedAs(harness.HostCrash)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var out, errs strings.Builder
		Expect(run(ctx, []string{"replay", dir}, os.Environ(), strings.NewReader(""), &out, &errs)).To(Equal(harness.ExitInterrupted))
		Expect(errs.String()).To(ContainSubstring("interrupted"))
	})
})
