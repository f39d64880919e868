package harness

import (
	"cmp"
	"fmt"
	"slices"
)

// The exit codes of stress.
const (
	ExitClean        = 0   // clean, with the evidence asked for
	ExitFindings     = 1   //
	ExitUsage        = 2   //
	ExitInconclusive = 3   //
	ExitHarness      = 4   // the harness itself failed, or nothing ran
	ExitUnavailable  = 125 // the device, library or lock asked for cannot be had
	ExitInterrupted  = 130 //
)

// Require is the evidence that a campaign must bring to exit 0.
type Require string

// What can be required. The zero value requires nothing in particular.
const (
	RequireNothing      Require = ""
	RequireClean        Require = "clean"
	RequireDetection    Require = "detection"
	RequireReproduction Require = "reproduction"
)

// ParseRequire reads the value of --require.
func ParseRequire(s string) (Require, error) {
	r := Require(s)
	if !slices.Contains([]Require{RequireNothing, RequireClean, RequireDetection, RequireReproduction}, r) {
		return "", fmt.Errorf("unknown requirement %q; accepted: clean, detection, reproduction", s)
	}
	return r, nil
}

// ExitOptions is what an exit code depends on beside the report.
type ExitOptions struct {
	Require Require
	// ExpectFailures turns a single arm around: 0 if a child failed, 3 if none
	// did. Comparisons have Require instead.
	ExpectFailures bool
	// Err is what Execute returned, or another failure of the harness.
	Err error
}

// ExitCode returns the exit code of a campaign; of several scenarios the
// worst: findings, then unavailable, then inconclusive.
func ExitCode(r Report, o ExitOptions) int {
	switch {
	case o.Err != nil:
		return ExitHarness
	case r.Stopped == StopInterrupted:
		return ExitInterrupted
	case !slices.ContainsFunc(r.Scenarios, ScenarioReport.ran):
		return ExitHarness
	}
	severity := []int{ExitClean, ExitInconclusive, ExitUnavailable, ExitFindings}
	worst := ExitClean
	for i, s := range r.Scenarios {
		contention := i < len(r.Plan.Scenarios) && r.Plan.Scenarios[i].Contention
		code := s.exitCode(o, contention)
		if cmp.Compare(slices.Index(severity, code), slices.Index(severity, worst)) > 0 {
			worst = code
		}
	}
	return worst
}

// ran reports whether any child of the scenario came to an outcome.
func (s ScenarioReport) ran() bool {
	return slices.ContainsFunc(s.Arms, func(a ArmReport) bool { return a.Children+a.NotMeasured > 0 })
}

// unavailable reports whether an arm was tried and nothing of it measured.
func (s ScenarioReport) unavailable() bool {
	return slices.ContainsFunc(s.Arms, func(a ArmReport) bool { return a.Children == 0 && a.NotMeasured > 0 })
}

func (s ScenarioReport) exitCode(o ExitOptions, contention bool) int {
	switch s.Verdict.Kind {
	case Regression:
		return ExitFindings
	case Findings:
		if o.ExpectFailures {
			return ExitClean
		}
		return ExitFindings
	case Reproduction:
		return ExitClean
	case Detection:
		return exitUnless(o.Require != RequireReproduction)
	case Suspicion, Guard:
		return exitUnless(o.Require == RequireNothing || o.Require == RequireClean)
	case Clean:
		if o.ExpectFailures || o.Require == RequireDetection || o.Require == RequireReproduction {
			return ExitInconclusive
		}
		return exitUnless(o.Require != RequireClean || !contention || !slices.ContainsFunc(s.Arms, func(a ArmReport) bool { return !contended(a) }))
	}
	if s.unavailable() {
		return ExitUnavailable
	}
	return ExitInconclusive
}

func exitUnless(evidence bool) int {
	if evidence {
		return ExitClean
	}
	return ExitInconclusive
}
