package main

import (
	"runtime"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"rocstress/harness"
	"rocstress/scenarios"
)

// plannedOn parses flags and returns the plan of first-gemm on a device.
func plannedOn(device string, kind campaignKind, flags string) harness.Plan {
	GinkgoHelper()
	var s settings
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.register(f, kind)
	Expect(f.Parse(strings.Fields(flags))).To(Succeed())
	Expect(s.validate()).To(Succeed())
	removed, err := s.removed()
	Expect(err).NotTo(HaveOccurred())
	list, err := findScenarios("run", []string{"first-gemm"})
	Expect(err).NotTo(HaveOccurred())
	p, err := s.plan(kind, list, removed, device)
	Expect(err).NotTo(HaveOccurred())
	return p
}

var _ = Describe("a plan", func() {
	first, _ := scenarios.Find("first-gemm")

	It("fills in what was not given", func() {
		p := plannedOn("sim", kindRun, "")
		Expect(p.Runs).To(Equal(1))
		Expect(p.Children).To(Equal(10))
		Expect(p.Parallel).To(Equal(runtime.GOMAXPROCS(0)))
		Expect(p.Scenarios[0].Settings).To(Equal(first.Defaults))
		Expect(p.Scenarios[0].Env).To(Equal(first.Env))
		Expect(p.Scenarios[0].Contention).To(Equal(first.Contention))
		Expect(p.Scenarios[0].Deadline).To(Equal(first.SimDeadline))
		Expect(p.MaxTime).To(BeZero())
		Expect(p.MaxFails).To(BeZero())
		Expect(plannedOn("sim", kindRun, "").Seed).NotTo(Equal(p.Seed), "a seed nobody gave is random")
	})

	It("gives a real device its time, one child at once", func() {
		p := plannedOn("hip:0", kindRun, "")
		Expect(p.Parallel).To(Equal(1))
		Expect(p.Scenarios[0].Deadline).To(Equal(scenarios.HipDeadline))
	})

	It("takes what was given", func() {
		p := plannedOn("hip:1", kindRun, "--runs 3 --children 4 --timeout 5s --max-time 6m --max-fails 7 -p 8 --seed 0x10")
		Expect(p).To(And(HaveField("Runs", 3), HaveField("Children", 4), HaveField("MaxTime", 6*time.Minute),
			HaveField("MaxFails", 7), HaveField("Parallel", 8), HaveField("Seed", uint64(16)), HaveField("Device", "hip:1")))
		Expect(p.Scenarios[0].Deadline).To(Equal(5 * time.Second))
		Expect(plannedOn("sim", kindRun, "--failfast").MaxFails).To(Equal(1))
	})

	It("compares with what the scenario says, or what was asked", func() {
		p := plannedOn("sim", kindCompare, "")
		Expect(p.Runs).To(Equal(20))
		Expect(p.Scenarios[0].Arms).To(HaveLen(2))
		Expect(p.Scenarios[0].Arms[0]).To(Equal(harness.Arm{Name: harness.ArmProtected, Without: []string{}}))
		want, err := parseProtections("--without", first.Remove)
		Expect(err).NotTo(HaveOccurred())
		Expect(p.Scenarios[0].Arms[1]).To(Equal(harness.Arm{Name: harness.ArmRemoved, Without: want, Group: first.Remove[0]}))
		p = plannedOn("sim", kindCompare, "--without locks --without rocblas-status-check,rocblas-bind-lock")
		Expect(p.Scenarios[0].Arms[1].Without).To(Equal([]string{"rocblas-bind-lock", "rocblas-init-lock", "rocblas-status-check"}))
	})

	It("asks a device by name", func() {
		for flags, want := range map[string]string{
			"--device sim": "sim", "--device hip": "hip:0", "--device hip:2": "hip:2",
			"--sim arch=gfx942": "sim:arch=gfx942", "--device sim --sim arch=gfx90a": "sim:arch=gfx90a",
		} {
			var d deviceSettings
			f := pflag.NewFlagSet("test", pflag.ContinueOnError)
			d.register(f)
			Expect(f.Parse(strings.Fields(flags))).To(Succeed())
			spec, auto := d.spec()
			Expect(spec).To(Equal(want), flags)
			Expect(auto).To(BeFalse())
		}
		_, auto := (&deviceSettings{asked: deviceAuto}).spec()
		Expect(auto).To(BeTrue())
	})
})
