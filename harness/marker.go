package harness

import (
	"regexp"
	"strings"
)

// weight says what a marker is worth.
type weight int

const (
	// decisive: the line alone fixes the outcome of a child that did not end
	// well, and is an unexpected fault in one that did.
	decisive weight = iota
	// onFailure: it fixes the outcome only of a child that ended badly: the
	// same text is printed where the program handled the error.
	onFailure
	// hint: it names a failure whose outcome something else decides.
	hint
	// warning: a line that the device under test prints for people.
	warning
	// race: a report of a race detector.
	race
)

// marker is one entry of the table: a literal to look for and how to read the
// text around it. Literals are case-sensitive and hold no newline.
type marker struct {
	id          string // of the line of the corpus it was made from
	literal     string // at most 64 bytes
	outcome     Outcome
	weight      weight
	beforeHello bool // it counts only until the child has opened its device
	// accept must match the line and the one after it, joined by a newline.
	// Its groups, if any, are the stable part. nil accepts everything.
	accept *regexp.Regexp
	// unless must not match the same text. nil rejects nothing.
	unless *regexp.Regexp
	// stable is the stable part where the text has none.
	stable string
}

// read decides on one occurrence: before is what stands on the line before the
// literal, text the literal and what follows.
func (m marker) read(before, text string) (stable string, ok bool) {
	whole := before + text
	if m.unless != nil && m.unless.MatchString(whole) {
		return "", false
	}
	if m.accept != nil {
		groups := m.accept.FindStringSubmatch(whole)
		if groups == nil {
			return "", false
		}
		if found := strings.TrimSpace(strings.Join(groups[1:], " ")); found != "" {
			return stablePart(found), true
		}
	}
	if m.stable != "" {
		return m.stable, true
	}
	line, _, _ := strings.Cut(text, "\n")
	return stablePart(line), true
}
