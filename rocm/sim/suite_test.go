package sim_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
)

// crashEnv names the crash that a re-executed test binary commits.
const crashEnv = "SIM_TEST_CRASH"

func TestMain(m *testing.M) {
	if mode := os.Getenv(crashEnv); mode != "" {
		crashOnPurpose(mode)
	}
	os.Exit(m.Run())
}

// Every spec ends with the goroutines it began with: the workers are joined.
var _ = BeforeEach(func() {
	before := goleak.IgnoreCurrent()
	DeferCleanup(func() {
		Expect(goleak.Find(before)).To(Succeed())
	})
})

func TestSim(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Simulated ROCm runtime")
}
