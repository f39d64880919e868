package sched_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"rocstress/harness/sched"
)

// Every spec ends with the goroutines it began with, the coroutines of aborted
// tasks among them.
var _ = BeforeEach(func() {
	before := goleak.IgnoreCurrent()
	DeferCleanup(func() {
		Expect(goleak.Find(before)).To(Succeed())
	})
})

func TestSched(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Seam")
}

// pickFunc is a Strategy for one test.
type pickFunc func(s sched.State) int

func (f pickFunc) Next(s sched.State) int { return f(s) }

// lowest always runs the lowest id that can run.
func lowest() sched.Strategy { return pickFunc(func(sched.State) int { return 0 }) }

// highest always runs the highest.
func highest() sched.Strategy { return pickFunc(func(s sched.State) int { return len(s.Enabled) - 1 }) }

// onward runs the current task as long as it can run.
func onward() sched.Strategy { return sched.Replay(nil) }

func explore(s sched.Strategy, root func(th *sched.Thread)) sched.Schedule {
	return sched.Explore(sched.Config{Strategy: s}, root)
}

func lines(s sched.Schedule) []string {
	var out []string
	for _, step := range s.Steps {
		out = append(out, step.String())
	}
	return out
}
