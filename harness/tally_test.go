package harness

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"rocstress/childproc"
	"rocstress/childproc/wire"
)

func twoArms(runs, children int) Plan {
	return Plan{
		Runs: runs, Children: children, Parallel: 1, Seed: 3,
		Scenarios: []ScenarioPlan{{Name: "s", Arms: []Arm{{Name: ArmProtected}, {Name: ArmRemoved, Without: []string{"x"}}}}},
	}
}

// A resumed or merged campaign reads its records in another order, and must
// come to the same report.
func TestTallyDoesNotDependOnOrder(t *testing.T) {
	outcomes := append(Outcomes(), NotMeasured)
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		plan := twoArms(rapid.IntRange(1, 6).Draw(rt, "runs"), rapid.IntRange(1, 30).Draw(rt, "children"))
		var records []Record
		for _, k := range plan.order() {
			r := Record{Scenario: k.Scenario, Arm: k.Arm, Run: k.Run, Child: k.Child}
			r.Outcome = rapid.SampledFrom(outcomes).Draw(rt, "outcome")
			if r.Outcome.Failed() {
				r.Signature = signature(r.Outcome, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "stable"))
				r.Evidence = r.Signature
			}
			r.SkewNS = []int64{rapid.Int64Range(-5, 1<<50).Draw(rt, "skew")}
			records = append(records, r)
		}
		records = records[:rapid.IntRange(0, len(records)).Draw(rt, "stopped after")]
		build := func(records []Record) string {
			tally := NewTally(plan, plan.Scenarios[0])
			for _, r := range records {
				tally.Add(r)
			}
			doc, err := json.Marshal(tally.report(ReportInput{Plan: plan}))
			g.Expect(err).NotTo(HaveOccurred())
			return string(doc)
		}
		want := build(records)
		shuffled := slices.Clone(records)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "shuffle"), 0))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		g.Expect(build(shuffled)).To(Equal(want))
	})
}

func TestTallyIgnoresForeignArms(t *testing.T) {
	g := NewWithT(t)
	plan := twoArms(1, 1)
	tally := NewTally(plan, plan.Scenarios[0])
	g.Expect(tally.Add(Record{Arm: "another", Run: 1, Outcome: HostCrash})).To(BeFalse())
	g.Expect(tally.report(ReportInput{}).FailuresN).To(Equal(0))
}

func TestHistogramQuantiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<rapid.IntRange(1, 62).Draw(rt, "bits")), 1, 200).Draw(rt, "values")
		var h histogram
		for _, v := range values {
			h.add(v)
		}
		slices.Sort(values)
		for _, q := range []float64{0.01, 0.5, 0.99, 1} {
			exact := values[min(len(values)-1, max(0, int(q*float64(len(values))+0.999999)-1))]
			got := h.quantile(q)
			g.Expect(got).To(BeNumerically(">=", exact), "q %v", q)
			g.Expect(float64(got)).To(BeNumerically("<=", float64(exact)*(1+1.0/histogramSteps)), "q %v", q)
		}
		g.Expect(h.summary().MaxNS).To(Equal(values[len(values)-1]))
	})
	NewWithT(t).Expect((&histogram{}).summary()).To(Equal(SkewSummary{}))
}

// Recorded children are replayed by their seed: these values are for ever.
func TestChildSeedNeverChanges(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ChildSeed(0, "first-gemm", 1, 1)).To(Equal(uint64(0xbfea20fdcbab360e)))
	g.Expect(ChildSeed(1, "first-gemm", 20, 10)).To(Equal(uint64(0x7197d3a848988afa)))
	// SplitMix64 of seed 0, first output: the published test vector.
	g.Expect(mix(0)).To(Equal(uint64(0xe220a8397b1dcdaf)))
}

func TestChildSeedsDiffer(t *testing.T) {
	g := NewWithT(t)
	seen := map[uint64]bool{}
	for seed := range uint64(4) {
		for _, name := range []string{"first-gemm", "jit-cache"} {
			for run := 1; run <= 50; run++ {
				for child := 1; child <= 50; child++ {
					seen[ChildSeed(seed, name, run, child)] = true
				}
			}
		}
	}
	g.Expect(seen).To(HaveLen(4 * 2 * 50 * 50))
}

func TestWords(t *testing.T) {
	g := NewWithT(t)
	for rate, want := range map[float64]string{0: "0 %", 1: "100 %", 0.935: "93.5 %", 0.015: "1.5 %", 0.00123: "0.12 %", 0.0001: "0.01 %", -0.038: "-3.8 %", 0.99999: "100 %"} {
		g.Expect(percent(rate)).To(Equal(want))
	}
	for rate, want := range map[float64]string{0.014867: "1.5 %", 0.0487: "4.9 %", 0.13: "13 %", 0.1301: "14 %", 0.00099: "0.099 %", 0.95: "95 %", 0: "0 %"} {
		g.Expect(percentAbove(rate)).To(Equal(want))
	}
	g.Expect(boundText(200)).To(Equal("0 of 200: the true rate is below 1.5 % with 95 % confidence"))
	g.Expect(pText(0.2483)).To(ContainSubstring("p = 0.25 by Fisher's exact test, two-sided: if removal changed nothing, about 1 in 4 such campaigns"))
	g.Expect(pText(0.00015540)).To(HavePrefix("p = 0.00016 "))
	g.Expect(pText(1e-99)).To(HavePrefix("p < 0.000001 "))
}

// instantly is a Run without processes that lets some removed children fail.
func instantly(_ context.Context, s childproc.Spec) (childproc.Exit, error) {
	s.OnEvent(wire.Event{Kind: wire.KindRelease, Release: &wire.Release{SkewNS: []int64{0, 1, 2, 3, 4, 5, 6, 7}, Overlap: 8}})
	ok := s.Orders.Arm == ArmProtected || s.Orders.Seed%8 != 0
	s.OnEvent(wire.Event{Kind: wire.KindCheck, Check: &wire.Check{Name: "outputs", OK: ok, Kind: wire.FailWrong}})
	s.OnEvent(wire.Event{Kind: wire.KindDone})
	return childproc.Exit{PID: 1}, nil
}

// heapAfter returns the live heap after a campaign of so many children, whose
// result is still held.
func heapAfter(t testing.TB, children int) uint64 {
	plan := twoArms(children/20, 10)
	result, err := Campaign{Plan: plan, Run: instantly}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC() // a second one frees what finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if n := result.Tallies[0].report(ReportInput{}).Arms[0].Children; n != children/2 {
		t.Fatalf("%d children were counted", n)
	}
	return m.HeapAlloc
}

func TestMemoryDoesNotGrowWithChildren(t *testing.T) {
	g := NewWithT(t)
	few := heapAfter(t, 2_000)
	many := heapAfter(t, 40_000)
	// Per child not even the key of a record would fit.
	g.Expect(float64(many) - float64(few)).To(BeNumerically("<", 38_000*8))
}

func BenchmarkCampaign100000Children(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(heapAfter(b, 100_000))/(1<<20), "live-MiB")
	}
}
