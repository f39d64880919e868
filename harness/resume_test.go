package harness_test

import (
	"context"
	"errors"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"rocstress/childproc/wire"
	"rocstress/harness"
)

// earlier yields records as a results directory does.
func earlier(records []harness.Record) func(func(harness.Record) error) error {
	return func(yield func(harness.Record) error) error {
		for _, r := range records {
			if err := yield(r); err != nil {
				return err
			}
		}
		return nil
	}
}

var _ = Describe("A resumed campaign", func() {
	// whole runs the plan in one go.
	whole := func(ctx context.Context, plan harness.Plan) ([]wire.Spec, []harness.Record, harness.Report) {
		GinkgoHelper()
		t, store := &theatre{script: removedFails(unwritten())}, &shelf{}
		result, err := harness.Campaign{Plan: plan, Run: t.run, Store: store}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		return t.orders(), store.records, report(plan, result)
	}

	It("runs the rest in the order and with the seeds it would have had, and reports all", func(ctx SpecContext) {
		plan := comparison(3, 4)
		orders, records, want := whole(ctx, plan)
		for _, n := range []int{0, 1, 7, 23, 24} {
			t, store := &theatre{script: removedFails(unwritten())}, &shelf{}
			var seen []harness.Progress
			result, err := harness.Campaign{
				Plan: plan, Run: t.run, Store: store, Earlier: earlier(records[:n]),
				Observe: func(p harness.Progress) { seen = append(seen, p) },
			}.Execute(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(t.orders()).To(HaveLen(24 - n))
			for i, o := range t.orders() {
				Expect(o).To(Equal(orders[n+i]))
			}
			Expect(store.records).To(HaveLen(24 - n))
			got := report(plan, result)
			Expect(got.Earlier).To(Equal(n))
			Expect(got.Stopped).To(BeEmpty())
			Expect(got.Scenarios).To(Equal(want.Scenarios))
			if n < 24 {
				Expect(seen[0]).To(And(HaveField("Done", n+1), HaveField("Earlier", n), HaveField("Planned", 24)))
			}
		}
	})

	It("fills gaps that children at once left", func(ctx SpecContext) {
		plan := comparison(2, 3)
		orders, records, want := whole(ctx, plan)
		kept := slices.Concat(records[:2], records[3:5], records[8:9])
		t := &theatre{script: removedFails(unwritten())}
		result, err := harness.Campaign{Plan: plan, Run: t.run, Earlier: earlier(kept)}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(t.orders()).To(Equal(slices.Concat(orders[2:3], orders[5:8], orders[9:])))
		Expect(report(plan, result).Scenarios).To(Equal(want.Scenarios))
	})

	It("runs again what was not measured", func(ctx SpecContext) {
		plan := single(1, 3)
		_, records, _ := whole(ctx, plan)
		records[1].Outcome = harness.NotMeasured
		t := &theatre{script: always(passing())}
		result, err := harness.Campaign{Plan: plan, Run: t.run, Earlier: earlier(records)}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(t.orders()).To(HaveExactElements(HaveField("Child", 2)))
		a := report(plan, result).Scenarios[0].Arms[0]
		Expect(a.Children).To(Equal(3))
		Expect(a.NotMeasured).To(BeZero())
	})

	It("stops again where the limit of failures had been reached", func(ctx SpecContext) {
		plan := single(2, 5)
		plan.MaxFails = 2
		store := &shelf{}
		first, err := harness.Campaign{Plan: plan, Run: (&theatre{script: always(segfault())}).run, Store: store}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Stopped).To(HavePrefix("max-fails"))
		t := &theatre{script: always(segfault())}
		result, err := harness.Campaign{Plan: plan, Run: t.run, Earlier: earlier(store.records)}.Execute(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(t.orders()).To(BeEmpty())
		Expect(result.Stopped).To(Equal(first.Stopped))
	})

	DescribeTable("refuses records that are not of its plan",
		func(ctx SpecContext, spoil func(r *harness.Record), says string) {
			plan := single(1, 2)
			_, records, _ := whole(ctx, plan)
			spoil(&records[1])
			t := &theatre{script: always(passing())}
			result, err := harness.Campaign{Plan: plan, Run: t.run, Earlier: earlier(records)}.Execute(ctx)
			Expect(err).To(MatchError(ContainSubstring(says)))
			Expect(t.orders()).To(BeEmpty())
			Expect(report(plan, result).Scenarios[0].Arms[0].Children).To(Equal(1), "what was counted is not lost")
		},
		Entry("another scenario", func(r *harness.Record) { r.Scenario = "x" }, `no scenario "x"`),
		Entry("another arm", func(r *harness.Record) { r.Arm = "removed" }, `no arm "removed"`),
		Entry("a run too many", func(r *harness.Record) { r.Run = 2 }, "run 2, child 2 is not in the plan"),
		Entry("a child too many", func(r *harness.Record) { r.Child = 3 }, "run 1, child 3 is not in the plan"),
		Entry("another seed", func(r *harness.Record) { r.Seed++ }, "child 2 of run 1, run, of first-gemm has seed"),
		Entry("a child twice", func(r *harness.Record) { r.Child = 1; r.Seed = harness.ChildSeed(7, "first-gemm", 1, 1) }, "two earlier records of child 1"),
	)

	It("passes on the error of whoever keeps the records", func(ctx SpecContext) {
		torn := errors.New("torn")
		_, err := harness.Campaign{
			Plan: single(1, 1), Run: (&theatre{script: always(passing())}).run,
			Earlier: func(func(harness.Record) error) error { return torn },
		}.Execute(ctx)
		Expect(err).To(MatchError(torn))
	})
})
