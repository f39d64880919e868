package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"rocstress/harness"
)

// Detail says how much a report for people holds.
type Detail int

// The details.
const (
	Normal Detail = iota // verdict, arms, contention, failures by signature, device
	Brief                // the verdict alone, one line a scenario
	Full                 // Normal, and every listed failure, every library and all evidence
)

// TextOptions are the knobs of WriteText. The zero value is Normal.
type TextOptions struct {
	Detail Detail
}

// Bounds of a Normal report for people. JSON has everything.
const (
	normalSignatures = 10 // groups a scenario
	normalEvidence   = 4  // lines a group
	fullEvidence     = 40
)

// WriteText writes r for a console or a CI log: for each scenario the verdict
// first, then its arms, contention and failures; at the end what was tested.
func WriteText(w io.Writer, r harness.Report, opts TextOptions) error {
	var b bytes.Buffer
	if len(r.Scenarios) == 0 {
		b.WriteString("nothing was run\n")
	}
	for i, s := range r.Scenarios {
		if opts.Detail == Brief {
			fmt.Fprintf(&b, "%s: %s: %s\n", Terminal(s.Name), strings.ToUpper(string(s.Verdict.Kind)), Terminal(words(s.Verdict)))
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		writeScenario(&b, s, opts)
	}
	if opts.Detail != Brief {
		b.WriteByte('\n')
		writeContext(&b, r, opts)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the text report: %w", err)
	}
	return nil
}

func writeScenario(b *bytes.Buffer, s harness.ScenarioReport, opts TextOptions) {
	fmt.Fprintf(b, "%s: %s\n", Terminal(s.Name), strings.ToUpper(string(s.Verdict.Kind)))
	if text := words(s.Verdict); text != "" {
		fmt.Fprintf(b, "  %s\n", Terminal(text))
	}
	b.WriteByte('\n')
	writeArms(b, s.Arms)
	b.WriteByte('\n')
	for _, a := range s.Arms {
		fmt.Fprintf(b, "  %s: %s; %s\n", Terminal(a.Name), Terminal(a.Removal()), contention(a))
		if a.NotMeasured > 0 {
			fmt.Fprintf(b, "  %s: %s children were not measured%s\n", Terminal(a.Name), ofTotal(a.NotMeasured, a.Planned), why(a))
		}
	}
	writeSignatures(b, s, opts)
	if opts.Detail == Full {
		writeFailures(b, s)
	}
}

func writeArms(b *bytes.Buffer, arms []harness.ArmReport) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	rows := "  arm\truns failed\tchildren failed\tfailure rate\toutcomes\n"
	for _, a := range arms {
		rows += fmt.Sprintf("  %s\t%s\t%s\t%s\t%s\n", Terminal(a.Name), ofTotal(a.RunsFailed, a.Runs),
			ofTotal(a.ChildrenFailed, a.Children), Terminal(rate(a)), Terminal(outcomes(a.Outcomes)))
	}
	_, _ = io.WriteString(t, rows) // into memory: cannot fail
	_ = t.Flush()
}

func writeSignatures(b *bytes.Buffer, s harness.ScenarioReport, opts TextOptions) {
	if len(s.Signatures) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  failures: %d, by what they share:\n", s.FailuresN)
	shown, limit := s.Signatures, normalEvidence
	if opts.Detail == Full {
		limit = fullEvidence
	} else if len(shown) > normalSignatures {
		shown = shown[:normalSignatures]
	}
	for _, sig := range shown {
		fmt.Fprintf(b, "  %5d x %s (%s)\n", total(sig), clip(Terminal(Label(sig.Outcome, sig.Signature))), Terminal(byArm(sig.Count)))
		f, ok := example(s, sig)
		writeEvidence(b, evidence(sig, f), limit)
		if ok {
			fmt.Fprintf(b, "          reproduce: %s\n", Terminal(f.Reproduce))
		}
	}
	if n := len(s.Signatures) - len(shown); n > 0 {
		fmt.Fprintf(b, "        and %d more groups; -v or the JSON report lists them\n", n)
	}
}

func writeEvidence(b *bytes.Buffer, text string, limit int) {
	shown, more := lines(text, limit)
	for _, l := range shown {
		fmt.Fprintf(b, "          | %s\n", l)
	}
	if more > 0 {
		fmt.Fprintf(b, "          | (%d more lines)\n", more)
	}
}

func writeFailures(b *bytes.Buffer, s harness.ScenarioReport) {
	if len(s.Failures) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  failed children (%s):\n", ofTotal(len(s.Failures), s.FailuresN))
	for _, f := range s.Failures {
		fmt.Fprintf(b, "  %s run %d child %d: %s\n", Terminal(f.Arm), f.Run, f.Child, clip(Terminal(Label(f.Outcome, f.Signature))))
		fmt.Fprintf(b, "          reproduce: %s\n", Terminal(f.Reproduce))
	}
}

// writeContext writes what the numbers speak of.
func writeContext(b *bytes.Buffer, r harness.Report, opts TextOptions) {
	if r.Stopped != "" {
		fmt.Fprintf(b, "stopped early: %s\n", Terminal(r.Stopped))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(b, "warning:   %s\n", Terminal(w))
	}
	fmt.Fprintf(b, "speaks of: %s\n", Terminal(r.Subject))
	fmt.Fprintf(b, "device:    %s\n", Terminal(device(r.Device)))
	if opts.Detail == Full {
		for _, l := range r.Device.Libraries {
			fmt.Fprintf(b, "library:   %s\n", Terminal(library(l)))
		}
	}
	fmt.Fprintf(b, "host:      %s\n", Terminal(host(r.Host)))
	fmt.Fprintf(b, "campaign:  seed %d, %s, stress %s\n", r.Seed, took(r.Dur), Terminal(r.Tool))
	if r.Earlier > 0 {
		fmt.Fprintf(b, "resumed:   %d children had been run before\n", r.Earlier)
	}
	if r.OutDir != "" {
		fmt.Fprintf(b, "results:   %s\n", Terminal(r.OutDir))
	}
}
