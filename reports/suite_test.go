package reports_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func TestReports(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "reports")
}

// expectGolden compares got with testdata/name. The reports under test are
// built from fixed times and numbers, so there is nothing to normalise.
func expectGolden(name string, got []byte) {
	GinkgoHelper()
	path := filepath.Join("testdata", name)
	if *update {
		Expect(os.WriteFile(path, got, 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred(), "run: go test ./reports -update")
	Expect(string(got)).To(Equal(string(want)), "if the change is meant, run: go test ./reports -update")
}
