package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc"
	"rocstress/childproc/wire"
	"rocstress/harness"
)

func report(p harness.Plan, r harness.Result) harness.Report {
	return harness.BuildReport(harness.ReportInput{Plan: p, Result: r, OutDir: "stress-results/x"})
}

var _ = Describe("A campaign", func() {
	It("runs every child of the plan once, all arms with the same seeds", func(ctx SpecContext) {
		plan := comparison(4, 3)
		t := &theatre{script: always(passing())}
		result, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Stopped).To(BeEmpty())
		seeds := map[[2]int]map[string]uint64{}
		distinct := map[uint64]bool{}
		for _, o := range t.orders() {
			at := [2]int{o.Run, o.Child}
			if seeds[at] == nil {
				seeds[at] = map[string]uint64{}
			}
			Expect(seeds[at]).NotTo(HaveKey(o.Arm), "a child ran twice")
			seeds[at][o.Arm] = o.Seed
			distinct[o.Seed] = true
		}
		Expect(seeds).To(HaveLen(12))
		Expect(distinct).To(HaveLen(12))
		for _, arms := range seeds {
			Expect(arms).To(HaveLen(2))
			Expect(arms[harness.ArmRemoved]).To(Equal(arms[harness.ArmProtected]))
		}
	})

	It("interleaves the arms in random order that the seed alone decides", func(ctx SpecContext) {
		order := func(seed uint64) string {
			plan := comparison(10, 10)
			plan.Seed = seed
			t := &theatre{script: always(passing())}
			_, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
			Expect(err).NotTo(HaveOccurred())
			var b strings.Builder
			for _, o := range t.orders() {
				b.WriteByte(o.Arm[0])
			}
			return b.String()
		}
		one := order(1)
		Expect(order(1)).To(Equal(one))
		Expect(order(2)).NotTo(Equal(one))
		first := 0
		for i := 0; i < len(one); i += 2 {
			Expect(one[i : i+2]).To(BeElementOf("pr", "rp"))
			if one[i] == 'p' {
				first++
			}
		}
		// 100 fair coins: outside 20..80 once in 10^9 seeds, and the seed is fixed.
		Expect(first).To(And(BeNumerically(">", 20), BeNumerically("<", 80)))
	})

	It("gives the child its orders and its environment", func(ctx SpecContext) {
		plan := comparison(1, 1)
		t := &theatre{script: always(passing())}
		environ := []string{"PATH=/bin", "HIP_VISIBLE_DEVICES=3", "MLX_NO_HIPBLASLT=0"}
		_, err := harness.Campaign{Plan: plan, Run: t.run, Environ: environ, Path: "/stress"}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		i := slices.IndexFunc(t.starts, func(s childproc.Spec) bool { return s.Orders.Arm == harness.ArmRemoved })
		s := t.starts[i]
		Expect(s.Env).To(Equal([]string{"PATH=/bin", "MLX_NO_HIPBLASLT=1"}))
		Expect(s.Path).To(Equal("/stress"))
		Expect(s.Entry).To(Equal(harness.ChildEntry))
		Expect(s.Deadline).To(Equal(3 * time.Second))
		Expect(s.Orders).To(Equal(wire.Spec{
			Scenario: "first-gemm", Device: "sim:arch=gfx1151", Settings: plan.Scenarios[0].Settings,
			Removed: oldDevice, Seed: harness.ChildSeed(7, "first-gemm", 1, 1), Run: 1, Child: 1,
			Arm: harness.ArmRemoved, Deadline: 3 * time.Second,
		}))
	})

	It("counts what children came to and keeps the evidence of those that failed", func(ctx SpecContext) {
		plan := comparison(2, 5)
		store := &shelf{}
		t := &theatre{script: removedFails(unwritten())}
		environ := []string{"CI_JOB_TOKEN=t0p", "HOME=/root"}
		result, err := harness.Campaign{Plan: plan, Run: t.run, Store: store, Environ: environ}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		s := report(plan, result).Scenarios[0]
		Expect(s.Arms[0].ChildrenFailed).To(Equal(0))
		Expect(s.Arms[1].ChildrenFailed).To(Equal(10))
		Expect(s.Arms[1].RunsFailed).To(Equal(2))
		Expect(s.Arms[1].Outcomes).To(Equal(map[harness.Outcome]int{harness.UnwrittenOutput: 10}))
		Expect(store.records).To(HaveLen(20))
		Expect(store.early).To(BeEmpty(), "a record came before its evidence")
		Expect(keys(store.evidence)).To(HaveLen(10))
		k := harness.Key{Scenario: "first-gemm", Arm: harness.ArmRemoved, Run: 2, Child: 3}
		Expect(store.file(k, "stderr")).To(Equal("stderr of the child\n"))
		Expect(store.file(k, "env")).To(Equal("CI_JOB_TOKEN=(hidden)\nHOME=/root\nMLX_NO_HIPBLASLT=1\n"))
		Expect(store.file(k, "evidence.json")).To(ContainSubstring(`"outcome": "unwritten_output"`))
		Expect(store.syncs).To(BeNumerically(">=", 1))
		Expect(s.Failures[0].Reproduce).To(Equal("stress replay stress-results/x --run 1 --child 1 --arm removed"))
		Expect(s.Signatures).To(HaveLen(1))
		Expect(s.Signatures[0].Count).To(Equal(map[string]int{harness.ArmRemoved: 10}))
		Expect(result.Device).To(HaveValue(Equal(simDevice)))
	})

	It("runs as many children at once as the plan says, and no more", func(ctx SpecContext) {
		plan := single(4, 4)
		plan.Parallel = 3
		var at, most atomic.Int64
		full := make(chan struct{})
		var once sync.Once
		t := &theatre{script: func(ctx context.Context, _ wire.Spec) play {
			n := at.Add(1)
			defer at.Add(-1)
			most.Store(max(most.Load(), n))
			if n == 3 {
				once.Do(func() { close(full) })
			}
			select { // the first three wait for each other
			case <-full:
			case <-ctx.Done():
			}
			return passing()
		}}
		_, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(most.Load()).To(Equal(int64(3)))
	}, SpecTimeout(10*time.Second))

	It("takes a child that cannot be started as not measured", func(ctx SpecContext) {
		plan := comparison(2, 2)
		t := &theatre{script: always(play{err: &childproc.StartError{Path: "x", Step: "exec", Err: errors.New("gone")}})}
		result, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		r := report(plan, result)
		Expect(r.Scenarios[0].Arms[0].NotMeasured).To(Equal(4))
		Expect(r.Scenarios[0].Arms[0].Children).To(Equal(0))
		Expect(r.Scenarios[0].Verdict.Kind).To(Equal(harness.Inconclusive))
		Expect(r.Scenarios[0].Verdict.Text).To(ContainSubstring("nothing was measured"))
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(harness.ExitUnavailable))
	})

	It("fails where Run fails in another way", func(ctx SpecContext) {
		boom := errors.New("boom")
		_, err := harness.Campaign{Plan: single(1, 2), Run: (&theatre{script: always(play{err: boom})}).run}.Execute(ctx)
		Expect(err).To(MatchError(boom))
		Expect(err).To(MatchError(ContainSubstring("child 1 of run 1, run, of first-gemm")))
	})

	It("ends at a child that cannot be killed", func(ctx SpecContext) {
		stuck := play{exit: childproc.Exit{Code: -1, Killed: true, KillReason: childproc.ReasonDeadline, Unkillable: true}}
		t := &theatre{script: always(stuck)}
		plan := single(5, 2)
		result, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
		var unkillable *harness.UnkillableError
		Expect(errors.As(err, &unkillable)).To(BeTrue())
		Expect(unkillable.PID).To(Equal(4711))
		Expect(t.orders()).To(HaveLen(1))
		r := report(plan, result)
		Expect(r.Scenarios[0].Arms[0].Outcomes).To(HaveKeyWithValue(harness.Timeout, 1))
		Expect(harness.ExitCode(r, harness.ExitOptions{Err: err})).To(Equal(harness.ExitHarness))
	})

	It("fails where the store fails, and keeps what it counted", func(ctx SpecContext) {
		full := errors.New("no space left")
		n := 0
		store := &shelf{fail: func(harness.Record) error {
			if n++; n > 3 {
				return full
			}
			return nil
		}}
		plan := single(2, 5)
		result, err := harness.Campaign{Plan: plan, Run: (&theatre{script: always(passing())}).run, Store: store}.Execute(ctx)
		Expect(err).To(MatchError(full))
		Expect(report(plan, result).Scenarios[0].Arms[0].Children).To(Equal(3))
	})

	It("refuses a plan that cannot run", func(ctx SpecContext) {
		for name, spoil := range map[string]func(p *harness.Plan){
			"runs is 0":     func(p *harness.Plan) { p.Runs = 0 },
			"parallel is 0": func(p *harness.Plan) { p.Parallel = 0 },
			"no scenario":   func(p *harness.Plan) { p.Scenarios = nil },
			"has no arm":    func(p *harness.Plan) { p.Scenarios[0].Arms = nil },
			"negative":      func(p *harness.Plan) { p.MaxFails = -1 },
			`arm ""`:        func(p *harness.Plan) { p.Scenarios[0].Arms[0].Name = "" },
			`"first-gemm": names must be given, and once`: func(p *harness.Plan) { p.Scenarios = append(p.Scenarios, p.Scenarios[0]) },
		} {
			plan := comparison(1, 1)
			spoil(&plan)
			_, err := harness.Campaign{Plan: plan}.Execute(ctx)
			Expect(err).To(MatchError(ContainSubstring(name)))
		}
	})
})

var _ = Describe("Stopping a campaign", func() {
	// hanging acts children that run until they are ended, as childproc ends
	// them.
	canceled := play{events: running(), exit: childproc.Exit{
		Code: -1, Signal: 3, Killed: true, KillReason: childproc.ReasonCanceled,
	}}

	It("ends the running children when interrupted and keeps the others", func(ctx SpecContext) {
		plan := comparison(10, 10)
		ctx2, interrupt := context.WithCancel(ctx)
		store := &shelf{}
		var n atomic.Int64
		t := &theatre{script: func(ctx context.Context, o wire.Spec) play {
			if n.Add(1) < 8 {
				return removedFails(segfault())(ctx, o)
			}
			interrupt()
			<-ctx.Done()
			return canceled
		}}
		result, err := harness.Campaign{Plan: plan, Run: t.run, Store: store}.Execute(ctx2)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Stopped).To(Equal(harness.StopInterrupted))
		Expect(t.orders()).To(HaveLen(8))
		r := report(plan, result)
		a := r.Scenarios[0].Arms
		Expect(a[0].Children + a[1].Children).To(Equal(7))
		Expect(a[0].NotMeasured + a[1].NotMeasured).To(Equal(1))
		Expect(store.records).To(HaveLen(8))
		Expect(r.Scenarios[0].Verdict.Kind).To(Equal(harness.Inconclusive))
		Expect(r.Scenarios[0].Verdict.P).To(BeNil())
		Expect(harness.ExitCode(r, harness.ExitOptions{})).To(Equal(harness.ExitInterrupted))
	})

	It("ends the running children at max-time", func(ctx SpecContext) {
		plan := single(10, 10)
		plan.MaxTime = 20 * time.Millisecond
		t := &theatre{script: func(ctx context.Context, o wire.Spec) play {
			if o.Child < 3 {
				return passing()
			}
			<-ctx.Done()
			return canceled
		}}
		result, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Stopped).To(Equal("max-time: 20ms were over"))
		v := report(plan, result).Scenarios[0].Verdict
		Expect(v.Kind).To(Equal(harness.Inconclusive))
		Expect(v.Text).To(ContainSubstring("max-time"))
	})

	It("is a stop when only the last child was ended", func(ctx SpecContext) {
		plan := single(1, 3)
		ctx2, interrupt := context.WithCancel(ctx)
		t := &theatre{script: func(ctx context.Context, o wire.Spec) play {
			if o.Child < 3 {
				return passing()
			}
			interrupt()
			<-ctx.Done()
			return canceled
		}}
		result, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx2)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Stopped).To(Equal(harness.StopInterrupted))
	})

	It("starts nothing more once the limit is reached", func(ctx SpecContext) {
		plan := single(5, 5)
		plan.MaxFails = 1
		for range 200 { // whichever of producer and worker is first
			t := &theatre{script: always(segfault())}
			_, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(t.orders()).To(HaveLen(1))
		}
	})

	It("is no stop when the limit comes after the last child", func(ctx SpecContext) {
		plan := single(1, 3)
		plan.MaxTime, plan.MaxFails = time.Hour, 3
		result, err := harness.Campaign{Plan: plan, Run: (&theatre{script: always(segfault())}).run}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Stopped).To(BeEmpty())
	})

	DescribeTable("stops at max-fails", func(ctx SpecContext, plan harness.Plan, script func(context.Context, wire.Spec) play, starts int, stopped string) {
		plan.MaxFails = 2
		t := &theatre{script: script}
		result, err := harness.Campaign{Plan: plan, Run: t.run}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Stopped).To(Equal(stopped))
		if starts > 0 {
			Expect(t.orders()).To(HaveLen(starts))
		}
	},
		Entry("of a single arm: any failed child counts", single(5, 5), always(segfault()), 2, "max-fails: 2 children failed"),
		Entry("of a comparison: removed children do not count", comparison(3, 3), removedFails(segfault()), 18, ""),
		Entry("of a comparison: protected ones do", comparison(5, 5), always(segfault()), 0, "max-fails: 2 children failed"),
	)

	It("lets running children finish at max-fails", func(ctx SpecContext) {
		plan := single(5, 5)
		plan.MaxFails, plan.Parallel = 1, 2
		second := make(chan struct{})
		var n atomic.Int64
		failed := make(chan struct{})
		t := &theatre{script: func(ctx context.Context, _ wire.Spec) play {
			if n.Add(1) == 2 {
				close(second)
				<-failed
				if ctx.Err() != nil {
					return canceled
				}
				return passing()
			}
			<-second
			return segfault()
		}}
		result, err := harness.Campaign{Plan: plan, Run: t.run, Observe: func(p harness.Progress) {
			if p.Arm.Failed == 1 && p.Done == 1 {
				close(failed)
			}
		}}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		a := report(plan, result).Scenarios[0].Arms[0]
		Expect(a.NotMeasured).To(Equal(0))
		Expect(a.ChildrenFailed).To(Equal(1))
		Expect(a.Children).To(Equal(2))
	}, SpecTimeout(10*time.Second))
})

var _ = Describe("Progress", func() {
	It("tells how far every arm has come", func(ctx SpecContext) {
		var seen []string
		plan := comparison(2, 2)
		_, err := harness.Campaign{Plan: plan, Run: (&theatre{script: removedFails(segfault())}).run, Observe: func(p harness.Progress) {
			seen = append(seen, fmt.Sprintf("%d/%d", p.Done, p.Planned))
			Expect(p.Arm.Arm).To(Equal(p.Record.Arm))
			if p.Arm.Arm == harness.ArmProtected {
				Expect(p.Arm.Failed).To(Equal(0))
			} else {
				Expect(p.Arm.Failed).To(Equal(p.Arm.Done))
			}
		}}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(seen).To(Equal([]string{"1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8", "8/8"}))
	})
})
