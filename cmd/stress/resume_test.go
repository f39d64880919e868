package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
)

// finishedRun returns the results directory of a run with two children.
func finishedRun() string {
	GinkgoHelper()
	dir := freshDir()
	got := inProcess(small("run", "first-gemm", "--seed", "7", "-p", "1", "--load", "off", "--timeout", "30s", "--out", dir)...)
	Expect(got.code).To(Equal(harness.ExitClean), got.stderr)
	return dir
}

// editManifest changes the manifest of a results directory.
func editManifest(dir string, edit func(m *results.Manifest)) {
	GinkgoHelper()
	path := filepath.Join(dir, "manifest.json")
	doc, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	var m results.Manifest
	Expect(json.Unmarshal(doc, &m)).To(Succeed())
	edit(&m)
	doc, err = json.Marshal(m)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(path, doc, 0o644)).To(Succeed())
}

func keepLines(dir string, n int, more string) {
	GinkgoHelper()
	path := filepath.Join(dir, "results.jsonl")
	text, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	kept := strings.Join(strings.SplitAfter(string(text), "\n")[:n], "")
	Expect(os.WriteFile(path, []byte(kept+more), 0o644)).To(Succeed())
}

func recordsOf(dir string) (all []harness.Record) {
	GinkgoHelper()
	d, err := results.Open(dir)
	Expect(err).NotTo(HaveOccurred())
	Expect(d.Records(func(r harness.Record) error { all = append(all, r); return nil })).To(Succeed())
	return all
}

var _ = Describe("--resume", func() {
	It("runs what is missing, once, and reports all of it", func() {
		dir := finishedRun()
		want := recordsOf(dir)
		keepLines(dir, 1, `{"v":1,"scenario":"first-`) // the driver died while it wrote the second
		args := small("run", "first-gemm", "--seed", "0x7", "-p", "1", "--load", "off", "--timeout", "30000ms", "--out", dir, "--resume", dir, "--format", "json")
		got := inProcess(args...)
		Expect(got.code).To(Equal(harness.ExitClean), got.stderr)
		r := decode(got.stdout)
		Expect(r.Earlier).To(Equal(1))
		Expect(r.Scenarios[0].Arms[0].Children).To(Equal(2))
		all := recordsOf(dir)
		Expect(all).To(HaveLen(2))
		for i := range all {
			Expect(all[i].Key()).To(Equal(want[i].Key()))
			Expect(all[i].Seed).To(Equal(want[i].Seed))
		}
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Manifest().Command).NotTo(ContainElement("--resume"), "that of the beginning")
		Expect(d.Manifest().Resumed).To(HaveExactElements(HaveField("Command", r.Command)))
	})

	It("repeats the verdict of a campaign that is complete", func() {
		dir := finishedRun()
		got := inProcess("run", "--resume", dir, "--no-progress", "--device", "auto")
		Expect(got.code).To(Equal(harness.ExitClean), got.stderr)
		Expect(got.stdout).To(And(ContainSubstring("0 of 2"), ContainSubstring("resumed:   2 children")))
		Expect(recordsOf(dir)).To(HaveLen(2))
	})

	It("continues a campaign that was interrupted", func() {
		cwd := GinkgoT().TempDir()
		s := start(cwd, small("compare", "first-gemm", "--runs", "4", "-p", "2", "--out", "out")...)
		Eventually(func() int { return recorded(filepath.Join(cwd, "out")) }, "20s").Should(BeNumerically(">=", 3))
		s.Interrupt()
		Eventually(s, "15s").Should(gexec.Exit(harness.ExitInterrupted))
		before := recordsOf(filepath.Join(cwd, "out"))
		s = start(cwd, "compare", "--resume", "out", "--no-progress", "--format", "json")
		Eventually(s, "60s").Should(gexec.Exit())
		Expect(s.ExitCode()).To(BeElementOf(harness.ExitClean, harness.ExitInconclusive), "two threads may not overlap")
		r := decode(string(s.Out.Contents()))
		done := 0
		for _, b := range before {
			if b.Outcome != harness.NotMeasured {
				done++
			}
		}
		Expect(r.Earlier).To(Equal(done))
		Expect(r.Stopped).To(BeEmpty())
		for _, a := range r.Scenarios[0].Arms {
			Expect([]int{a.Children, a.NotMeasured}).To(Equal([]int{8, 0}))
		}
		Expect(recordsOf(filepath.Join(cwd, "out"))).To(HaveLen(16))
	})

	It("refuses another environment of this process", func() {
		dir := finishedRun()
		got := inProcessWith(append(os.Environ(), "HIP_VISIBLE_DEVICES=3"), "run", "--resume", dir)
		Expect(got.code).To(Equal(harness.ExitUsage))
		Expect(got.stderr).To(ContainSubstring(`the environment variable HIP_VISIBLE_DEVICES was not set, is "3"`))
	})

	DescribeTable("takes a second --resume or a bad value like any other flag",
		func(args string, says string) {
			got := inProcess(strings.Fields(args)...)
			Expect(got.code).To(Equal(harness.ExitUsage))
			Expect(got.stderr).To(ContainSubstring(says))
		},
		Entry(nil, "run --resume=", `--resume "": want a path`),
		Entry(nil, "run --resume /nowhere", `--resume "/nowhere": no results directory`),
		Entry(nil, "compare --resume testdata", `--resume "testdata": no results directory`),
		Entry(nil, "run first-gemm --wait -1s", `--wait "-1s": want 0 or a duration`),
		Entry(nil, "run first-gemm --wait soon", `--wait "soon"`),
	)

	It("does not take a campaign that is still running", func() {
		dir := finishedRun()
		w, err := results.Reopen(dir)
		Expect(err).NotTo(HaveOccurred())
		defer w.Close()
		got := inProcess("run", "--resume", dir)
		Expect(got.code).To(Equal(harness.ExitUnavailable))
		Expect(got.stderr).To(ContainSubstring("another process is writing to it"))
	})

	It("does not count records of another plan", func() {
		dir := finishedRun()
		editManifest(dir, func(m *results.Manifest) { m.Plan.Seed++ })
		got := inProcess("run", "--resume", dir, "--no-progress")
		Expect(got.code).To(Equal(harness.ExitHarness))
		Expect(got.stderr).To(ContainSubstring("not of this campaign"))
	})
})

var _ = Describe("--resume", Ordered, func() {
	var finished string
	BeforeAll(func() { finished = finishedRun() })

	DescribeTable("refuses what would be another campaign, in one line",
		func(args string, spoil func(dir string), says ...string) {
			dir := freshDir()
			Expect(os.CopyFS(dir, os.DirFS(finished))).To(Succeed())
			if spoil != nil {
				spoil(dir)
			}
			before := tree(dir)
			got := inProcess(append([]string{"run", "--resume", dir}, strings.Fields(args)...)...)
			Expect(got.code).To(Equal(harness.ExitUsage), got.stdout+got.stderr)
			Expect(got.stdout).To(BeEmpty())
			Expect(strings.Count(got.stderr, "\n")).To(Equal(1), got.stderr)
			Expect(got.stderr).To(HavePrefix("stress: --resume " + fmt.Sprintf("%q: ", dir)))
			for _, want := range says {
				Expect(got.stderr).To(ContainSubstring(want))
			}
			Expect(tree(dir)).To(Equal(before), "it is left as it was")
		},
		Entry(nil, "--runs 3", nil, "--runs 3: the campaign has 1,"),
		Entry(nil, "--children 3", nil, "--children 3: the campaign has 2,"),
		Entry(nil, "--threads 3", nil, "--threads 3: the campaign has 2,"),
		Entry(nil, "--rounds 3", nil, "--rounds 3: the campaign has 2,"),
		Entry(nil, "--shape 4x4x5", nil, "--shape 4x4x5: the campaign has 4x4x4,"),
		Entry(nil, "--inputs seed", nil, "--inputs seed: the campaign has mixed,"),
		Entry(nil, "--load 4KiB", nil, "--load 4KiB: the campaign has off,"),
		Entry(nil, "--device hip", nil, "--device hip:0: the campaign has sim,"),
		Entry(nil, "--sim arch=gfx942", nil, "--sim sim:arch=gfx942: the campaign has sim,"),
		Entry(nil, "--without locks", nil, "--without rocblas-bind-lock,rocblas-init-lock: the campaign has nothing removed,"),
		Entry(nil, "--seed 8", nil, "--seed 8: the campaign has 7,"),
		Entry(nil, "--timeout 31s", nil, "--timeout 31s: the campaign has 30s,"),
		Entry(nil, "--max-time 1h", nil, "--max-time 1h0m0s: the campaign has no limit,"),
		Entry(nil, "--max-fails 2", nil, "--max-fails 2: the campaign has no limit,"),
		Entry(nil, "--failfast", nil, "--failfast 1: the campaign has no limit,"),
		Entry(nil, "-p 3", nil, "--parallel 3: the campaign has 1,"),
		Entry(nil, "--out elsewhere", nil, `--out "elsewhere"`, "accepted: --out"),
		Entry(nil, "stream-rebind", nil, "has the scenarios first-gemm, given were stream-rebind"),
		Entry(nil, "first-gemm stream-rebind", nil, "given were first-gemm stream-rebind"),
		Entry("a comparison", "", func(dir string) {
			editManifest(dir, func(m *results.Manifest) { m.Plan.Scenarios[0].Arms[0].Name = harness.ArmProtected })
		}, "was a stress compare, this is a stress run"),
		Entry("another binary", "", func(dir string) {
			editManifest(dir, func(m *results.Manifest) { m.Build, m.Tool = "sha256:77", "v0.1" })
		}, "the stress binary was sha256:77 (v0.1), is sha256:"),
		Entry("a binary nobody noted", "", func(dir string) {
			editManifest(dir, func(m *results.Manifest) { m.Build = "" })
		}, "the stress binary was unknown"),
		Entry("a variable more", "", func(dir string) {
			editManifest(dir, func(m *results.Manifest) { m.Environment["HSA_XNACK"] = "1" })
		}, `the environment variable HSA_XNACK was "1", is not set`),
		Entry("a plan that cannot run", "", func(dir string) {
			editManifest(dir, func(m *results.Manifest) { m.Plan.Scenarios = nil })
		}, "plan: no scenario"),
		Entry("arms that are gone", "", func(dir string) {
			editManifest(dir, func(m *results.Manifest) { m.Plan.Scenarios[0].Arms = nil })
		}, "has no arm"),
		Entry("another schema", "", func(dir string) {
			Expect(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"schema":"x"}`), 0o644)).To(Succeed())
		}, `schema "x"`),
		Entry("no results", "", func(dir string) { Expect(os.Remove(filepath.Join(dir, "manifest.json"))).To(Succeed()) },
			"no results directory; accepted: what --out named"),
		Entry("damaged results", "", func(dir string) { keepLines(dir, 1, "{}\n{}\n") }, "results.jsonl line 2"),
	)
})

var _ = Describe("the plan of a resumed campaign", func() {
	// These say how, not what, to run.
	free := []string{"require", "expect-failures", "out", "resume", "wait", "junit", "format", "quiet", "verbose", "no-progress"}

	It("is guarded against every flag", func() {
		for _, kind := range []campaignKind{kindRun, kindCompare} {
			var s settings
			f := pflag.NewFlagSet("test", pflag.ContinueOnError)
			s.register(f, kind)
			guarded := slices.Clone(free)
			for _, p := range s.planFlags(smallPlan(), nil) {
				guarded = append(guarded, p.name)
			}
			f.VisitAll(func(f *pflag.Flag) { Expect(guarded).To(ContainElement(f.Name)) })
		}
	})

	It("names what each scenario has where they differ", func() {
		p := smallPlan()
		other := p.Scenarios[0]
		other.Name, other.Settings.Threads = "other", 5
		p.Scenarios = append(p.Scenarios, other)
		var s settings
		f := pflag.NewFlagSet("test", pflag.ContinueOnError)
		s.register(f, kindRun)
		Expect(f.Parse([]string{"--threads", "5", "--rounds", "2"})).To(Succeed())
		Expect(s.checkPlan(p, nil)).To(MatchError(ContainSubstring("--threads 5: the campaign has 2 and 5,")))
	})
})

var _ = Describe("the device of a resumed campaign", func() {
	gpu := func(build string) *wire.Device {
		return &wire.Device{Driver: "hip", Name: "MI300X", Libraries: []wire.Library{{Name: "libamdhip64.so.7", BuildID: build}}}
	}
	kernel := harness.ThisHost()

	It("is the same, with the same libraries and kernel driver", func() {
		Expect(checkDevice(results.Manifest{Device: *gpu("aa"), Host: kernel}, gpu("aa"))).To(Succeed())
		Expect(checkDevice(results.Manifest{Device: *gpu("aa"), Host: kernel}, gpu("bb"))).
			To(MatchError("library libamdhip64.so.7 was build id aa, is build id bb"))
		other := kernel
		other.KernelDrivers = map[string]string{"amdgpu": "0.0.1"}
		Expect(checkDevice(results.Manifest{Device: *gpu("aa"), Host: other}, gpu("aa"))).
			To(MatchError(HavePrefix(`the kernel's amdgpu was "0.0.1", is "`)))
	})

	It("is not compared where there is nothing to compare with", func() {
		Expect(checkDevice(results.Manifest{}, gpu("aa"))).To(Succeed(), "nobody said what was opened")
		Expect(checkDevice(results.Manifest{Device: *gpu("aa")}, nil)).To(Succeed(), "a simulated device")
	})
})

var _ = Describe("a manifest", func() {
	It("says with what the campaign was run", func() {
		dir := freshDir()
		env := append(os.Environ(), "HIP_VISIBLE_DEVICES=0", "MLX_TOKEN=t0p")
		got := inProcessWith(env, small("run", "first-gemm", "--out", dir)...)
		Expect(got.code).To(Equal(harness.ExitClean))
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		m := d.Manifest()
		Expect(m.Environment).To(And(HaveKeyWithValue("HIP_VISIBLE_DEVICES", "0"), HaveKeyWithValue("MLX_TOKEN", "(hidden)")))
		Expect(m.Tool).NotTo(BeEmpty())
		Expect(m.Host.Go).To(HavePrefix("go1."))
		Expect(m.Host.KernelDrivers).To(HaveKey("linux"))
		Expect(m.Device.Driver).To(Equal("sim"))
		name, err := os.Hostname()
		Expect(err).NotTo(HaveOccurred())
		doc, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(doc)).NotTo(ContainSubstring(`"` + name))
	})

	It("knows the device as soon as a child has opened it", func() {
		cwd := GinkgoT().TempDir()
		s := start(cwd, small("run", "first-gemm", "--runs", "1000", "--out", "out")...)
		Eventually(func() int { return recorded(filepath.Join(cwd, "out")) }, "20s").Should(BeNumerically(">=", 1))
		s.Signal(unix.SIGKILL)
		Eventually(s, "5s").Should(gexec.Exit())
		d, err := results.Open(filepath.Join(cwd, "out"))
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Manifest().Device.Driver).To(Equal("sim"))
	})
})
