package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness"
	"rocstress/harness/results"
)

// decode reads a report as a user's script would.
func decode(doc string) harness.Report {
	GinkgoHelper()
	var r harness.Report
	Expect(json.Unmarshal([]byte(doc), &r)).To(Succeed(), doc)
	return r
}

var _ = Describe("run", func() {
	It("exits with 0 where every child passed, and says on what", func() {
		dir := freshDir()
		got := inProcess(small("run", "first-gemm", "--out", dir, "--seed", "7")...)
		Expect(got.code).To(Equal(harness.ExitClean), got.stdout+got.stderr)
		Expect(got.stderr).To(BeEmpty())
		Expect(got.stdout).To(And(HavePrefix("first-gemm: CLEAN\n"), ContainSubstring("0 of 2"),
			ContainSubstring("on a simulated device"), ContainSubstring("seed 7"), ContainSubstring(dir)))
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Manifest().Plan.Seed).To(Equal(uint64(7)))
		Expect(d.Manifest().Device.Simulated).To(BeTrue())
		Expect(d.Manifest().Build).To(HavePrefix("sha256:"))
		doc, err := os.ReadFile(filepath.Join(dir, reportName))
		Expect(err).NotTo(HaveOccurred())
		Expect(decode(string(doc)).Scenarios[0].Verdict.Kind).To(Equal(harness.Clean))
	})

	It("exits with 1 where a child failed, and prints how to rerun it", func() {
		dir := freshDir()
		got := inProcess(small(append(broken, "run", "first-gemm", "--out", dir)...)...)
		Expect(got.code).To(Equal(harness.ExitFindings), got.stdout+got.stderr)
		for _, child := range []string{"1", "2"} {
			Expect(got.stderr).To(ContainSubstring("reproduce: stress replay " + dir + " --run 1 --child " + child + " --arm run\n"))
		}
		Expect(got.stdout).To(ContainSubstring("FINDINGS"))
	})

	It("turns around with --expect-failures", func() {
		Expect(inProcess(small(append(broken, "run", "first-gemm", "--expect-failures", "--out", freshDir())...)...).code).
			To(Equal(harness.ExitClean))
		Expect(inProcess(small("run", "first-gemm", "--expect-failures", "--out", freshDir())...).code).
			To(Equal(harness.ExitInconclusive))
	})

	It("exits with 125 where the device is not to be had", func() {
		dir := freshDir()
		got := inProcessWith(noROCm(), "run", "first-gemm", "--device", "hip", "--out", dir)
		Expect(got.code).To(Equal(harness.ExitUnavailable), got.stdout+got.stderr)
		Expect(got.stdout).To(BeEmpty())
		Expect(got.stderr).To(And(ContainSubstring("--device hip: not usable"), ContainSubstring("/nonexistent/libamdhip64.so")))
		Expect(strings.Count(got.stderr, "\n")).To(Equal(1))
		Expect(dir).NotTo(BeADirectory(), "nothing ran, so nothing is left")
	})

	It("says that auto fell back to a simulated device", func() {
		args := small("run", "first-gemm", "--format", "json", "--out", freshDir())
		got := inProcessWith(noROCm(), append(args, "--device", "auto")...)
		Expect(got.code).To(Equal(harness.ExitClean), got.stderr)
		Expect(got.stderr).To(And(ContainSubstring("--device auto: runs on sim"), ContainSubstring("/nonexistent")))
		r := decode(got.stdout)
		Expect(r.Plan.Device).To(Equal("sim"))
		Expect(r.Subject).To(ContainSubstring("simulated"))
	})

	It("passes settings and the environment on to children", func() {
		got := inProcess(small("run", "first-gemm", "--format", "json", "--seed", "5", "--timeout", "30s", "--inputs", "seed",
			"--load", "4KiB", "--sim", "arch=gfx942,create=0s", "--without", "rocblas-status-check", "-p", "1", "--out", freshDir())...)
		r := decode(got.stdout)
		s := r.Plan.Scenarios[0]
		Expect(s.Settings.Threads).To(Equal(2))
		Expect(s.Settings.Shape.String()).To(Equal("4x4x4"))
		Expect(s.Settings.Inputs + s.Settings.Load).To(Equal("seed4KiB"))
		Expect(s.Deadline.Seconds()).To(Equal(30.0))
		Expect(s.Env).To(HaveKeyWithValue("MLX_NO_HIPBLASLT", "1"))
		Expect(s.Arms).To(HaveExactElements(harness.Arm{Name: harness.ArmRun, Without: []string{"rocblas-status-check"}}))
		Expect(r.Plan.Parallel).To(Equal(1))
		Expect(r.Device.Arch).To(Equal("gfx942"), "a child opened it")
		Expect(r.Command[:3]).To(Equal([]string{"stress", "run", "first-gemm"}))
	})

	It("reports what was counted when time is up", func() {
		got := inProcess(small("run", "first-gemm", "--sim", "create=1h", "--max-time", "300ms", "--format", "json", "--out", freshDir())...)
		Expect(got.code).NotTo(Equal(harness.ExitClean))
		Expect(decode(got.stdout).Stopped).To(ContainSubstring("max-time"))
	})

	It("ends a child that takes too long", func() {
		got := inProcess(small("run", "first-gemm", "--sim", "create=1h", "--timeout", "300ms", "--format", "json", "--out", freshDir())...)
		Expect(got.code).To(Equal(harness.ExitFindings), got.stdout)
		Expect(got.stderr).To(Or(ContainSubstring("timeout"), ContainSubstring("hang")))
	})

	It("exits with 4 where it cannot do its work", func() {
		var errs strings.Builder
		args := small("run", "first-gemm", "--out", freshDir())
		code := run(context.Background(), args, os.Environ(), strings.NewReader(""), fullDisk{}, &errs)
		Expect(code).To(Equal(harness.ExitHarness))
		Expect(errs.String()).To(Equal("stress: write to stdout: no space left\n"))
	})

	It("prints the report as the flags say", func() {
		md := inProcess(small("run", "first-gemm", "stream-rebind", "--format", "md", "--out", freshDir())...)
		Expect(md.stdout).To(And(ContainSubstring("### `first-gemm`: clean"), ContainSubstring("### `stream-rebind`: clean")))
		quiet := inProcess(small("run", "first-gemm", "-q", "--out", freshDir())...)
		Expect(quiet.stdout).To(MatchRegexp(`^first-gemm: CLEAN: .*\n$`))
		loud := inProcess(small(append(broken, "run", "first-gemm", "-v", "--out", freshDir())...)...)
		Expect(loud.stdout).To(ContainSubstring("failed children (2 of 2)"))
	})

	It("writes JUnit XML", func() {
		file := filepath.Join(GinkgoT().TempDir(), "junit.xml")
		got := inProcess(small(append(broken, "run", "first-gemm", "--junit", file, "--out", freshDir())...)...)
		Expect(got.code).To(Equal(harness.ExitFindings))
		Expect(junitFailures(file)).To(Equal(1))
		got = inProcess(small(append(broken, "run", "first-gemm", "--expect-failures", "--junit", file, "--out", freshDir())...)...)
		Expect(got.code).To(Equal(harness.ExitClean))
		Expect(junitFailures(file)).To(Equal(0), "the gate accepts what it asked for")
	})
})

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func junitFailures(file string) int {
	GinkgoHelper()
	doc, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	var suites struct {
		Failures int `xml:"failures,attr"`
	}
	Expect(xml.Unmarshal(doc, &suites)).To(Succeed())
	return suites.Failures
}

var _ = Describe("compare", func() {
	It("reproduces the failure with the scenario's protections removed", func() {
		got := inProcess("compare", "first-gemm", "--device", "sim", "--runs", "10", "--children", "1",
			"--threads", "8", "--rounds", "4", "--shape", "8x8x8", "--require", "reproduction", "--format", "json", "--no-progress", "--out", freshDir())
		r := decode(got.stdout)
		Expect(got.code).To(Equal(harness.ExitClean), got.stdout)
		s := r.Scenarios[0]
		Expect(s.Verdict.Kind).To(Equal(harness.Reproduction))
		Expect(s.Arms).To(HaveLen(2))
		Expect(s.Arms[0].Name + " " + s.Arms[1].Name).To(Equal("protected removed"))
		Expect(s.Arms[0].ChildrenFailed).To(BeZero())
		Expect(s.Arms[1].Without).To(ContainElement("rocblas-init-lock"))
		Expect(s.Failures[0].Reproduce).To(HavePrefix("stress replay "))
	})

	It("exits with 1 where a protected child failed", func() {
		got := inProcess(small(append(broken, "compare", "first-gemm", "--runs", "2", "--out", freshDir())...)...)
		Expect(got.code).To(Equal(harness.ExitFindings), got.stdout)
		Expect(got.stdout).To(ContainSubstring("REGRESSION"))
	})

	It("asks for more evidence with --require", func() {
		// No status is bad here, so nothing fails where none is checked.
		args := small("compare", "first-gemm", "--runs", "1", "--without", "rocblas-status-check", "--format", "json")
		got := inProcess(append(args, "--out", freshDir())...)
		kind := decode(got.stdout).Scenarios[0].Verdict.Kind
		Expect(kind).To(BeElementOf(harness.Guard, harness.NoContention))
		got = inProcess(append(args, "--require", "detection", "--out", freshDir())...)
		Expect(got.code).To(Equal(harness.ExitInconclusive))
	})
})

var _ = Describe("list", func() {
	It("lists names for scripts", func() {
		got := inProcess("list", "scenarios", "--names")
		Expect(strings.Fields(got.stdout)).To(ContainElements("first-gemm", "stream-rebind"))
		got = inProcess("list", "protections", "--names")
		Expect(strings.Fields(got.stdout)).To(And(ContainElement("rocblas-init-lock"), Not(ContainElement("locks"))))
	})

	It("lists everything with a few words", func() {
		Expect(inProcess("list").stdout).To(Equal(inProcess("list", "scenarios").stdout))
		Expect(inProcess("list", "protections").stdout).To(MatchRegexp(`(?m)^locks +group of rocblas-init-lock, rocblas-bind-lock$`))
		Expect(inProcess("list", "points").stdout).To(MatchRegexp(`(?m)^rocblas.bound +between bind and GEMM$`))
		got := inProcessWith(noROCm(), "list", "devices")
		Expect(got.stdout).To(MatchRegexp(`^sim +simulated .*a simulated device\n$`))
		Expect(got.stderr).To(ContainSubstring("hip:0 is not usable"))
	})
})
