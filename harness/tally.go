package harness

import (
	"cmp"
	"slices"
	"strings"

	"rocstress/harness/stats"
)

const (
	// maxFailures bounds the failures that a report lists, beside the first of
	// each signature and arm.
	maxFailures = 50
	// maxGroups bounds the signatures of a scenario; later ones are counted
	// together under otherSignature.
	maxGroups      = 100
	otherSignature = "other: more signatures than are told apart"
)

// Tally counts the records of one scenario in memory that does not grow with
// their number. Apart from which signatures are told apart once there are more
// than a hundred, the order of records makes no difference. Not safe for
// concurrent use.
type Tally struct {
	plan     ScenarioPlan
	runs     int
	children int
	arms     []*armTally
	groups   map[string]*Signature
	failures int
	first    map[groupArm]Record // the lowest of each signature and arm
	lowest   []Record            // the maxFailures lowest, sorted
	others   otherLibraries
}

type groupArm struct{ signature, arm string }

// armTally counts one arm.
type armTally struct {
	arm         Arm
	children    int // measured
	failed      int
	notMeasured int
	// unmeasured is the evidence of the first child that was not measured,
	// unmeasured is the evidence of the first child that was not measured.
	unmeasured string
	contended  int
	outcomes   map[Outcome]int
	runs       int // ended, with a measured child
	runsFailed int
	clusters   stats.Clusters
	open       map[int]*runCount // runs that have not ended
	skew       histogram
}

type runCount struct{ seen, measured, failed int }

// NewTally returns an empty Tally of one scenario of the plan.
func NewTally(p Plan, s ScenarioPlan) *Tally {
	t := &Tally{
		plan: s, runs: p.Runs, children: p.Children,
		groups: map[string]*Signature{}, first: map[groupArm]Record{},
	}
	for _, a := range s.Arms {
		t.arms = append(t.arms, &armTally{arm: a, outcomes: map[Outcome]int{}, open: map[int]*runCount{}})
	}
	return t
}

// Add counts one record and reports whether it ended a run of its arm. The
// record of an arm that the plan does not have is not counted.
func (t *Tally) Add(r Record) (runEnded bool) {
	a := t.arm(r.Arm)
	if a == nil {
		return false
	}
	runEnded = a.add(r, t.children)
	if r.Flags.OtherLibraries {
		if t.others.count == 0 || t.compare(r, t.others.first) < 0 {
			t.others.first = r
		}
		t.others.count++
	}
	if r.Outcome.Failed() {
		t.fail(r)
	}
	return runEnded
}

func (t *Tally) arm(name string) *armTally {
	for _, a := range t.arms {
		if a.arm.Name == name {
			return a
		}
	}
	return nil
}

func (a *armTally) add(r Record, runSize int) (runEnded bool) {
	a.outcomes[r.Outcome]++
	run := a.open[r.Run]
	if run == nil {
		run = &runCount{}
		a.open[r.Run] = run
	}
	run.seen++
	if !r.Outcome.Measured() {
		a.notMeasured++
		if a.unmeasured == "" {
			a.unmeasured = r.Evidence
		}
	} else {
		run.measured++
		a.children++
		if r.Overlap >= 2 {
			a.contended++
		}
		for _, ns := range r.SkewNS {
			a.skew.add(ns)
		}
	}
	if r.Outcome.Failed() {
		run.failed++
		a.failed++
	}
	if run.seen < runSize {
		return false
	}
	delete(a.open, r.Run)
	a.end(run, &a.clusters, &a.runs, &a.runsFailed)
	return true
}

// end counts a run that has ended, or all that there will be of it.
func (*armTally) end(run *runCount, clusters *stats.Clusters, runs, runsFailed *int) {
	if run.measured == 0 {
		return
	}
	clusters.Add(run.failed, run.measured)
	*runs++
	if run.failed > 0 {
		*runsFailed++
	}
}

// totals returns what the runs came to, those that have not ended included.
func (a *armTally) totals() (clusters stats.Clusters, runs, runsFailed int) {
	clusters, runs, runsFailed = a.clusters, a.runs, a.runsFailed
	for _, run := range a.open {
		a.end(run, &clusters, &runs, &runsFailed)
	}
	return clusters, runs, runsFailed
}

func (t *Tally) fail(r Record) {
	t.failures++
	r.SkewNS = nil // counted, and large
	g := t.groups[r.Signature]
	if g == nil {
		if len(t.groups) >= maxGroups {
			r.Signature = otherSignature
			g = t.groups[r.Signature]
		}
		if g == nil {
			g = &Signature{Signature: r.Signature, Outcome: r.Outcome, Count: map[string]int{}}
			t.groups[r.Signature] = g
		}
	}
	g.Count[r.Arm]++
	at := groupArm{r.Signature, r.Arm}
	if first, ok := t.first[at]; !ok || t.compare(r, first) < 0 {
		t.first[at] = r
	}
	i, _ := slices.BinarySearchFunc(t.lowest, r, t.compare)
	if i < maxFailures {
		t.lowest = slices.Insert(t.lowest, i, r)
		t.lowest = t.lowest[:min(len(t.lowest), maxFailures)]
	}
}

// compare orders records by run and child, then by arm in the plan's order.
func (t *Tally) compare(a, b Record) int {
	place := func(r Record) int {
		return slices.IndexFunc(t.plan.Arms, func(x Arm) bool { return x.Name == r.Arm })
	}
	return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Child, b.Child), cmp.Compare(place(a), place(b)))
}

// signatures returns the groups, the most frequent first.
func (t *Tally) signatures() []Signature {
	var all []Signature
	for _, g := range t.groups {
		s := *g
		var lowest *Record
		for at, r := range t.first {
			if at.signature == s.Signature && (lowest == nil || t.compare(r, *lowest) < 0) {
				lowest = &r
			}
		}
		s.Example, s.Outcome = lowest.Evidence, lowest.Outcome
		all = append(all, s)
	}
	total := func(s Signature) (n int) {
		for _, c := range s.Count {
			n += c
		}
		return n
	}
	slices.SortFunc(all, func(a, b Signature) int {
		return cmp.Or(cmp.Compare(total(b), total(a)), strings.Compare(a.Signature, b.Signature))
	})
	return all
}

// listed returns the failures to list: the first of each signature and arm,
// then others in order.
func (t *Tally) listed() []Record {
	var firsts []Record
	for _, r := range t.first {
		firsts = append(firsts, r)
	}
	slices.SortFunc(firsts, t.compare)
	list := slices.Clone(firsts)
	for _, r := range t.lowest {
		if len(list) >= maxFailures {
			break
		}
		if !slices.ContainsFunc(firsts, func(f Record) bool { return f.Key() == r.Key() }) {
			list = append(list, r)
		}
	}
	return list
}

func (t *Tally) progress(arm string) ArmProgress {
	a := t.arm(arm)
	return ArmProgress{
		Scenario: t.plan.Name, Arm: arm,
		Done: a.children + a.notMeasured, Planned: t.runs * t.children,
		Failed: a.failed, NotMeasured: a.notMeasured, RunsFailed: a.runsFailed, RunsEnded: a.runs,
	}
}
