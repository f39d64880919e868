package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
	"rocstress/reports"
	"rocstress/scenarios"
)

// reportName is the report of a campaign in its results directory.
const reportName = "report.json"

// order is a campaign that was asked for and found possible.
type order struct {
	kind    campaignKind
	set     *settings
	list    []scenarios.Scenario // of a new campaign
	removed []string             // nil: what each scenario says
	resume  *results.Dir         // of a campaign to continue, else nil
	out     outDir
	junit   pending
	run     runChild
}

// campaign is run and compare.
func (a *app) campaign(ctx context.Context, kind campaignKind, s *settings, args []string) (err error) {
	o, err := a.accept(kind, s, args)
	defer func() { o.out.release() }() // nothing, once there are results
	if err != nil {
		return err
	}
	defer a.finish(&err, o.junit.discard)
	l, stop, err := a.launcher()
	if err != nil {
		return err
	}
	defer stop()
	o.run = l.Run
	p, known, err := a.settle(ctx, o)
	if err != nil {
		return err
	}
	unlock, err := a.lockDevice(ctx, p.Device, known, s.wait)
	if err != nil {
		return err
	}
	defer a.finish(&err, unlock)
	return a.carryOut(ctx, o, p, known)
}

// settle finds out what to run and on which device, which is known where a
// probe child has opened it.
func (a *app) settle(ctx context.Context, o order) (p harness.Plan, known *wire.Device, err error) {
	if o.resume == nil {
		var device string
		if device, known, err = a.resolve(ctx, o.set.device, o.run); err != nil {
			return p, nil, err
		}
		p, err = o.set.plan(o.kind, o.list, o.removed, device)
		return p, known, err
	}
	m := o.resume.Manifest()
	if !simulated(m.Plan.Device) {
		if _, known, err = a.resolve(ctx, deviceSettings{asked: m.Plan.Device}, o.run); err != nil {
			return p, nil, err
		}
	}
	if err := checkDevice(m, known); err != nil {
		return p, nil, usagef("--resume %q: %v", o.out.path, err)
	}
	return m.Plan, known, nil
}

// accept checks everything that can be checked before a child starts.
func (a *app) accept(kind campaignKind, s *settings, args []string) (o order, err error) {
	o = order{kind: kind, set: s}
	if err := s.validate(); err != nil {
		return o, err
	}
	if s.resume != "" {
		return a.acceptResume(kind, s, args)
	}
	if o.list, err = findScenarios(kind.command(), args); err != nil {
		return o, err
	}
	if o.removed, err = s.removed(); err != nil {
		return o, err
	}
	// The size is checked with a plan for any device: none depends on it.
	if _, err := s.plan(kind, o.list, o.removed, deviceSim); err != nil {
		return o, err
	}
	dir := s.out
	if dir == "" {
		dir = defaultOut(a.now(), os.Getpid())
	}
	if o.out, err = reserveOut(dir); err != nil {
		return o, err
	}
	o.junit, err = createPending("--junit", s.junit)
	return o, err
}

// resolve finds out what to run on. The device is known where a probe child
// has opened it. hip never falls back; auto says what it chose and why.
func (a *app) resolve(ctx context.Context, d deviceSettings, run runChild) (spec string, known *wire.Device, err error) {
	spec, auto := d.spec()
	if !auto && simulated(spec) {
		return spec, nil, nil
	}
	if auto {
		spec = deviceHip + ":0"
	}
	f, err := probeDevice(ctx, run, a.env, spec)
	switch {
	case err != nil:
		return "", nil, err
	case f.usable():
		return spec, f.device, nil
	case auto:
		a.warn("--device auto: runs on sim, a simulated device: " + f.brief() + " (stress doctor says more)")
		return deviceSim, nil, nil
	}
	return "", nil, &exitError{harness.ExitUnavailable, fmt.Errorf("--device %s: not usable: %s; see stress doctor", d.asked, f.why())}
}

// carryOut runs a plan and reports it. A campaign that could not go on is
// reported too: what was counted is not lost.
func (a *app) carryOut(ctx context.Context, o order, p harness.Plan, known *wire.Device) (err error) {
	store, manifest, err := a.openResults(o, p, known)
	if err != nil {
		return err
	}
	defer a.finish(&err, store.Close)
	show := a.progress(o.set, p)
	c := harness.Campaign{
		Plan: p, Run: o.run, Environ: a.env, Store: store,
		Described: func(d wire.Device) error {
			manifest.Device = d
			return store.SetManifest(manifest)
		},
		Observe: func(pr harness.Progress) {
			show.observe(pr)
			if pr.Record.Outcome.Failed() {
				show.line(failureLine(pr.Record, harness.ReplayCommand(o.out.path, p, pr.Record.Key())))
			}
		},
	}
	if o.resume != nil {
		c.Earlier = o.resume.Records
		if manifest.Device.Driver != "" {
			c.Device = &manifest.Device
		}
	}
	result, failed := c.Execute(ctx)
	show.stop()
	if result.Device == nil {
		result.Device = known
	}
	r := harness.BuildReport(harness.ReportInput{
		Plan: p, Result: result, Tool: version(), Command: a.invocation(), OutDir: o.out.path,
	})
	for _, w := range r.Warnings {
		a.warn(w)
	}
	opts := harness.ExitOptions{Require: harness.Require(o.set.require), ExpectFailures: o.set.expectFailures, Err: failed}
	if failed = errors.Join(failed, a.publish(o, r, opts)); failed != nil {
		return harnessError(failed)
	}
	return exitWith(harness.ExitCode(r, opts))
}

// openResults returns the results directory, new or continued.
func (a *app) openResults(o order, p harness.Plan, known *wire.Device) (*results.Writer, results.Manifest, error) {
	if o.resume != nil {
		return a.reopenResults(o, known)
	}
	build, err := buildID()
	if err != nil {
		return nil, results.Manifest{}, harnessError(err)
	}
	m := results.Manifest{
		Tool: version(), Build: build, Command: a.invocation(), Created: a.now().UTC(), Host: harness.ThisHost(), Plan: p,
		Environment: harness.RelevantEnv(a.env),
	}
	if known != nil {
		m.Device = *known
	}
	w, err := results.Create(o.out.path, m)
	if err != nil {
		return nil, m, harnessError(fmt.Errorf("--out %q: %w", o.out.path, err))
	}
	return w, m, nil
}

// progress chooses how to show progress.
func (a *app) progress(s *settings, p harness.Plan) progress {
	switch {
	case s.noProgress || s.view.quiet:
		return newLines(a.stderr, planned(p), nil, func() {})
	case canRedraw(a.stderr, a.env):
		return newBar(a.stderr, planned(p))
	}
	ticks, stop := a.ticks()
	return newLines(a.stderr, planned(p), ticks, stop)
}

// planned returns how many children a plan has.
func planned(p harness.Plan) int {
	n := 0
	for _, s := range p.Scenarios {
		n += len(s.Arms) * p.Runs * p.Children
	}
	return n
}

// publish writes the report everywhere it was asked for. Where one place fails
// the others are still tried: on a full disk, the counts go to stdout.
func (a *app) publish(o order, r harness.Report, opts harness.ExitOptions) error {
	return errors.Join(saveReport(o.out.path, r), a.printReport(o.set.view, r), o.writeJUnit(r, opts))
}

func saveReport(dir string, r harness.Report) error {
	var doc bytes.Buffer
	if err := reports.WriteJSON(&doc, r); err != nil {
		return err
	}
	path := filepath.Join(dir, reportName)
	if err := renameio.WriteFile(path, doc.Bytes(), 0o644, renameio.WithTempDir(dir)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func (a *app) printReport(v viewSettings, r harness.Report) error {
	text, err := v.render(r)
	if err != nil {
		return err
	}
	return a.print(text)
}

func (o order) writeJUnit(r harness.Report, opts harness.ExitOptions) error {
	if o.junit.file == nil {
		return nil
	}
	var xml bytes.Buffer
	if err := reports.WriteJUnit(&xml, r, reports.JUnitOptions{Exit: verdictExit(r, opts)}); err != nil {
		return err
	}
	return o.junit.commit(xml.Bytes())
}

// verdictExit returns what one scenario's verdict means for the exit code.
func verdictExit(r harness.Report, opts harness.ExitOptions) func(harness.ScenarioReport) int {
	return func(s harness.ScenarioReport) int {
		one := r
		one.Scenarios, one.Plan.Scenarios = []harness.ScenarioReport{s}, nil
		for _, p := range r.Plan.Scenarios {
			if p.Name == s.Name {
				one.Plan.Scenarios = []harness.ScenarioPlan{p}
			}
		}
		return harness.ExitCode(one, opts)
	}
}
