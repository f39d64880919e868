package team

import (
	"context"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
)

// panicEnv makes the test binary run a team with a member that panics.
const panicEnv = "TEAM_TEST_PANIC"

func TestMain(m *testing.M) {
	if os.Getenv(panicEnv) != "" {
		_, err := Run(context.Background(), Config{Threads: 3}, func(_ context.Context, m *Member) error {
			if m.Index == 1 {
				panic("planted panic")
			}
			return m.Barrier()
		})
		os.Stderr.WriteString("the panic was swallowed\n")
		if err != nil {
			os.Exit(7)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Every spec ends with the goroutines it began with.
var _ = BeforeEach(func() {
	before := goleak.IgnoreCurrent()
	DeferCleanup(func() {
		Expect(goleak.Find(before)).To(Succeed())
	})
})

func TestTeam(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Team")
}
