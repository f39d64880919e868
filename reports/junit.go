package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"rocstress/harness"
)

// JUnitOptions are the knobs of WriteJUnit.
type JUnitOptions struct {
	// Exit says what a scenario means to the gate that reads the file, in
	// exit codes of stress: 0 accepted, 1 a failure, anything else an error.
	// nil: regression and findings are failures, both kinds of inconclusive
	// are errors. The removed arm of an accepted comparison is no failure:
	// its children are there to fail.
	Exit func(harness.ScenarioReport) int
}

// WriteJUnit writes r as JUnit XML: a suite for each scenario, a case for each
// arm, the failed children as a case's output.
func WriteJUnit(w io.Writer, r harness.Report, opts JUnitOptions) error {
	if opts.Exit == nil {
		opts.Exit = defaultExit
	}
	suites := junit.Testsuites{Name: "stress", Time: seconds(r.Dur)}
	for i, s := range r.Scenarios {
		suites.AddSuite(junitSuite(r, s, i, opts))
	}
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	if err := suites.WriteXML(w); err != nil {
		return fmt.Errorf("write the JUnit report: %w", err)
	}
	return nil
}

func defaultExit(s harness.ScenarioReport) int {
	switch s.Verdict.Kind {
	case harness.Regression, harness.Findings:
		return 1
	case harness.Inconclusive, harness.NoContention:
		return 3
	}
	return 0
}

func junitSuite(r harness.Report, s harness.ScenarioReport, id int, opts JUnitOptions) junit.Testsuite {
	suite := junit.Testsuite{Name: Terminal(s.Name), ID: id}
	suite.SetTimestamp(r.Started.UTC())
	var spent time.Duration
	if len(r.Scenarios) == 1 {
		spent = r.Dur // arms are interleaved: no arm has a time of its own
	}
	suite.Time = seconds(spent)
	for _, p := range [...]struct{ name, value string }{
		{"verdict", string(s.Verdict.Kind)},
		{"speaks of", r.Subject},
		{"device", device(r.Device)},
		{"host", host(r.Host)},
		{"seed", fmt.Sprint(r.Seed)},
		{"stress", r.Tool},
		{"stopped", r.Stopped},
	} {
		if p.value != "" {
			suite.AddProperty(p.name, Terminal(p.value))
		}
	}
	exit := opts.Exit(s)
	blamed := blamedArm(s)
	for _, a := range s.Arms {
		c := junit.Testcase{Name: Terminal(a.Name), Classname: "stress." + Terminal(s.Name), SystemOut: junitOutput(s, a)}
		switch {
		case a.Name != blamed || exit == 0:
		case exit == 1:
			c.Failure = junitResult(s, a)
		default:
			c.Error = junitResult(s, a)
		}
		suite.AddTestcase(c)
	}
	return suite
}

// blamedArm returns the arm that carries a scenario's verdict, where that is
// bad: the first one, with nothing removed if the scenario has such an arm.
func blamedArm(s harness.ScenarioReport) string {
	for _, a := range s.Arms {
		if len(a.Without) == 0 {
			return a.Name
		}
	}
	if len(s.Arms) == 0 {
		return ""
	}
	return s.Arms[0].Name
}

func junitResult(s harness.ScenarioReport, a harness.ArmReport) *junit.Result {
	return &junit.Result{
		Message: Terminal(s.Verdict.Text),
		Type:    Terminal(string(s.Verdict.Kind)),
		Data: fmt.Sprintf("%s runs and %s children failed; %s",
			ofTotal(a.RunsFailed, a.Runs), ofTotal(a.ChildrenFailed, a.Children), Terminal(rate(a))),
	}
}

// junitOutput lists what the children of an arm came to.
func junitOutput(s harness.ScenarioReport, a harness.ArmReport) *junit.Output {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s runs and %s children failed; %s\noutcomes: %s\n%s\n", Terminal(a.Removal()),
		ofTotal(a.RunsFailed, a.Runs), ofTotal(a.ChildrenFailed, a.Children), Terminal(rate(a)),
		Terminal(outcomes(a.Outcomes)), contention(a))
	listed := 0
	for _, f := range s.Failures {
		if f.Arm != a.Name {
			continue
		}
		listed++
		fmt.Fprintf(&b, "run %d child %d: %s\n", f.Run, f.Child, clip(Terminal(Label(f.Outcome, f.Signature))))
		shown, more := lines(f.Evidence, normalEvidence)
		for _, l := range shown {
			fmt.Fprintf(&b, "    | %s\n", l)
		}
		if more > 0 {
			fmt.Fprintf(&b, "    | (%d more lines)\n", more)
		}
		fmt.Fprintf(&b, "    reproduce: %s\n", Terminal(f.Reproduce))
	}
	if n := a.ChildrenFailed - listed; n > 0 {
		fmt.Fprintf(&b, "and %d more failed children\n", n)
	}
	return &junit.Output{Data: b.String()}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
