package harness

import (
	"regexp"
	"strings"
)

const (
	maxEvidence  = 400 // bytes of Record.Evidence and Flags.FirstError
	maxSignature = 160 // bytes of the stable part
)

// unstable matches what differs between two children with the same fault:
// addresses, numbers, pids. Names keep their letters, so that kernels of one
// family fall into one group.
var unstable = regexp.MustCompile(`0x[0-9a-fA-F]+|\(nil\)|[0-9]+`)

// stablePart returns text without what differs between children.
func stablePart(text string) string {
	text = unstable.ReplaceAllString(text, "#")
	text = strings.Join(strings.Fields(text), " ")
	return cut(strings.TrimRight(text, " :.,"), maxSignature)
}

// signature groups failures: the class and what is stable of its evidence.
func signature(o Outcome, stable string) string {
	if stable == "" {
		return string(o)
	}
	return string(o) + ": " + stable
}

// bounded returns text as evidence: valid UTF-8 of at most maxEvidence bytes.
func bounded(text string) string {
	return cut(strings.TrimSpace(text), maxEvidence)
}

// cut returns at most n bytes of text, valid UTF-8, and marks a cut.
func cut(text string, n int) string {
	const dots = "..."
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-len(dots)], "") + dots
}
