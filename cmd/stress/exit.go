package main

import (
	"errors"
	"fmt"

	"rocstress/harness"
)

// exitHelp documents the exit codes, at the end of every --help.
const exitHelp = `Exit codes:
  0    clean, with the evidence that was asked for
  1    findings
  2    usage: a flag, a value or a name is wrong; nothing was run
  3    inconclusive
  4    stress itself failed, or nothing ran
  125  the device, library or lock that was asked for cannot be had
  130  interrupted; partial results are kept
A child's own exit code never passes through.`

// exitError ends a command with a code of harness. A nil err means that
// everything there is to say was said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef returns an error of the user's: one line that names what was given
// and what is accepted.
func usagef(format string, args ...any) error {
	return &exitError{harness.ExitUsage, fmt.Errorf(format, args...)}
}

// harnessError says that stress could not do its work.
func harnessError(err error) error { return &exitError{harness.ExitHarness, err} }

// exitWith ends a command whose output is complete. Code 0 is no error.
func exitWith(code int) error {
	if code == harness.ExitClean {
		return nil
	}
	return &exitError{code: code}
}

// codeOf returns the exit code and the line to print, "" for none. An error
// without a code comes from the parser of the command line.
func codeOf(err error) (code int, line string) {
	if err == nil {
		return harness.ExitClean, ""
	}
	var e *exitError
	switch {
	case !errors.As(err, &e):
		return harness.ExitUsage, err.Error()
	case e.err == nil:
		return e.code, ""
	}
	return e.code, e.err.Error()
}

// exitInterrupted ends a command that a signal stopped before it had results.
func exitInterrupted(while string) error {
	return &exitError{harness.ExitInterrupted, fmt.Errorf("interrupted while %s", while)}
}
