package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"

	"rocstress/harness"
	"rocstress/rocm"
	"rocstress/scenarios"
)

// plan turns settings into what a campaign runs. device is resolved.
func (s *settings) plan(kind campaignKind, list []scenarios.Scenario, removed []string, device string) (harness.Plan, error) {
	p := harness.Plan{
		Runs: s.runs, Children: s.children, Seed: s.seedValue, Device: device,
		Parallel: s.parallel, MaxTime: s.maxTime, MaxFails: s.maxFails,
	}
	if !s.seed.given {
		p.Seed = rand.Uint64()
	}
	if p.Parallel == 0 {
		p.Parallel = 1
		if simulated(device) {
			p.Parallel = runtime.GOMAXPROCS(0)
		}
	}
	for _, sc := range list {
		sp, err := s.scenarioPlan(kind, sc, removed, device)
		if err != nil {
			return p, err
		}
		p.Scenarios = append(p.Scenarios, sp)
	}
	if err := p.Validate(); err != nil {
		return p, harnessError(err)
	}
	return p, nil
}

func (s *settings) scenarioPlan(kind campaignKind, sc scenarios.Scenario, removed []string, device string) (harness.ScenarioPlan, error) {
	p := harness.ScenarioPlan{
		Name: sc.Name, Settings: over(sc.Defaults, s.set), Env: sc.Env, Contention: sc.Contention, Deadline: s.timeout,
	}
	for _, o := range sc.Expects {
		p.Expects = append(p.Expects, harness.Outcome(o))
	}
	if p.Deadline == 0 {
		p.Deadline = scenarios.HipDeadline
		if simulated(device) {
			p.Deadline = sc.SimDeadline
		}
	}
	if err := checkSize(sc.Name, p.Settings); err != nil {
		return p, err
	}
	if kind == kindRun {
		p.Arms = []harness.Arm{removalArm(harness.ArmRun, removed)}
		return p, nil
	}
	if removed == nil {
		var err error
		if removed, err = parseProtections("--without", sc.Remove); err != nil {
			return p, harnessError(fmt.Errorf("scenario %s: %w", sc.Name, err))
		}
	}
	if len(removed) == 0 {
		return p, usagef("scenario %q: guards nothing that could be removed; accepted: --without ID,...", sc.Name)
	}
	p.Arms = []harness.Arm{removalArm(harness.ArmProtected, nil), removalArm(harness.ArmRemoved, removed)}
	return p, nil
}

// removalArm returns an arm that runs without the given protections.
func removalArm(name string, removed []string) harness.Arm {
	set := rocm.Set{}
	for _, id := range removed {
		set[rocm.Protection(id)] = true
	}
	return harness.Arm{Name: name, Without: orNone(removed), Group: rocm.GroupOf(set)}
}

// orNone returns an empty list for nil, which JSON shows as a list too.
func orNone(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
