package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"rocstress/harness/sched"
	"rocstress/rocm"
	"rocstress/rocm/sim"
)

// recorder is a TB that only takes note.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestRunWithoutSubtests(t *testing.T) {
	r := &recorder{TB: t}
	Run(r, opener(t, nil))
	NewWithT(t).Expect(r.errors).To(BeEmpty())
}

// mutant is a Driver that breaks one clause.
type mutant struct {
	clause string // that must fail
	broken func(d *sim.Driver) rocm.Driver
}

// mutants are known-bad drivers, at least one for each clause.
func mutants() map[string]mutant {
	return map[string]mutant{
		"empty description":       {"describes itself", func(d *sim.Driver) rocm.Driver { return undescribed{d} }},
		"no warp":                 {"has devices with properties", func(d *sim.Driver) rocm.Driver { return warpless{d} }},
		"one current device":      {"keeps the current device of each thread", func(d *sim.Driver) rocm.Driver { return &sharedDevice{Driver: d} }},
		"any device":              {"refuses a device that does not exist", func(d *sim.Driver) rocm.Driver { return anyDevice{d} }},
		"copy loses a word":       {"brings memory there and back", func(d *sim.Driver) rocm.Driver { return shortCopy{d} }},
		"memset one short":        {"fills exactly the words asked for", func(d *sim.Driver) rocm.Driver { return resizedFill{d, -1} }},
		"memset one too many":     {"fills exactly the words asked for", func(d *sim.Driver) rocm.Driver { return resizedFill{d, 1} }},
		"wrong code":              {"says out of memory", func(d *sim.Driver) rocm.Driver { return vagueMalloc{d} }},
		"copies overtake":         {"keeps the order of a stream", func(d *sim.Driver) rocm.Driver { return overtaking{d} }},
		"dead null stream":        {"runs on the null stream", func(d *sim.Driver) rocm.Driver { return deadNull{d} }},
		"always ready":            {"queries a stream", func(d *sim.Driver) rocm.Driver { return constantQuery{d, nil} }},
		"never ready":             {"queries a stream", func(d *sim.Driver) rocm.Driver { return constantQuery{d, rocm.HipError("hipStreamQuery", 600)} }},
		"destroy drops work":      {"finishes a stream that is destroyed", func(d *sim.Driver) rocm.Driver { return &dropping{Driver: d} }},
		"ignores LDA":             {"multiplies exactly", func(d *sim.Driver) rocm.Driver { return changed{d, func(g *rocm.SGEMM) { g.LDA = g.M }} }},
		"ignores beta":            {"multiplies exactly", func(d *sim.Driver) rocm.Driver { return changed{d, func(g *rocm.SGEMM) { g.Beta = 0 }} }},
		"swaps operands":          {"multiplies exactly", func(d *sim.Driver) rocm.Driver { return changed{d, swapOperands} }},
		"one term short":          {"multiplies exactly", func(d *sim.Driver) rocm.Driver { return changed{d, func(g *rocm.SGEMM) { g.K-- }} }},
		"null stream always":      {"multiplies on the bound stream", func(d *sim.Driver) rocm.Driver { return unbound{d} }},
		"waits for every stream":  {"multiplies on the bound stream", func(d *sim.Driver) rocm.Driver { return &serial{Driver: d} }},
		"binds once":              {"follows a new binding", func(d *sim.Driver) rocm.Driver { return &bindsOnce{Driver: d} }},
		"null handle succeeds":    {"refuses the null handle and writes nothing", func(d *sim.Driver) rocm.Driver { return nullSucceeds{d} }},
		"null handle writes":      {"refuses the null handle and writes nothing", func(d *sim.Driver) rocm.Driver { return nullWrites{d} }},
		"one handle for all":      {"creates handles from many threads", func(d *sim.Driver) rocm.Driver { return oneHandle{d} }},
		"second handle is wrong":  {"is exact on many streams at once", func(d *sim.Driver) rocm.Driver { return &secondWrong{Driver: d} }},
		"launch does nothing":     {"launches kernels", func(d *sim.Driver) rocm.Driver { return lostLaunch{d} }},
		"oversized block is fine": {"refuses a block that is too large", func(d *sim.Driver) rocm.Driver { return anyBlock{d} }},
		"bf16 ignores LDB":        {"multiplies bf16 within its bound", func(d *sim.Driver) rocm.Driver { return changedBF16{d, func(g *rocm.GemmEx) { g.LDB = max(1, g.K) }} }},
		"bf16 one term short":     {"multiplies bf16 within its bound", func(d *sim.Driver) rocm.Driver { return changedBF16{d, func(g *rocm.GemmEx) { g.K-- }} }},
		"bf16 writes the padding": {"multiplies bf16 within its bound", func(d *sim.Driver) rocm.Driver { return changedBF16{d, oneRowMore} }},
		"bf16 writes whole words": {"multiplies bf16 within its bound", func(d *sim.Driver) rocm.Driver { return wholeWords{d} }},
		"bf16 does nothing":       {"multiplies bf16 within its bound", func(d *sim.Driver) rocm.Driver { return lostBF16{d} }},
		"bf16 on the null stream": {"multiplies bf16 on the bound stream", func(d *sim.Driver) rocm.Driver { return unbound{d} }},
		"bf16 null succeeds":      {"refuses bf16 on the null handle and writes nothing", func(d *sim.Driver) rocm.Driver { return bf16NullSucceeds{d} }},
		"bf16 null writes":        {"refuses bf16 on the null handle and writes nothing", func(d *sim.Driver) rocm.Driver { return bf16NullWrites{d} }},
		"reset does nothing":      {"resets a device and no other", func(d *sim.Driver) rocm.Driver { return noReset{d} }},
		"reset fails":             {"resets a device and no other", func(d *sim.Driver) rocm.Driver { return failingReset{d} }},
		"reset keeps memory":      {"resets a device and no other", func(d *sim.Driver) rocm.Driver { return &streamsOnly{Driver: d} }},
		"reset keeps streams":     {"resets a device and no other", func(d *sim.Driver) rocm.Driver { return &memoryOnly{Driver: d} }},
		"reset is for ever":       {"resets a device and no other", func(d *sim.Driver) rocm.Driver { return &lastReset{Driver: d} }},
		"reset takes all devices": {"resets a device and no other", func(d *sim.Driver) rocm.Driver { return resetsAll{d} }},
		"close does not drain":    {"closes and drains", func(d *sim.Driver) rocm.Driver { return undrained{d} }},
	}
}

func TestBrokenDriversFail(t *testing.T) {
	all := mutants()
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := opener(t, nil)().(*sim.Driver)
			r := &recorder{TB: t}
			rt := sched.Free(nil)
			(&suite{drv: m.broken(d), rt: rt, limit: clauseLimit}).run(r, named(m.clause))
			g.Expect(r.errors).To(ConsistOf(ContainSubstring("driver " + m.clause)))
			g.Expect(d.Close(rt.NewThread("end"))).To(Succeed())
			rt.Wait()
		})
	}
	for _, c := range clauses() {
		if !slices.ContainsFunc(slices.Collect(mapValues(all)), func(m mutant) bool { return m.clause == c.name }) {
			t.Errorf("no known-bad driver fails the clause %q", c.name)
		}
	}
}

func mapValues(all map[string]mutant) func(yield func(mutant) bool) {
	return func(yield func(mutant) bool) {
		for _, m := range all {
			if !yield(m) {
				return
			}
		}
	}
}

func named(name string) []clause {
	return slices.DeleteFunc(clauses(), func(c clause) bool { return c.name != name })
}

// TestStuckDriverEnds shows that a clause is bounded and ends the suite.
func TestStuckDriverEnds(t *testing.T) {
	g := NewWithT(t)
	d := opener(t, nil)().(*sim.Driver)
	release := make(chan struct{})
	r := &recorder{TB: t}
	rt := sched.Free(nil)
	s := &suite{drv: stuck{d, release}, rt: rt, limit: 50 * time.Millisecond}
	s.run(r, clauses())
	close(release)
	g.Expect(r.errors).To(HaveLen(2))
	g.Expect(r.errors[0]).To(ContainSubstring("no end within 50ms"))
	g.Expect(r.errors[1]).To(ContainSubstring("suite stopped"))
}

type stuck struct {
	*sim.Driver
	release chan struct{}
}

func (b stuck) StreamSynchronize(th *sched.Thread, s rocm.Stream) error {
	<-b.release
	return b.Driver.StreamSynchronize(th, s)
}
