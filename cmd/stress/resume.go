package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rocstress/childproc/wire"
	"rocstress/harness"
	"rocstress/harness/results"
)

// acceptResume checks everything about a campaign to continue that can be
// checked before a child starts: it must be the same campaign.
func (a *app) acceptResume(kind campaignKind, s *settings, args []string) (o order, err error) {
	o = order{kind: kind, set: s, out: outDir{path: s.resume}}
	if o.removed, err = s.removed(); err != nil {
		return o, err
	}
	o.resume, err = results.Open(s.resume)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o, usagef("--resume %q: no results directory; accepted: what --out named, with a manifest.json", s.resume)
	case err != nil:
		return o, usagef("--resume %q: %v", s.resume, err)
	}
	m := o.resume.Manifest()
	for _, check := range []func() error{
		m.Plan.Validate,
		func() error { return checkKind(kind, m.Plan) },
		func() error { return checkScenarios(args, m.Plan) },
		func() error { return s.checkPlan(m.Plan, o.removed) },
		func() error { return checkBuild(m) },
		func() error { return checkEnvironment(m.Environment, harness.RelevantEnv(a.env)) },
	} {
		if err := check(); err != nil {
			return o, usagef("--resume %q: %v", s.resume, err)
		}
	}
	o.junit, err = createPending("--junit", s.junit)
	return o, err
}

// checkKind refuses a campaign of the other command.
func checkKind(kind campaignKind, p harness.Plan) error {
	command := "run"
	for _, s := range p.Scenarios {
		if len(s.Arms) != 1 || s.Arms[0].Name != harness.ArmRun {
			command = "compare"
		}
	}
	if asked := kind.command(); asked != command {
		return fmt.Errorf("the campaign was a stress %s, this is a stress %s", command, asked)
	}
	return nil
}

// checkScenarios lets the scenarios be named again.
func checkScenarios(args []string, p harness.Plan) error {
	var was []string
	for _, s := range p.Scenarios {
		was = append(was, s.Name)
	}
	if len(args) > 0 && !slices.Equal(args, was) {
		return fmt.Errorf("the campaign has the scenarios %s, given were %s", strings.Join(was, " "), strings.Join(args, " "))
	}
	return nil
}

// checkBuild refuses to continue with another stress: its children would not
// be comparable.
func checkBuild(m results.Manifest) error {
	build, err := buildID()
	if err != nil {
		return err
	}
	if build != m.Build {
		return fmt.Errorf("the stress binary was %s (%s), is %s (%s)", cmp.Or(m.Build, "unknown"), m.Tool, build, version())
	}
	return nil
}

func checkEnvironment(was, is map[string]string) error {
	show := func(env map[string]string, name string) string {
		if v, ok := env[name]; ok {
			return fmt.Sprintf("%q", v)
		}
		return "not set"
	}
	names := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is)))
	slices.Sort(names)
	for _, name := range names {
		if a, b := show(was, name), show(is, name); a != b {
			return fmt.Errorf("the environment variable %s was %s, is %s", name, a, b)
		}
	}
	return nil
}

// checkDevice refuses another device, other libraries and another kernel
// driver. known is what the probe child opened, nil for a simulated device.
func checkDevice(m results.Manifest, known *wire.Device) error {
	if known == nil || m.Device.Driver == "" {
		return nil
	}
	if d := harness.Difference(m.Device, *known); d != "" {
		return errors.New(d)
	}
	was, is := m.Host.KernelDrivers, harness.KernelDrivers(os.DirFS("/"))
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if was[name] != is[name] {
			return fmt.Errorf("the kernel's %s was %q, is %q", name, was[name], is[name])
		}
	}
	return nil
}

// reopenResults returns the results of a campaign to continue, open to add to.
func (a *app) reopenResults(o order, known *wire.Device) (*results.Writer, results.Manifest, error) {
	m := o.resume.Manifest()
	w, err := results.Reopen(o.out.path)
	switch {
	case errors.Is(err, results.ErrInUse):
		return nil, m, &exitError{harness.ExitUnavailable, fmt.Errorf("--resume %q: %w", o.out.path, results.ErrInUse)}
	case err != nil:
		return nil, m, usagef("--resume %q: %v", o.out.path, err)
	}
	if m.Device.Driver == "" && known != nil {
		m.Device = *known
	}
	m.Resumed = append(m.Resumed, results.Invocation{Command: a.invocation(), At: a.now().UTC()})
	if err := w.SetManifest(m); err != nil {
		return nil, m, harnessError(errors.Join(err, w.Close()))
	}
	return w, m, nil
}

// sameDir reports whether two paths name one directory.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	sa, err := os.Stat(a)
	if err != nil {
		return false
	}
	sb, err := os.Stat(b)
	return err == nil && os.SameFile(sa, sb)
}
