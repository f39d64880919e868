package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"rocstress/harness"
)

// WriteMarkdown writes r to be pasted into a pull request on GitHub: verdicts
// and tables in the open, failures and versions folded.
func WriteMarkdown(w io.Writer, r harness.Report) error {
	var b bytes.Buffer
	if len(r.Scenarios) == 0 {
		b.WriteString("Nothing was run.\n")
	}
	for _, s := range r.Scenarios {
		markdownScenario(&b, s)
	}
	markdownContext(&b, r)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	return nil
}

func markdownScenario(b *bytes.Buffer, s harness.ScenarioReport) {
	fmt.Fprintf(b, "### %s: %s\n\n", codeSpan(s.Name), prose(string(s.Verdict.Kind)))
	if text := words(s.Verdict); text != "" {
		fmt.Fprintf(b, "%s\n\n", prose(text))
	}
	b.WriteString("| arm | protections | runs failed | children failed | failure rate | outcomes |\n")
	b.WriteString("|---|---|---|---|---|---|\n")
	for _, a := range s.Arms {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", prose(a.Name), prose(a.Removal()),
			ofTotal(a.RunsFailed, a.Runs), ofTotal(a.ChildrenFailed, a.Children), prose(rate(a)), prose(outcomes(a.Outcomes)))
	}
	b.WriteByte('\n')
	for _, a := range s.Arms {
		fmt.Fprintf(b, "- %s: %s", prose(a.Name), prose(contention(a)))
		if a.NotMeasured > 0 {
			fmt.Fprintf(b, "; %s children were not measured%s", ofTotal(a.NotMeasured, a.Planned), prose(why(a)))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	markdownSignatures(b, s)
}

func markdownSignatures(b *bytes.Buffer, s harness.ScenarioReport) {
	if len(s.Signatures) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>%d failures, by what they share</summary>\n\n", s.FailuresN)
	shown := s.Signatures
	if len(shown) > normalSignatures {
		shown = shown[:normalSignatures]
	}
	for _, sig := range shown {
		fmt.Fprintf(b, "- %d x %s (%s)\n\n", total(sig), codeSpan(Label(sig.Outcome, sig.Signature)), prose(byArm(sig.Count)))
		f, ok := example(s, sig)
		block, more := lines(evidence(sig, f), normalEvidence)
		if more > 0 {
			block = append(block, fmt.Sprintf("(%d more lines)", more))
		}
		if ok {
			block = append(block, "$ "+Terminal(f.Reproduce))
		}
		if len(block) > 0 {
			b.WriteString(codeBlock(block, "  "))
			b.WriteByte('\n')
		}
	}
	if n := len(s.Signatures) - len(shown); n > 0 {
		fmt.Fprintf(b, "- and %d more groups\n\n", n)
	}
	b.WriteString("</details>\n\n")
}

func markdownContext(b *bytes.Buffer, r harness.Report) {
	if r.Stopped != "" {
		fmt.Fprintf(b, "Stopped early: %s\n\n", prose(r.Stopped))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(b, "Warning: %s\n\n", prose(w))
	}
	fmt.Fprintf(b, "Speaks of: %s\n\n", prose(r.Subject))
	b.WriteString("<details><summary>Device, versions and command</summary>\n\n")
	fmt.Fprintf(b, "- device: %s\n", codeSpan(device(r.Device)))
	for _, l := range r.Device.Libraries {
		fmt.Fprintf(b, "- library: %s\n", codeSpan(library(l)))
	}
	fmt.Fprintf(b, "- host: %s\n", codeSpan(host(r.Host)))
	fmt.Fprintf(b, "- campaign: seed %d, %s, stress %s\n", r.Seed, took(r.Dur), codeSpan(r.Tool))
	if r.Earlier > 0 {
		fmt.Fprintf(b, "- resumed: %d children had been run before\n", r.Earlier)
	}
	if len(r.Command) > 0 {
		fmt.Fprintf(b, "- command: %s\n", codeSpan(strings.Join(r.Command, " ")))
	}
	b.WriteString("\n</details>\n")
}
