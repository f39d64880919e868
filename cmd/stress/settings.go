package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/rocm"
	"rocstress/scenarios"
)

// settings are the flags of run and compare. A zero field was not given.
type settings struct {
	runs, children   int
	set              wire.Settings // zero fields: the scenario's defaults
	device           deviceSettings
	without          []string
	seed             value[uint64]
	seedValue        uint64
	timeout, maxTime time.Duration
	parallel         int
	maxFails         int
	failfast         bool
	require          string
	expectFailures   bool
	out              string
	resume           string
	wait             time.Duration
	junit            string
	view             viewSettings
	noProgress       bool
	flags            *pflag.FlagSet // that these are registered with
}

// viewSettings say how results are shown.
type viewSettings struct {
	format         string
	quiet, verbose bool
}

// campaignKind tells run and compare apart.
type campaignKind int

const (
	kindRun campaignKind = iota
	kindCompare
)

// command is the word for it on the command line.
func (k campaignKind) command() string {
	if k == kindCompare {
		return "compare"
	}
	return "run"
}

// Bounds of counts: far above any campaign, far below an overflow.
const (
	maxRuns     = 1_000_000
	maxChildren = 100_000
	maxThreads  = 1024
	maxRounds   = 1_000_000
	maxParallel = 1024
)

// register adds the flags to f.
func (s *settings) register(f *pflag.FlagSet, kind campaignKind) {
	s.flags = f
	s.runs, s.children, s.view.format = 1, 10, formatText
	if kind == kindCompare {
		s.runs = 20
	}
	f.Var(count(&s.runs, maxRuns), "runs", "runs an arm; a run fails if one of its children does")
	f.Var(count(&s.children, maxChildren), "children", "children a run, each a fresh process")
	f.Var(count(&s.set.Threads, maxThreads), "threads", "threads a child (default: the scenario's)")
	f.Var(count(&s.set.Rounds, maxRounds), "rounds", "operations a thread (default: the scenario's)")
	f.Var(shape(&s.set.Shape), "shape", "[M,K] x [K,N] of every GEMM (default: the scenario's)")
	f.Var(oneOf(&s.set.Inputs, "mixed|seed", "mixed", "seed"), "inputs", "mixed: every problem differs; seed: the 9 problems of #2198 (default: the scenario's)")
	f.Var(load(&s.set.Load), "load", "filler ahead of the inputs of each stream, so that order matters (default: the scenario's)")
	s.device.register(f)
	switch kind {
	case kindRun:
		f.Var(names(&s.without), "without", "protections or groups to remove (see stress list protections)")
		f.Var(oneOf(&s.require, "clean", string(harness.RequireClean)), "require", "exit 3 unless threads really overlapped")
		f.BoolVar(&s.expectFailures, "expect-failures", false, "exit 0 if a child fails and 3 if none does")
	case kindCompare:
		f.Var(names(&s.without), "without", "protections or groups to remove in the second arm (default: what the scenario is there to notice)")
		f.Var(oneOf(&s.require, "clean|detection|reproduction", string(harness.RequireClean), string(harness.RequireDetection), string(harness.RequireReproduction)),
			"require", "evidence without which to exit 3")
	}
	s.seed = *seed(&s.seedValue)
	f.Var(&s.seed, "seed", "fixes inputs and the order of arms (default: random, and printed)")
	f.Var(duration(&s.timeout), "timeout", "how long one child may take (default: the scenario's, 2m0s on a real device)")
	f.Var(duration(&s.maxTime), "max-time", "how long all may take, and again after --resume; what was counted by then is reported (default: unlimited)")
	f.Var(count(&s.maxFails, maxRuns), "max-fails", "stop after so many failed children, in compare protected ones (default: never)")
	f.BoolVar(&s.failfast, "failfast", false, "the same as --max-fails 1")
	f.VarP(count(&s.parallel, maxParallel), "parallel", "p", "children at once (default: 1 on a real device, the number of CPUs on sim)")
	f.VarP(path(&s.out, "DIR"), "out", "o", "results directory, new or empty (default: stress-results/<UTC>-<pid>)")
	f.Var(path(&s.resume, "DIR"), "resume", "continue the campaign in this results directory where it stopped; its plan, binary, libraries and environment must be the same")
	s.wait = defaultWait
	f.Var(patience(&s.wait), "wait", waitHelp)
	f.Var(path(&s.junit, "FILE"), "junit", "write JUnit XML too")
	s.view.register(f)
	f.BoolVar(&s.noProgress, "no-progress", false, "no progress on stderr")
}

// register adds the flags to f.
func (v *viewSettings) register(f *pflag.FlagSet) {
	f.Var(oneOf(&v.format, "text|json|md", formatText, formatJSON, formatMarkdown), "format", "what to print on stdout")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "the verdict alone, no progress")
	f.BoolVarP(&v.verbose, "verbose", "v", false, "every listed failure, all evidence, libraries")
}

// validate refuses flags that contradict each other.
func (s *settings) validate() error {
	switch {
	case s.view.quiet && s.view.verbose:
		return usagef("--quiet and --verbose exclude each other")
	case s.failfast && s.maxFails > 1:
		return usagef("--failfast means --max-fails 1, and --max-fails %d was given; accepted: one of them", s.maxFails)
	case s.expectFailures && s.require != "":
		return usagef("--expect-failures and --require %s exclude each other", s.require)
	}
	if s.failfast {
		s.maxFails = 1
	}
	return s.device.validate()
}

// removed returns the ids that --without names, sorted; nil where the flag was
// not given.
func (s *settings) removed() ([]string, error) {
	if s.without == nil {
		return nil, nil
	}
	return parseProtections("--without", s.without)
}

func parseProtections(flag string, ids []string) ([]string, error) {
	accepted := protectionNames()
	for _, id := range ids {
		if !slices.Contains(accepted, id) {
			return nil, unknownName(flag, id, accepted)
		}
	}
	set, err := rocm.ParseSet(ids)
	if err != nil {
		return nil, usagef("%s: %v", flag, err)
	}
	return set.IDs(), nil
}

// protectionNames returns every id, then every group.
func protectionNames() []string {
	var ids, groups []string
	for _, p := range rocm.Protections() {
		ids = append(ids, string(p.ID))
	}
	for g := range rocm.Groups() {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	return append(ids, groups...)
}

// findScenarios returns the scenarios that args name.
func findScenarios(command string, args []string) ([]scenarios.Scenario, error) {
	var accepted []string
	for _, s := range scenarios.List() {
		accepted = append(accepted, s.Name)
	}
	if len(args) == 0 {
		return nil, usagef("stress %s: no scenario was named; accepted: %s", command, strings.Join(accepted, ", "))
	}
	var found []scenarios.Scenario
	for i, name := range args {
		s, ok := scenarios.Find(name)
		switch {
		case !ok:
			return nil, unknownName("scenario", name, accepted)
		case slices.Contains(args[:i], name):
			return nil, usagef("scenario %q: named twice; accepted: each once", name)
		}
		found = append(found, s)
	}
	return found, nil
}

// over returns the scenario's defaults with what was given on top.
func over(defaults, given wire.Settings) wire.Settings {
	s := defaults
	if given.Threads != 0 {
		s.Threads = given.Threads
	}
	if given.Rounds != 0 {
		s.Rounds = given.Rounds
	}
	if given.Shape != (wire.Shape{}) {
		s.Shape = given.Shape
	}
	if given.Inputs != "" {
		s.Inputs = given.Inputs
	}
	if given.Load != "" {
		s.Load = given.Load
	}
	return s
}

// maxHostWords bounds the host memory of one child's results and inputs: 4
// GiB, below which any host that runs a GPU stays.
const maxHostWords = 1 << 30

// checkSize refuses settings that no host has the memory for, since the
// default of one knob may meet a large value of another.
func checkSize(name string, s wire.Settings) error {
	perRound := s.Shape.M*s.Shape.K + s.Shape.K*s.Shape.N + 2*s.Shape.M*s.Shape.N
	words := float64(s.Threads) * float64(s.Rounds) * float64(perRound)
	if words > maxHostWords {
		return usagef("--threads %d --rounds %d --shape %v: %s would need %.1f GiB of host memory a child; accepted: up to %d GiB",
			s.Threads, s.Rounds, s.Shape, name, words*4/(1<<30), maxHostWords*4>>30)
	}
	return nil
}
