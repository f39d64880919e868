package reports_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"

	"rocstress/harness"
)

// hostileTexts reads the corpus of what a bad child may print: each file is
// one text, named after what it tries.
func hostileTexts(g Gomega) map[string]string {
	files, err := filepath.Glob("testdata/hostile/*.bin")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(files)).To(BeNumerically(">=", 12), "the corpus is there")
	texts := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		g.Expect(err).NotTo(HaveOccurred())
		texts[strings.TrimSuffix(filepath.Base(f), ".bin")] = string(b)
	}
	return texts
}

// poison puts text into every field that a child can fill, and into those that
// only a damaged results directory could.
func poison(text string) harness.Report {
	r := sample()
	r.Device.Name, r.Device.Arch, r.Device.Runtime, r.Device.BLAS, r.Device.TestABI = text, text, text, text, text
	r.Device.Libraries[0].Name, r.Device.Libraries[0].Path, r.Device.Libraries[0].BuildID = text, text, text
	r.Subject, r.OutDir, r.Stopped, r.Tool, r.Command = text, text, text, text, []string{text}
	r.Warnings = []string{text}
	s := &r.Scenarios[0]
	s.Name, s.Verdict.Text, s.Arms[1].Name, s.Arms[1].Without = text, text, text, []string{text}
	s.Arms[0].Bound = text
	s.Signatures[0] = harness.Signature{Signature: text, Outcome: harness.Outcome(text), Count: map[string]int{text: 1}, Example: text}
	s.Failures[0] = harness.Failure{Arm: text, Run: 1, Child: 1, Outcome: harness.Outcome(text), Signature: text, Evidence: text, Reproduce: text}
	return r
}
