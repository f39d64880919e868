package results_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
)

func manifest() results.Manifest {
	return results.Manifest{
		Tool: "v1", Command: []string{"stress", "compare", "first-gemm"}, Created: time.Unix(1, 0).UTC(),
		Host: harness.Host{OS: "linux", Arch: "amd64", Cores: 8, Go: "go1.26"}, Device: wire.Device{Driver: "sim"},
		Plan: harness.Plan{
			Runs: 20, Children: 10, Parallel: 1, Seed: 1<<63 + 5, Device: "sim:",
			Scenarios: []harness.ScenarioPlan{{Name: "first-gemm", Arms: []harness.Arm{
				{Name: harness.ArmProtected, Without: []string{}}, {Name: harness.ArmRemoved, Without: []string{"rocblas-init-lock"}},
			}, Deadline: 3 * time.Second}},
		},
		Environment: map[string]string{"HIP_VISIBLE_DEVICES": "1"},
		Resumed:     []results.Invocation{{Command: []string{"stress", "compare", "--resume", "x"}, At: time.Unix(2, 0).UTC()}},
	}
}

func record(arm string, run, child int, o harness.Outcome) harness.Record {
	return harness.Record{
		V: harness.RecordVersion, Scenario: "first-gemm", Arm: arm, Run: run, Child: child, Seed: 1<<63 + 9,
		Outcome: o, SkewNS: []int64{0, 400}, Overlap: 8, Evidence: "said\n\"so\"", Exit: harness.ExitRec{Code: -1, Signal: "SIGSEGV"},
	}
}

func readAll(dir string) []harness.Record {
	GinkgoHelper()
	d, err := results.Open(dir)
	Expect(err).NotTo(HaveOccurred())
	var all []harness.Record
	Expect(d.Records(func(r harness.Record) error { all = append(all, r); return nil })).To(Succeed())
	return all
}

var _ = Describe("A results directory", func() {
	var dir string
	BeforeEach(func() { dir = filepath.Join(GinkgoT().TempDir(), "a", "b") })

	create := func() *results.Writer {
		GinkgoHelper()
		w, err := results.Create(dir, manifest())
		Expect(err).NotTo(HaveOccurred())
		return w
	}
	appendRaw := func(text string) {
		GinkgoHelper()
		f, err := os.OpenFile(filepath.Join(dir, "results.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
		Expect(err).NotTo(HaveOccurred())
		_, err = f.WriteString(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(f.Close()).To(Succeed())
	}

	It("gives back what was written", func() {
		w := create()
		want := []harness.Record{
			record(harness.ArmProtected, 1, 1, harness.Pass),
			record(harness.ArmRemoved, 1, 1, harness.HostCrash),
		}
		for _, r := range want {
			Expect(w.Append(r)).To(Succeed())
		}
		Expect(w.Sync()).To(Succeed())
		Expect(w.Close()).To(Succeed())
		Expect(readAll(dir)).To(Equal(want))
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		m := manifest()
		m.Schema = results.ManifestSchema
		Expect(d.Manifest()).To(Equal(m))
		r, ok, err := d.Find(want[1].Key())
		Expect(err).NotTo(HaveOccurred())
		Expect(ok).To(BeTrue())
		Expect(r).To(Equal(want[1]))
		_, ok, err = d.Find(harness.Key{Scenario: "first-gemm", Arm: harness.ArmRemoved, Run: 9, Child: 9})
		Expect(err).NotTo(HaveOccurred())
		Expect(ok).To(BeFalse())
	})

	It("writes one line a record", func() {
		w := create()
		Expect(w.Append(record(harness.ArmRemoved, 1, 1, harness.HostCrash))).To(Succeed())
		text, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(text), "\n")).To(Equal(1))
		Expect(string(text)).To(HaveSuffix("}\n"))
		Expect(w.Close()).To(Succeed())
	})

	It("keeps evidence where it says", func() {
		w := create()
		k := harness.Key{Scenario: "first-gemm", Arm: harness.ArmRemoved, Run: 3, Child: 7}
		Expect(w.Evidence(k, []harness.File{{Name: "stderr", Data: []byte("x")}, {Name: "../../escaped", Data: nil}})).To(Succeed())
		Expect(w.Close()).To(Succeed())
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.EvidenceDir(k)).To(Equal(filepath.Join(dir, "runs/003/child-07-removed")))
		Expect(os.ReadFile(filepath.Join(d.EvidenceDir(k), "stderr"))).To(Equal([]byte("x")))
		Expect(filepath.Join(dir, "runs", "escaped")).NotTo(BeAnExistingFile())
	})

	It("names the arm and the scenario of evidence where there are several", func() {
		w := create()
		m := manifest()
		one := harness.Key{Scenario: "first-gemm", Arm: harness.ArmRun, Run: 12, Child: 130}
		Expect(w.SetManifest(m)).To(Succeed())
		m.Plan.Scenarios = append(m.Plan.Scenarios, harness.ScenarioPlan{Name: "../x"})
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.EvidenceDir(one)).To(Equal(filepath.Join(dir, "runs/012/child-130")))
		Expect(w.SetManifest(m)).To(Succeed())
		d, err = results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.EvidenceDir(one)).To(Equal(filepath.Join(dir, "runs/first-gemm/012/child-130")))
		Expect(d.EvidenceDir(harness.Key{Scenario: "../x", Arm: "a/b", Run: 1, Child: 1})).
			To(Equal(filepath.Join(dir, "runs/_.._x/001/child-01-a_b")))
		Expect(w.Close()).To(Succeed())
	})

	It("refuses a directory that holds anything", func() {
		Expect(create().Close()).To(Succeed())
		_, err := results.Create(dir, manifest())
		Expect(err).To(MatchError(And(ContainSubstring(dir), ContainSubstring("not empty"), ContainSubstring("--out"))))
	})

	It("takes an empty directory", func() {
		Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
		Expect(create().Close()).To(Succeed())
	})

	It("refuses a place it cannot write to", func() {
		file := filepath.Join(GinkgoT().TempDir(), "file")
		Expect(os.WriteFile(file, nil, 0o644)).To(Succeed())
		_, err := results.Create(filepath.Join(file, "sub"), manifest())
		Expect(err).To(MatchError(And(ContainSubstring(file), ContainSubstring("--out"))))
	})

	It("is no results directory without a manifest", func() {
		_, err := results.Open(GinkgoT().TempDir())
		Expect(err).To(MatchError(fs.ErrNotExist))
		Expect(err).To(MatchError(ContainSubstring("no results directory")))
	})

	It("refuses a manifest of another schema", func() {
		Expect(create().Close()).To(Succeed())
		Expect(os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"schema":"rocstress.manifest/v9"}`), 0o644)).To(Succeed())
		_, err := results.Open(dir)
		Expect(err).To(MatchError(ContainSubstring("rocstress.manifest/v9")))
	})

	DescribeTable("tolerates a torn last line", func(torn string) {
		w := create()
		Expect(w.Append(record(harness.ArmRemoved, 1, 1, harness.Pass))).To(Succeed())
		Expect(w.Close()).To(Succeed())
		appendRaw(torn)
		Expect(readAll(dir)).To(HaveLen(1))
		w, err := results.Reopen(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Append(record(harness.ArmRemoved, 1, 2, harness.Pass))).To(Succeed())
		Expect(w.Close()).To(Succeed())
		all := readAll(dir)
		Expect(all).To(HaveLen(2))
		Expect(all[1].Child).To(Equal(2))
	},
		Entry("half a record", `{"v":1,"scenario":"first-`),
		Entry("one byte", `{`),
		Entry("blanks", "  "),
		Entry("nothing", ""),
	)

	It("keeps a last record whose newline is missing", func() {
		w := create()
		Expect(w.Append(record(harness.ArmRemoved, 1, 1, harness.Pass))).To(Succeed())
		Expect(w.Close()).To(Succeed())
		path := filepath.Join(dir, "results.jsonl")
		info, err := os.Stat(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Truncate(path, info.Size()-1)).To(Succeed())
		Expect(readAll(dir)).To(HaveLen(1))
		w, err = results.Reopen(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Append(record(harness.ArmRemoved, 1, 2, harness.Pass))).To(Succeed())
		Expect(w.Close()).To(Succeed())
		Expect(readAll(dir)).To(HaveLen(2))
	})

	DescribeTable("refuses a bad line that is not the last", func(bad, says string) {
		w := create()
		Expect(w.Close()).To(Succeed())
		appendRaw(bad + "\n{}")
		_, err := results.Reopen(dir)
		Expect(err).To(MatchError(And(ContainSubstring("line 1"), ContainSubstring(says))))
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Records(func(harness.Record) error { return nil })).
			To(MatchError(And(ContainSubstring("line 1"), ContainSubstring(says))))
	},
		Entry("torn in the middle", `{"v":1,`, "unexpected end"),
		Entry("another version", `{"v":2}`, "version 2"),
		Entry("no key", `{"v":1,"scenario":"s","arm":"run","run":0,"child":1,"outcome":"pass"}`, "without a key"),
		Entry("unknown outcome", `{"v":1,"scenario":"s","arm":"run","run":1,"child":1,"outcome":"fine"}`, "unknown outcome"),
		Entry("too long", strings.Repeat("x", 1<<20), "more than"),
	)

	It("counts the last record of a child that ran again", func() {
		w := create()
		for _, o := range []harness.Outcome{harness.NotMeasured, harness.HostCrash} {
			Expect(w.Append(record(harness.ArmRemoved, 1, 1, o))).To(Succeed())
		}
		Expect(w.Append(record(harness.ArmRemoved, 1, 2, harness.NotMeasured))).To(Succeed())
		Expect(w.Close()).To(Succeed())
		all := readAll(dir)
		Expect(all).To(HaveLen(2))
		Expect(all[0].Outcome).To(Equal(harness.HostCrash))
		d, err := results.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Done()).To(Equal(map[harness.Key]bool{all[0].Key(): true}))
	})

	It("stays readable on a full disk, whoever keeps writing", func() {
		const size = 64 << 10
		if err := unix.Mount("tmpfs", filepath.Dir(filepath.Dir(dir)), "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
			Skip(fmt.Sprintf("needs the right to mount a tmpfs: %v", err))
		}
		DeferCleanup(unix.Unmount, filepath.Dir(filepath.Dir(dir)), 0)
		ballast := filepath.Join(filepath.Dir(dir), "ballast")
		w := create()
		Expect(os.WriteFile(ballast, make([]byte, 16<<10), 0o644)).To(Succeed())
		written := 0
		var full error
		for full == nil && written < size {
			r := record(harness.ArmRemoved, 1, written+1, harness.Pass)
			r.Evidence = strings.Repeat("x", 700)
			if full = w.Append(r); full == nil {
				written++
			}
		}
		Expect(full).To(MatchError(unix.ENOSPC))
		// There is room again, and a record would go behind the torn line.
		Expect(os.Remove(ballast)).To(Succeed())
		Expect(w.Append(record(harness.ArmRemoved, 2, 1, harness.Pass))).To(MatchError(full))
		Expect(w.Close()).To(Succeed())
		text, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).NotTo(HaveSuffix("\n"), "the line was torn, or this shows nothing")
		Expect(readAll(dir)).To(HaveLen(written))
		w, err = results.Reopen(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Close()).To(Succeed())
		Expect(readAll(dir)).To(HaveLen(written))
	})

	It("has one writer at a time", func() {
		w := create()
		_, err := results.Reopen(dir)
		Expect(err).To(MatchError(results.ErrInUse))
		Expect(w.Close()).To(Succeed())
		w, err = results.Reopen(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Close()).To(Succeed())
	})
})
