package scenarios_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc"
	"rocstress/harness"
	"rocstress/rocm/open"
	"rocstress/scenarios"
)

// TestMain re-executes this binary as the children of the campaigns below.
func TestMain(m *testing.M) {
	childproc.Main(map[string]childproc.Entry{scenarios.EntryName: scenarios.Entry(open.Open)})
	os.Exit(m.Run())
}

// TestScenarios runs every scenario as STRESS_DEVICE, STRESS_RUNS,
// STRESS_CHILDREN, STRESS_SEED and STRESS_WITHOUT say.
func TestScenarios(t *testing.T) {
	set, err := settingsFrom(os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	defineScenarios(set)
	RegisterFailHandler(Fail)
	RunSpecs(t, "scenarios")
}

// The driver starts children under the name that Entry answers to.
var _ = It("has one name for the child entry", func() {
	Expect(scenarios.EntryName).To(Equal(harness.ChildEntry))
})
