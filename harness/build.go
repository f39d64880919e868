package harness

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"rocstress/childproc/wire"
	"rocstress/harness/stats"
)

// ReportInput is what a report is built from.
type ReportInput struct {
	Plan    Plan
	Result  Result
	Tool    string   // version of stress
	Command []string // argv
	OutDir  string   // the results directory; empty: none is kept
	// Subject says what the result speaks of; empty: the protocol of
	// rocm.Device on the device that the children described.
	Subject string
	// Reproduce returns the command that reruns a child; nil: stress replay on
	// OutDir.
	Reproduce func(k Key) string
}

// BuildReport judges the tallies of a campaign. It reads nothing but its
// input and the description of this process.
func BuildReport(in ReportInput) Report {
	r := Report{
		Schema: ReportSchema, Tool: in.Tool, Command: in.Command,
		Started: in.Result.Started, Dur: in.Result.Dur, Seed: in.Plan.Seed,
		Host: ThisHost(), Subject: in.Subject, Plan: in.Plan, Stopped: in.Result.Stopped, OutDir: in.OutDir,
		Earlier: in.Result.Earlier,
	}
	if in.Result.Device != nil {
		r.Device = *in.Result.Device
	}
	if r.Subject == "" {
		r.Subject = subjectOf(r.Device)
	}
	for _, t := range in.Result.Tallies {
		r.Scenarios = append(r.Scenarios, t.report(in))
		if w := t.others.warning(t.plan.Name, r.Device.Libraries); w != "" {
			r.Warnings = append(r.Warnings, w)
		}
	}
	return r
}

// ThisHost describes the machine, without its name.
func ThisHost() Host {
	return Host{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(),
		KernelDrivers: KernelDrivers(os.DirFS("/")),
	}
}

func subjectOf(d wire.Device) string {
	const protocol = "the protocol of rocm.Device, not a backend's own binary"
	switch {
	case d.Driver == "":
		return protocol + "; no child described its device"
	case d.Simulated:
		return fmt.Sprintf("%s, on a simulated device (%s): a model, not hardware", protocol, d.Arch)
	case d.TestABI != "":
		return fmt.Sprintf("%s, on %s: not ROCm", protocol, d.TestABI)
	}
	return fmt.Sprintf("%s, on %s (%s), HIP %s, rocBLAS %s", protocol, d.Name, d.Arch, d.Runtime, d.BLAS)
}

func (t *Tally) report(in ReportInput) ScenarioReport {
	s := ScenarioReport{Name: t.plan.Name, Signatures: t.signatures(), FailuresN: t.failures}
	for _, a := range t.arms {
		s.Arms = append(s.Arms, a.report(t.runs*t.children))
	}
	s.Verdict = Judge(t.plan, s.Arms, in.Result.Stopped)
	for _, rec := range t.listed() {
		s.Failures = append(s.Failures, Failure{
			Arm: rec.Arm, Run: rec.Run, Child: rec.Child, Outcome: rec.Outcome,
			Signature: rec.Signature, Evidence: rec.Evidence, Reproduce: in.reproduce(rec.Key()),
		})
	}
	return s
}

func (a *armTally) report(planned int) ArmReport {
	clusters, runs, runsFailed := a.totals()
	r := ArmReport{
		Name: a.arm.Name, Without: a.arm.Without, Group: a.arm.Group, Runs: runs, RunsFailed: runsFailed,
		Children: a.children, ChildrenFailed: a.failed, NotMeasured: a.notMeasured, Unmeasured: a.unmeasured, Planned: planned,
		Outcomes: a.outcomes, DesignEffect: clusters.DesignEffect(), Contended: a.contended, Skew: a.skew.summary(),
		Interval: interval(stats.ClopperPearson(a.failed, a.children, confidence)),
	}
	if r.Without == nil {
		r.Without = []string{}
	}
	r.Clustered = r.Interval
	if a.children > 0 {
		r.Clustered = interval(stats.Widened(a.failed, a.children, r.DesignEffect, confidence))
		if a.failed == 0 {
			r.Bound = boundText(a.children)
		}
	}
	return r
}

func interval(i stats.Interval) Interval {
	return Interval{Low: i.Low, High: i.High, Confidence: confidence}
}

func (in ReportInput) reproduce(k Key) string {
	switch {
	case in.Reproduce != nil:
		return in.Reproduce(k)
	case in.OutDir == "":
		return ""
	}
	return ReplayCommand(in.OutDir, in.Plan, k)
}

// ReplayCommand returns the command that reruns the child k of a plan whose
// results are in dir, quoted for a POSIX shell.
func ReplayCommand(dir string, p Plan, k Key) string {
	line := fmt.Sprintf("stress replay %s --run %d --child %d --arm %s", shellWord(dir), k.Run, k.Child, shellWord(k.Arm))
	if len(p.Scenarios) > 1 {
		line += " --scenario " + shellWord(k.Scenario)
	}
	return line
}

// shellWord quotes s for a POSIX shell where it needs it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
