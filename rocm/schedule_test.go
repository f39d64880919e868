package rocm_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// finding is what one schedule came to; empty is right.
type finding string

// firstAcquire runs threads first GEMMs on a fresh Device under one schedule
// of the random walk with the given seed, and says what was wrong.
func firstAcquire(seed uint64, threads int, removed rocm.Set) finding {
	var found finding
	blame := func(format string, args ...any) {
		if found == "" {
			found = finding(fmt.Sprintf(format, args...))
		}
	}
	schedule := sched.Explore(sched.Config{Strategy: sched.RandomWalk(seed)}, func(th *sched.Thread) {
		drv, err := sim.Open(sim.DefaultConfig().WithoutLatency())
		if err != nil {
			panic(err)
		}
		dev, err := rocm.NewDevice(th, drv, rocm.Config{Removed: removed})
		if err != nil {
			panic(err)
		}
		var tasks []*sched.Task
		for i := range threads {
			tasks = append(tasks, sched.Go(th, fmt.Sprintf("T%d", i+1), func(th *sched.Thread) {
				words, route, err := multiply(th, drv, dev)
				switch {
				case err != nil:
					blame("error: %v", err)
				case slices.Contains(words, poison):
					blame("unwritten output")
				case !slices.Equal(words, product()):
					blame("wrong output")
				case route != rocm.RouteRocBLAS:
					blame("route %s", route)
				}
			}))
		}
		for _, t := range tasks {
			t.Join(th)
		}
		if n := dev.Handles().Live(); n != 1 {
			blame("%d live handles", n)
		}
	})
	if schedule.End != sched.Done {
		blame("schedule ended %v: %s", schedule.End, schedule.Crash)
	}
	return found
}

// search tries schedules until one fails. It returns how many it ran and what
// the last one found.
func search(schedules, threads int, without ...string) (int, finding) {
	removed, err := rocm.ParseSet(without)
	Expect(err).NotTo(HaveOccurred())
	for i := range schedules {
		if f := firstAcquire(uint64(i), threads, removed); f != "" {
			return i + 1, f
		}
	}
	return schedules, ""
}

// The Device source that runs free on real threads runs here under a
// controller, unchanged.
var _ = Describe("The first acquire of 2 threads under a random walk", func() {
	It("passes 10,000 schedules protected", func() {
		n, f := search(10_000, 2)
		Expect(f).To(BeEmpty(), "schedule %d", n)
	})
	DescribeTable("is found wrong within 1,000 schedules",
		func(without string, want string) {
			n, f := search(1000, 2, without)
			Expect(string(f)).To(MatchRegexp(want))
			AddReportEntry(fmt.Sprintf("%s: schedule %d: %s", without, n, f))
		},
		Entry("without old-device", "old-device", `unwritten output|live handles|wrong output`),
		Entry("without rocblas-init-lock", "rocblas-init-lock", `2 live handles`),
		Entry("without rocblas-publish-after-create", "rocblas-publish-after-create", `rocblas_set_stream failed \(status 1\)`),
		Entry("without rocblas-bind-lock", "rocblas-bind-lock", `unwritten output|wrong output`),
	)
	It("notices nothing without rocblas-status-check alone: no call fails", func() {
		_, f := search(1000, 2, "rocblas-status-check")
		Expect(f).To(BeEmpty())
	})
})
