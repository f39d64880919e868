package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rocstress/harness"
)

// planFlag is a flag that is part of the plan, with its value as it was given
// now and as the plan has it.
type planFlag struct {
	name string
	now  string
	plan string
}

// checkPlan refuses flags that would change the plan of a campaign to
// continue. One that repeats what the plan says changes nothing.
func (s *settings) checkPlan(p harness.Plan, removed []string) error {
	for _, f := range s.planFlags(p, removed) {
		if s.flags.Changed(f.name) && f.now != f.plan {
			return fmt.Errorf("--%s %s: the campaign has %s, and keeps its plan", f.name, f.now, f.plan)
		}
	}
	if s.flags.Changed("out") && !sameDir(s.out, s.resume) {
		return fmt.Errorf("--out %q: results go on where they are; accepted: --out %q, or none", s.out, s.resume)
	}
	return nil
}

func (s *settings) planFlags(p harness.Plan, removed []string) []planFlag {
	each := func(show func(harness.ScenarioPlan) string) string { return eachScenario(p, show) }
	device, auto := s.device.spec()
	if auto {
		device = p.Device // whatever it was
	}
	return []planFlag{
		{"runs", strconv.Itoa(s.runs), strconv.Itoa(p.Runs)},
		{"children", strconv.Itoa(s.children), strconv.Itoa(p.Children)},
		{"threads", strconv.Itoa(s.set.Threads), each(func(sp harness.ScenarioPlan) string { return strconv.Itoa(sp.Settings.Threads) })},
		{"rounds", strconv.Itoa(s.set.Rounds), each(func(sp harness.ScenarioPlan) string { return strconv.Itoa(sp.Settings.Rounds) })},
		{"shape", s.set.Shape.String(), each(func(sp harness.ScenarioPlan) string { return sp.Settings.Shape.String() })},
		{"inputs", s.set.Inputs, each(func(sp harness.ScenarioPlan) string { return sp.Settings.Inputs })},
		{"load", s.set.Load, each(func(sp harness.ScenarioPlan) string { return sp.Settings.Load })},
		{"device", device, p.Device},
		{"sim", device, p.Device},
		{"without", orNobody(removed), each(func(sp harness.ScenarioPlan) string { return orNobody(sp.Arms[len(sp.Arms)-1].Without) })},
		{"seed", strconv.FormatUint(s.seedValue, 10), strconv.FormatUint(p.Seed, 10)},
		{"timeout", s.timeout.String(), each(func(sp harness.ScenarioPlan) string { return sp.Deadline.String() })},
		{"max-time", limit(s.maxTime), limit(p.MaxTime)},
		{"max-fails", showLimit(s.maxFails), showLimit(p.MaxFails)},
		{"failfast", showLimit(s.maxFails), showLimit(p.MaxFails)},
		{"parallel", strconv.Itoa(s.parallel), strconv.Itoa(p.Parallel)},
	}
}

// eachScenario returns what all scenarios have in common, or what each has.
func eachScenario(p harness.Plan, show func(harness.ScenarioPlan) string) string {
	var all []string
	same := true
	for _, sp := range p.Scenarios {
		all = append(all, show(sp))
		same = same && all[0] == all[len(all)-1]
	}
	if same {
		return all[0]
	}
	return strings.Join(all, " and ")
}

func orNobody(ids []string) string {
	if len(ids) == 0 {
		return "nothing removed"
	}
	return strings.Join(ids, ",")
}

func limit(d time.Duration) string {
	if d == 0 {
		return "no limit"
	}
	return d.String()
}

func showLimit(n int) string {
	if n == 0 {
		return "no limit"
	}
	return strconv.Itoa(n)
}
