package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
	"rocstress/reports"
)

// replaySettings are the flags of replay. A zero field was not given.
type replaySettings struct {
	scenario, arm     string
	run, child, times int
	wait              time.Duration
}

func (a *app) replayCommand() *cobra.Command {
	s := replaySettings{times: 1, wait: defaultWait}
	cmd := &cobra.Command{
		Use:   "replay DIR",
		Short: "Rerun one child of a results directory",
		Long: `replay runs one child of a results directory again, by its recorded plan: the same
scenario, settings, removed protections, seed and device, with the libraries of
today. Without --run and --child it takes the first child that failed. Exit code 0
if it came to the recorded outcome, at least once of --times, and 3 if not. What it
finds is printed; the directory stays as it is.

` + exitHelp,
		Example: `  stress replay stress-results/20260304T050607Z-42 --run 3 --child 7 --arm removed --times 10`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("stress replay: %d directories were named; accepted: one results directory", len(args))
			}
			return a.replay(cmd.Context(), args[0], s)
		},
	}
	f := cmd.Flags()
	f.Var(path(&s.scenario, "NAME"), "scenario", "scenario of the child (default: the only one)")
	f.Var(path(&s.arm, "NAME"), "arm", "arm of the child (default: the only one)")
	f.Var(count(&s.run, maxRuns), "run", "run of the child")
	f.Var(count(&s.child, maxChildren), "child", "number of the child in its run")
	f.Var(count(&s.times, maxRuns), "times", "how often to rerun it")
	f.Var(patience(&s.wait), "wait", waitHelp)
	return cmd
}

func (a *app) replay(ctx context.Context, dir string, s replaySettings) (err error) {
	d, err := results.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("replay %q: no results directory; accepted: what --out named, with a manifest.json", dir)
	case err != nil:
		return usagef("replay %q: %v", dir, err)
	}
	p := d.Manifest().Plan
	recorded, err := s.choose(d, p)
	if err != nil {
		return err
	}
	l, stop, err := a.launcher()
	if err != nil {
		return err
	}
	defer stop()
	var known *wire.Device
	if !simulated(p.Device) {
		if _, known, err = a.resolve(ctx, deviceSettings{asked: p.Device}, l.Run); err != nil {
			return err
		}
	}
	unlock, err := a.lockDevice(ctx, p.Device, known, s.wait)
	if err != nil {
		return err
	}
	defer a.finish(&err, unlock)
	c := harness.Campaign{Plan: p, Run: l.Run, Environ: a.env}
	return a.rerun(ctx, c, recorded, s.times)
}

// rerun runs a child so many times and says what came of it.
func (a *app) rerun(ctx context.Context, c harness.Campaign, recorded harness.Record, times int) error {
	k := recorded.Key()
	if err := a.print(fmt.Sprintf("%s, %s, run %d, child %d, on %s: recorded as %s\n", reports.Terminal(k.Scenario),
		reports.Terminal(k.Arm), k.Run, k.Child, reports.Terminal(c.Plan.Device), outcomeLine(recorded))); err != nil {
		return err
	}
	same, measured := 0, 0
	for i := range times {
		obs, err := c.RunChild(ctx, k)
		switch {
		case err != nil:
			return harnessError(err)
		case ctx.Err() != nil:
			return exitInterrupted(fmt.Sprintf("replaying: %d of %d times reproduced", same, i))
		case obs.Unkillable:
			return harnessError(&harness.UnkillableError{Key: k, PID: obs.PID})
		}
		if obs.Record.Outcome.Measured() {
			measured++
		}
		if obs.Record.Outcome == recorded.Outcome {
			same++
		}
		if err := a.print(fmt.Sprintf("%d of %d: %s\n", i+1, times, outcomeLine(obs.Record))); err != nil {
			return err
		}
	}
	if err := a.print(fmt.Sprintf("reproduced %d of %d times\n", same, times)); err != nil {
		return err
	}
	switch {
	case same > 0:
		return nil
	case measured == 0:
		return exitWith(harness.ExitUnavailable)
	}
	return exitWith(harness.ExitInconclusive)
}

// outcomeLine is what a child came to, in one line. Its evidence is a child's.
func outcomeLine(r harness.Record) string {
	s := reports.Label(r.Outcome, r.Signature)
	if r.Evidence != "" {
		s += " | " + r.Evidence
	}
	return reports.Terminal(s)
}

// choose returns the record of the child that the flags name.
func (s replaySettings) choose(d *results.Dir, p harness.Plan) (harness.Record, error) {
	k := harness.Key{Scenario: s.scenario, Arm: s.arm, Run: s.run, Child: s.child}
	if err := s.checkNames(p, &k); err != nil {
		return harness.Record{}, err
	}
	if s.run > p.Runs {
		return harness.Record{}, usagef("--run %d: the plan has %d runs; accepted: 1 to %d", s.run, p.Runs, p.Runs)
	}
	if s.child > p.Children {
		return harness.Record{}, usagef("--child %d: a run has %d children; accepted: 1 to %d", s.child, p.Children, p.Children)
	}
	var best *harness.Record
	err := d.Records(func(r harness.Record) error {
		if s.matches(k, r) && (best == nil || cmp.Compare(r.Run*maxChildren+r.Child, best.Run*maxChildren+best.Child) < 0) {
			best = &r
		}
		return nil
	})
	switch {
	case err != nil:
		return harness.Record{}, harnessError(err)
	case best == nil && s.run != 0 && s.child != 0:
		return harness.Record{}, usagef("--run %d --child %d: no such child of arm %q was recorded in %s", s.run, s.child, k.Arm, d.Path())
	case best == nil:
		return harness.Record{}, usagef("replay %q: no failed child to choose; accepted: --run N --child N --arm NAME for any", d.Path())
	}
	return *best, nil
}

// matches reports whether r is wanted: any child that was named, or else one
// that failed.
func (s replaySettings) matches(k harness.Key, r harness.Record) bool {
	switch {
	case k.Scenario != "" && r.Scenario != k.Scenario, k.Arm != "" && r.Arm != k.Arm:
		return false
	case k.Run != 0 && r.Run != k.Run, k.Child != 0 && r.Child != k.Child:
		return false
	}
	return r.Outcome.Failed() || s.run != 0 && s.child != 0
}

// checkNames completes the key where the plan leaves no choice, and refuses
// names that the plan does not have.
func (s replaySettings) checkNames(p harness.Plan, k *harness.Key) error {
	var scenarios, arms []string
	for _, sc := range p.Scenarios {
		scenarios = append(scenarios, sc.Name)
		for _, a := range sc.Arms {
			if !slices.Contains(arms, a.Name) {
				arms = append(arms, a.Name)
			}
		}
	}
	if s.scenario != "" && !slices.Contains(scenarios, s.scenario) {
		return unknownName("--scenario", s.scenario, scenarios)
	}
	if s.arm != "" && !slices.Contains(arms, s.arm) {
		return unknownName("--arm", s.arm, arms)
	}
	exact := s.run != 0 && s.child != 0
	if exact && s.scenario == "" && len(scenarios) > 1 {
		return usagef("--scenario: the directory has several; accepted: %s", strings.Join(scenarios, ", "))
	}
	if exact && s.arm == "" && len(arms) > 1 {
		return usagef("--arm: the directory has several; accepted: %s", strings.Join(arms, ", "))
	}
	if len(arms) == 1 {
		k.Arm = arms[0]
	}
	return nil
}
