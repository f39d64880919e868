package main

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness"
)

var _ = Describe("bad input", func() {
	// Each line of the table is a command, and what its one line on stderr
	// must name: the flag, the value, and what is accepted.
	DescribeTable("is one line on stderr and exit code 2",
		func(command string, names ...string) {
			args := strings.Fields(command)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "EMPTY", "")
			}
			got := inProcess(args...)
			Expect(got.code).To(Equal(harness.ExitUsage), got.stderr)
			Expect(got.stdout).To(BeEmpty())
			Expect(strings.Count(got.stderr, "\n")).To(Equal(1), got.stderr)
			Expect(got.stderr).To(HavePrefix("stress: "))
			for _, n := range names {
				Expect(got.stderr).To(ContainSubstring(n))
			}
			Expect("stress-results").NotTo(BeADirectory())
		},
		Entry(nil, "", "no command", "compare"),
		Entry(nil, "rn first-gemm --runs 3", `"rn"`, "did you mean run?", "accepted: compare"),
		Entry(nil, "frobnicate", `"frobnicate": unknown; accepted: `),
		Entry(nil, "help rn", `"rn"`, "did you mean run?"),
		Entry(nil, "run", "no scenario", "accepted: first-gemm"),
		Entry(nil, "run first-gem", `scenario "first-gem"`, "did you mean first-gemm?", "accepted: first-gemm, "),
		Entry(nil, "run first-gemm zzz", `scenario "zzz": unknown; accepted`),
		Entry(nil, "run first-gemm first-gemm", `"first-gemm"`, "twice"),
		Entry(nil, "run first-gemm --rnus 3", `"--rnus"`, "did you mean --runs?", "--children"),
		Entry(nil, "run first-gemm -x", "unknown shorthand flag", "-x"),
		Entry(nil, "run first-gemm --runs", "--runs: no value", "whole number from 1"),
		Entry(nil, "run first-gemm --runs 0", `--runs "0"`, "from 1 to 1000000"),
		Entry(nil, "run first-gemm --runs=-1", `--runs "-1"`),
		Entry(nil, "run first-gemm --runs 1.5", `--runs "1.5"`),
		Entry(nil, "run first-gemm --runs 99999999999999999999", `--runs "99999999999999999999"`),
		Entry(nil, "run first-gemm --children 0", `--children "0"`, "from 1"),
		Entry(nil, "run first-gemm --threads -1", `--threads "-1"`, "from 1"),
		Entry(nil, "run first-gemm --threads 0", `--threads "0"`),
		Entry(nil, "run first-gemm --rounds x", `--rounds "x"`),
		Entry(nil, "run first-gemm -p 0", `--parallel "0"`),
		Entry(nil, "run first-gemm --max-fails 0", `--max-fails "0"`),
		Entry(nil, "run first-gemm --shape 4x4", `--shape "4x4"`, "MxKxN"),
		Entry(nil, "run first-gemm --shape 4x0x4", `--shape "4x0x4"`),
		Entry(nil, "run first-gemm --shape 4x4x4x4", `--shape "4x4x4x4"`),
		Entry(nil, "run first-gemm --shape 4x-4x4", `--shape "4x-4x4"`),
		Entry(nil, "run first-gemm --shape 9999x4x4", `--shape "9999x4x4"`, "to 8192"),
		Entry(nil, "run first-gemm --shape 8192x64x8192 --rounds 1000", "--rounds 1000", "GiB of host memory"),
		Entry(nil, "run first-gemm --inputs mixd", `--inputs "mixd"`, "did you mean mixed?", "accepted: mixed, seed"),
		Entry(nil, "run first-gemm --load 5TB", `--load "5TB"`, "accepted: auto, off"),
		Entry(nil, "run first-gemm --load=EMPTY", `--load ""`),
		Entry(nil, "run first-gemm --device cuda", `--device "cuda"`, "accepted: auto, sim, hip, hip:N"),
		Entry(nil, "run first-gemm --device hpi", `--device "hpi"`, "did you mean hip?"),
		Entry(nil, "run first-gemm --device hip:x", `--device "hip:x"`, "hip:N"),
		Entry(nil, "run first-gemm --device sim:arch=x", `--device "sim:arch=x"`, "--sim"),
		Entry(nil, "run first-gemm --sim colour=red", `--sim "colour=red"`, "accepted keys: arch"),
		Entry(nil, "run first-gemm --sim devices=-1", `--sim "devices=-1"`, "devices"),
		Entry(nil, "run first-gemm --sim=EMPTY", `--sim ""`),
		Entry(nil, "run first-gemm --device hip --sim arch=gfx942", `--sim "arch=gfx942"`, "hip is no simulated device"),
		Entry(nil, "run first-gemm --without rocblas-int-lock", `--without "rocblas-int-lock"`, "did you mean rocblas-init-lock?", "old-device"),
		Entry(nil, "run first-gemm --without locks,,all", `--without "locks,,all"`, "separated by commas"),
		Entry(nil, "compare first-gemm --without=EMPTY", `--without ""`),
		Entry(nil, "run first-gemm --seed -1", `--seed "-1"`, "from 0"),
		Entry(nil, "run first-gemm --timeout 0s", `--timeout "0s"`, "from 1ms"),
		Entry(nil, "run first-gemm --timeout 10", `--timeout "10"`, "such as 90s"),
		Entry(nil, "run first-gemm --max-time -5s", `--max-time "-5s"`),
		Entry(nil, "run first-gemm --format yaml", `--format "yaml"`, "accepted: text, json, md"),
		Entry(nil, "run first-gemm --require reproduction", `--require "reproduction"`, "accepted: clean"),
		Entry(nil, "compare first-gemm --require detecton", `--require "detecton"`, "did you mean detection?"),
		Entry(nil, "compare first-gemm --expect-failures", `"--expect-failures": unknown`),
		Entry(nil, "run first-gemm --expect-failures --require clean", "--expect-failures and --require"),
		Entry(nil, "run first-gemm -q -v", "--quiet and --verbose"),
		Entry(nil, "run first-gemm --failfast --max-fails 2", "--failfast", "--max-fails 2"),
		Entry(nil, "run first-gemm --out /proc/none/x", `--out "/proc/none/x"`, "accepted: a new or empty directory"),
		Entry(nil, "run first-gemm --out usage_test.go", `--out "usage_test.go"`, "not a directory"),
		Entry(nil, "run first-gemm --out usage_test.go/x", `--out "usage_test.go/x"`, "accepted: a new"),
		Entry(nil, "run first-gemm --out .", `--out "."`, "is not empty"),
		Entry(nil, "run first-gemm --out=EMPTY", `--out ""`, "want a path"),
		Entry(nil, "run first-gemm --junit /nowhere/x.xml", `--junit "/nowhere/x.xml"`, "no such file or directory"),
		Entry(nil, "run first-gemm --junit .", `--junit "."`, "is a directory"),
		Entry(nil, "list scenaros", `"scenaros"`, "did you mean scenarios?"),
		Entry(nil, "list scenarios points", "2 lists"),
		Entry(nil, "doctor sim", `"sim"`, "--device"),
		Entry(nil, "doctor --device gpu", `--device "gpu"`),
		Entry(nil, "replay", "0 directories"),
		Entry(nil, "replay testdata", `"testdata"`, "manifest.json"),
		Entry(nil, "replay /nowhere", `"/nowhere"`, "manifest.json"),
		Entry(nil, "replay x --times 0", `--times "0"`),
	)

	It("is shown without what could act on a terminal", func() {
		got := inProcess("run", "\x1b[2J\nfirst-gemm\u202e")
		Expect(got.code).To(Equal(harness.ExitUsage))
		Expect(got.stderr).NotTo(ContainSubstring("\x1b"))
		Expect(strings.Count(got.stderr, "\n")).To(Equal(1))
	})

	It("leaves no file behind", func() {
		dir := GinkgoT().TempDir()
		got := inProcess("run", "first-gemm", "--out", filepath.Join(dir, "o"), "--junit", filepath.Join(dir, "j", "x.xml"))
		Expect(got.code).To(Equal(harness.ExitUsage))
		Expect(os.ReadDir(dir)).To(BeEmpty())
	})
})

var _ = Describe("help", func() {
	DescribeTable("names every flag and the exit codes", func(golden string, args ...string) {
		got := inProcess(args...)
		Expect(got.code).To(Equal(harness.ExitClean))
		Expect(got.stderr).To(BeEmpty())
		Expect(got.stdout).To(ContainSubstring("125  the device"))
		expectGolden(golden, got.stdout)
	},
		Entry("of stress", "help.txt", "--help"),
		Entry("of run", "help-run.txt", "run", "--help"),
		Entry("of compare", "help-compare.txt", "help", "compare"),
		Entry("of replay", "help-replay.txt", "replay", "-h"),
		Entry("of list", "help-list.txt", "list", "-h"),
		Entry("of doctor", "help-doctor.txt", "doctor", "-h"),
	)

	It("tells the version", func() {
		got := inProcess("--version")
		Expect(got.code).To(Equal(harness.ExitClean))
		Expect(got.stdout).To(MatchRegexp(`^\S.*\n$`))
	})
})

var _ = Describe("a name that is nearly right", func() {
	accepted := []string{"first-gemm", "stream-rebind", "locks", "all"}
	DescribeTable("is recognised", func(given, want string) {
		Expect(nearest(given, accepted)).To(Equal(want))
	},
		Entry("a letter missing", "first-gem", "first-gemm"),
		Entry("a letter too many", "first-gemmm", "first-gemm"),
		Entry("two swapped", "frist-gemm", "first-gemm"),
		Entry("one wrong", "stream-rebund", "stream-rebind"),
		Entry("the beginning", "str", "stream-rebind"),
		Entry("nothing like it", "teardown", ""),
		Entry("too short to tell", "x", ""),
		Entry("empty", "", ""),
	)
})
